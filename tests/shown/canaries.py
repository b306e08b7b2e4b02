"""Rows that nobody could write by chance, what looks for them, and what walks the objects that may hold them."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import pprint
import struct
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from tests.workbooks import workbook

from leeward.errors import NoiseError

PERSON, PLACE, OTHER = "canary-person-7f3a", "canary-place-19ce", "canary-other-e02b"
AT = pd.Timestamp("2031-07-19T13:37:11")
NUMBER = 48151623
LATITUDE, LONGITUDE = 35.6543219, 139.7654321

TEXTS = (PERSON, PLACE, OTHER, "13:37:11", str(NUMBER), "35.65432", "139.76543", str(int(AT.timestamp())))
"""What the canaries look like in print; times without their date, coordinates without their last digits."""

BYTES = (
    *(text.encode(code) for text in TEXTS for code in ("utf-8", "utf-16-le")),
    *(struct.pack(form, NUMBER) for form in ("<q", "<i", ">q", ">i", "<d", ">d")),
    *(struct.pack(form, degrees) for form in ("<d", ">d") for degrees in (LATITUDE, LONGITUDE)),
    *(struct.pack("<q", int(AT.timestamp()) * 10**scale) for scale in (0, 3, 6, 9)),
)
"""What they look like in memory, in files and in pickles."""


def visits(n: int = 40) -> pd.DataFrame:
    """People at two listed places and at one that is not; every value of every column but the listed places is a canary."""
    return pd.DataFrame(
        {
            "person": [f"{PERSON}-{i}" for i in range(n)],
            "place": ["market", "pool", PLACE, "market"] * (n // 4),
            "at": [AT + pd.Timedelta(microseconds=i) for i in range(n)],
            "number": [NUMBER] * n,
            "lat": [LATITUDE] * n,
            "lon": [LONGITUDE] * n,
            "other": [OTHER] * n,
        }
    )


def listed() -> pd.DataFrame:
    """The public list, with a column of its own that is nobody's business."""
    return pd.DataFrame({"place": ["library", "market", "pool"], "name": ["Library", "Market", "Pool"], "note": OTHER})


def found_in(text: str | bytes) -> list[str]:
    """The canaries in what was printed, or in the bytes of a file or pickle."""
    if isinstance(text, str):
        return [canary for canary in TEXTS if canary in text]
    return [repr(canary) for canary in BYTES if canary in text]


def printed(value: Any) -> str:
    """Everything that a session, a notebook or a log prints of a value without being asked for its insides."""
    said = [repr(value), str(value), f"{value}", pprint.pformat(value), pprint.saferepr([value]), repr({"it": value})]
    special = [name for name in dir(type(value)) if name.startswith(("_repr_", "_ipython_"))]
    said += [repr(getattr(value, name)()) for name in special if callable(getattr(value, name))]
    if hasattr(value, "__dict__"):
        said.append(pprint.pformat(vars(value)))
    if dataclasses.is_dataclass(value) and not isinstance(value, type) and not hasattr(type(value), "__slots__"):
        try:
            said.append(pprint.pformat(dataclasses.asdict(value)))
        except (TypeError, NoiseError) as error:  # it holds something that cannot be copied, such as a source of noise
            said.append(everything_said(error))
    return "\n".join(said)


def carried(value: Any) -> bytes:
    """What a pickle of a value, of its copy and of its deep copy holds; a refusal counts by its words."""
    held = b""
    for make in (lambda: value, lambda: copy.copy(value), lambda: copy.deepcopy(value)):
        try:
            held += pickle.dumps(make())
        except Exception as error:
            held += everything_said(error).encode()
    return held


def everything_said(error: BaseException) -> str:
    """The text of an exception with all that hangs on it, as a log or a debugger would print it."""
    said, seen = [], list[BaseException | None]([error])
    while seen:
        one = seen.pop()
        if one is None:
            continue
        said += [str(one), repr(one), repr(one.args), *getattr(one, "__notes__", ())]
        said += [repr(value) for value in vars(one).values()]
        seen += [one.__cause__, one.__context__]
    said += traceback.format_exception(error, chain=True)
    return "\n".join(said)


def reachable(start: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every object of ours that a session's names lead to, once, with the way to it."""
    todo, seen = [*start.items()], set[int]()
    while todo:
        way, value = todo.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if type(value).__module__.partition(".")[0] == "leeward" and not isinstance(value, type):
            yield way, value
            names = [*getattr(value, "__dict__", {}), *_slots(type(value))]
            todo += [(f"{way}.{name}", getattr(value, name)) for name in names if hasattr(value, name)]
        elif isinstance(value, Mapping):
            todo += [(f"{way}[{key!r}]", one) for key, one in value.items()]
        elif isinstance(value, list | tuple | set | frozenset):
            todo += [(f"{way}[{at}]", one) for at, one in enumerate(value)]


def _slots(kind: type) -> list[str]:
    return [name for base in kind.__mro__ for name in getattr(base, "__slots__", ()) if not name.startswith("__")]


def files_with_canaries(folder: Path, but: set[Path]) -> dict[str, list[str]]:
    """The files in a folder, other than some, that hold a canary."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path not in but and (canaries := found_in(path.read_bytes())):
            found[str(path.relative_to(folder))] = canaries
    return found


def sources(folder: Path) -> dict[str, Any]:
    """The same visits in every form that a table may have."""
    import duckdb
    import ibis
    import polars

    frame = visits()
    frame.to_parquet(folder / "visits.parquet")
    frame.to_csv(folder / "visits.csv", index=False, date_format="%Y-%m-%dT%H:%M:%S.%f")
    with duckdb.connect(str(folder / "visits.duckdb")) as held:
        held.execute("CREATE TABLE visits AS SELECT * FROM read_parquet(?)", [str(folder / "visits.parquet")])
    workbook(folder / "visits.xlsx", {"Visits": [list(frame.columns), *(list(row.values()) for row in _rows(frame))]})
    (folder / "visits.geojson").write_text(geojson(frame), "utf-8")
    ibis.options.interactive = True  # as in a notebook: the repr of a table is then its rows
    return {
        "a path": folder / "visits.parquet",
        "a glob": str(folder / "visits.parque*"),
        "a list of paths": [str(folder / "visits.parquet")],
        "CSV": str(folder / "visits.csv"),
        "a workbook": str(folder / "visits.xlsx"),
        "a file of points": str(folder / "visits.geojson"),
        "a DuckDB file": str(folder / "visits.duckdb"),
        "a DataFrame": frame,
        "an Arrow table": pa.Table.from_pandas(frame, preserve_index=False),
        "a Polars frame": polars.from_pandas(frame),
        "an Ibis table": ibis.memtable(frame),
    }


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{**row, "at": row["at"].to_pydatetime()} for row in frame.to_dict("records")]


def geojson(frame: pd.DataFrame) -> str:
    """The visits as features."""
    features = [
        {
            "type": "Feature",
            "geometry": {"type": "Point", "coordinates": [row["lon"], row["lat"]]},
            "properties": {**{name: row[name] for name in ("person", "place", "number")}, "at": row["at"].isoformat()},
        }
        for row in _rows(frame)
    ]
    return json.dumps({"type": "FeatureCollection", "features": features})


def readings() -> pd.DataFrame:
    """Readings of meters with canaries for names, values and what else there is."""
    hours = pd.date_range("2031-07-19", periods=24, freq="h")
    return pd.DataFrame(
        {"meter": PERSON, "time": hours.as_unit("us"), "kw": np.full(24, float(NUMBER)), "other": OTHER}
    )
