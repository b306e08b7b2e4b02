"""Small tables of every type that has one meaning everywhere, with questions about them, drawn at random from a seed.

A cell is written in one way and means something (`tests.oracle.asked`); mostly both are one. Everything awkward is common
here: missing and empty values, NaN and both zeros, letters that look alike, moments at the ends of the window and where
clocks jump, numbers half-way between steps and at the ends of their type.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from tests.asking import statistic_by
from tests.oracle.asked import UNREADABLE
from tests.sources import describe_by

import leeward as lw
from leeward.query import Spark
from leeward.query._source import Engine

F = Fraction
NAN, INF = math.nan, math.inf
E_ACUTE = ("\u00e9", "e\u0301")  # one letter, and two that look the same
FAR = 2**62


@dataclass(frozen=True)
class Kind:
    """A type of a column, as Arrow and as PostgreSQL call it; None where one has none."""

    arrow: pa.DataType
    sql: str | None


KINDS: Mapping[str, Kind] = {
    "bool": Kind(pa.bool_(), "boolean"),
    "int2": Kind(pa.int16(), "smallint"),
    "int4": Kind(pa.int32(), "integer"),
    "int8": Kind(pa.int64(), "bigint"),
    "uint8": Kind(pa.uint64(), None),
    "float4": Kind(pa.float32(), "real"),
    "float8": Kind(pa.float64(), "double precision"),
    "decimal": Kind(pa.decimal128(9, 2), "numeric(9, 2)"),
    "share": Kind(pa.decimal128(4, 4), "numeric(4, 4)"),
    "text": Kind(pa.string(), "text"),
    "varchar": Kind(pa.string(), "varchar(40)"),
    "date": Kind(pa.date32(), "date"),
    "readings": Kind(pa.timestamp("us"), "timestamp"),
    "nanoseconds": Kind(pa.timestamp("ns"), None),
    "instants": Kind(pa.timestamp("us", "UTC"), "timestamptz"),
}


@dataclass(frozen=True)
class Column:
    """A column: its type, what is written in its cells, and what these mean."""

    kind: str
    written: Sequence[Any]
    meant: Sequence[Any]

    def as_texts(self, role: str) -> Column:
        """The same as texts, as a file of texts has them; what is not a number or a time then means its text."""
        written = [None if (text := as_text(value)) == "" else text for value in self.written]
        if role == "time":
            return Column("text", written, [None if w is None else m for w, m in zip(written, self.meant, strict=True)])
        return Column("text", written, written)


def as_text(value: Any) -> str | None:
    """A value as a file of texts has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return value.isoformat()
    return None if value is None else repr(value) if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Case:
    """A table, and a question about it in the words of the oracle.

    Attributes:
        columns: by role.
        ask: see `tests.oracle.asked`; beside it ``by``, how many columns the group has, and ``unit``, of whole numbers that
            are times.
        key: the type of the public list of places.
    """

    columns: Mapping[str, Column]
    ask: Mapping[str, Any]
    key: str = "text"
    label: str = field(default="", compare=False)

    @property
    def size(self) -> int:
        """How many rows the table has."""
        return len(next(iter(self.columns.values())).written)

    def rows(self) -> list[dict[str, Any]]:
        """The rows, as the oracle reads them."""
        rows = [{role: column.meant[i] for role, column in self.columns.items()} for i in range(self.size)]
        if len(self.ask.get("by") or ()) > 1:
            rows = [{**row, "group": tuple(row[name] for name in self.ask["by"])} for row in rows]
        elif self.ask.get("by"):
            rows = [{**row, "group": row[self.ask["by"][0]]} for row in rows]
        return rows

    def table(self) -> pa.Table:
        """The table in memory."""
        return pa.table({role: pa.array(c.written, KINDS[c.kind].arrow) for role, c in self.columns.items()})

    def as_texts(self) -> Case:
        """The case as a file of texts has it: all keys, filters and groups are texts too."""
        ask = dict(self.ask)
        texts: Callable[[Any], Any] = lambda values: [as_text(value) for value in values]  # noqa: E731
        ask["keep"] = {column: texts(allowed) for column, allowed in ask["keep"].items()}
        if "places" in ask:
            ask["places"] = texts(ask["places"])
        if ask.get("groups"):
            ask["groups"] = [tuple(texts(g)) if isinstance(g, tuple) else as_text(g) for g in ask["groups"]]
            ask["lists"] = [texts(listed) for listed in ask["lists"]]
            ask["others"] = None if ask.get("others") is None else str(ask["others"])
        # texts do not say what the times of a column are: each is compared with the window by itself, or cannot be
        instants = bool(ask.get("window")) and ask["window"][0].tzinfo is not None and ask.get("zone") is None
        if ask.get("clock") in ("readings", "instants") or (ask.get("clock") == "dates" and instants):
            ask["clock"] = "texts"
        columns = {role: column.as_texts(role) for role, column in self.columns.items()}
        return replace(self, columns=columns, ask=ask, key="text")

    def question(self, source: Any, table: str | None = None, engine: Engine | Spark = "duckdb") -> Any:
        """The question about a source that holds the table."""
        ask = self.ask
        start, end = ask["window"] or (None, None)
        when = {"time": "time", "timezone": ask.get("zone"), "time_unit": ask.get("unit")} if ask["window"] else {}
        when |= {"engine": engine}
        if "places" in ask:
            keys = pa.table({"key": pa.array(ask["places"], KINDS[self.key].arrow)})
            seen = describe_by(lw.visits, source, person="person", place="place", keep=ask["keep"], table=table, **when)
            bound = {"places_per_person": ask["k"], "if_more": ask["if_more"]}
            return lw.count_visitors(seen, lw.places(keys, place="key"), start=start, end=end, **bound)
        combine = ask.get("combine")
        person = {"person": "person" if combine else "each row", "combine": combine or "refuse"}
        held = describe_by(lw.records, source, **person, keep=ask["keep"] or None, table=table, **when)
        asked = {name: ask[name] for name in ("p", "people", "grid", "others") if ask.get(name) is not None}
        if "levels" in ask:
            asked |= {"levels": ask["levels"]}
        elif "lower" in ask:
            asked |= {name: ask[name] for name in ("lower", "upper", "step")}
        if ask.get("by"):
            asked |= {"by": dict(zip(ask["by"], ask["lists"], strict=True))}
            if len(ask["by"]) == 1:
                asked |= {"by": ask["by"][0], "groups": ask["lists"][0]}
        column = "number" if "lower" in ask else None
        return statistic_by(held, ask["kind"], column=column, start=start, end=end, **asked)


# ---- what may stand in a cell

PERSONS: Mapping[str, Sequence[Any]] = {
    "int8": [1, 2, 3, -1, FAR, 0],
    "int2": [1, 2, 3, -32768],
    "uint8": [1, 2, 3, 2**64 - 1],
    "text": ["ann", "Ann", "ann ", "7", "07", "7.0", "", *E_ACUTE, "straße", "strasse"],
    "varchar": ["ann", "ANN", "b", "c", "'", '"', "\\"],
    "float8": [0.0, -0.0, 1.5, NAN, 3.0, 0.1 + 0.2, 0.3],
    "float4": [0.0, -0.0, 1.5, NAN, 0.25, 3.0],
    "decimal": [Decimal("1.50"), Decimal("1.51"), Decimal("-1.00")],
    "date": [date(1500, 1, 1), date(2024, 3, 31), date(2024, 4, 1)],
    "bool": [True, False],
    "instants": [datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, 0, 0, 0, 1, tzinfo=UTC)],
}
PLACES: Mapping[str, Sequence[Any]] = {
    "text": ["p", "P", "q", "p ", " p", "12", "12\n", *E_ACUTE, "", "zz"],
    "varchar": ["p", "q", "r"],
    "int8": [1, 2, 3, -1, FAR],
    "int4": [1, 2, 3, -1],
    "float8": [0.5, 0.0, -0.0, 1.0, NAN, 0.1 + 0.2, 0.3],
}
STATES: Mapping[str, Sequence[Any]] = {"text": ["in", "out", "In", "in "], "int4": [0, 1, 2], "bool": [True, False]}
GROUPS: Mapping[str, Sequence[Any]] = {
    "text": ["a", "b", "A", "c", *E_ACUTE],
    "int8": [1, 2, -3, FAR],
    "int2": [1, 2, -3, 4],
}
FLOATS = (-INF, -1e300, -4.0, -0.75, -0.5, -0.0, 0.15, 0.29, 0.3, 0.35, 1.005, 1.5, 2.5, 2.7, 3.7, 1e300, INF, NAN)
NUMBERS: Mapping[str, Sequence[Any]] = {
    "int2": [-32768, -7, -1, 0, 1, 2, 3, 4, 5, 9, 32767],
    "int4": [-(2**31), -7, -1, 0, 1, 2, 3, 4, 5, 9, 2**31 - 1],
    "int8": [-(2**63) + 1, -FAR, -7, -1, 0, 1, 2, 3, 4, 5, 9, FAR, 2**63 - 1],
    "uint8": [0, 1, 2, 3, 4, 9, 2**64 - 1],
    "float8": FLOATS,
    "float4": [np.float32(x) for x in (-INF, -0.75, -0.5, 0.15, 0.29, 0.3, 0.7, 1.25, 2.5, 3.7, 16777216.0, INF, NAN)],
    "decimal": [Decimal(x) for x in ("-9.13", "-0.50", "0.00", "0.15", "0.29", "1.50", "2.50", "2.67", "9.99")],
    "text": ["-3", "", "0.15", "1.005", "2.5", "1e1", "many", "inf", "-inf", "nan", "1d", "0x1p3", "0x10", "1,5", ".5"],
}
BOUNDS = [(0, 4, 1), (-2, 4, 2), ("1/3", "7/3", "1/2"), ("-1/2", "5/2", "1/4"), (0, "3", "1/10"), (1, 4, "3/2")]

ZONE = "Europe/Berlin"
READINGS = [
    datetime(2024, 3, 31, 1),
    datetime(2024, 3, 31, 2, 30),
    datetime(2024, 3, 31, 3),
    datetime(2024, 3, 31, 3, 30),
]
READINGS += [datetime(2024, 10, 27, 2, 30), datetime(2024, 10, 27, 3)]
TICK = timedelta(microseconds=1)
ODD_TEXTS = [
    "19:03",
    "epoch",
    "now",
    "2024-02-30",
    "2024-03-31T25:00",
    "31.3.2024",
    "1711846800",
    "2024-03-31 02:30 UTC",
]


def meant(kind: str, value: Any) -> Any:
    """What a number means that is not what it is written as: a float of 32 bits is the decimal that it prints as."""
    return float(str(value)) if isinstance(value, np.float32) else value


def column(draw: random.Random, menu: Mapping[str, Sequence[Any]], size: int, *, few: bool = False) -> Column:
    """A column of one of the types of a menu, perhaps of few neighbouring values; a tenth is missing."""
    kind = draw.choice([*sorted(menu), *["text"] * (len(menu) // 3)])
    values, first = list(menu[kind]), draw.randrange(len(menu[kind]))
    values = (values + values)[first : first + 3] if few else values
    written = [None if draw.random() < 0.1 else draw.choice(values) for _ in range(size)]
    return Column(kind, written, [meant(kind, value) for value in written])


def met(draw: random.Random, column: Column, menu: Mapping[str, Sequence[Any]]) -> list[Any]:
    """A public list, most of which occurs in a column."""
    listed = [v for v in dict.fromkeys([*column.written, *menu[column.kind]]) if v is not None and v != "" and v == v]
    return draw.sample(listed[:4], draw.choice([2, 3, 3]))


def times(draw: random.Random, size: int) -> tuple[Column, dict[str, Any]]:
    """A column of times, and the window, clock, zone and unit of a question about it."""
    first, last = sorted(draw.sample(READINGS, 2))
    if draw.random() < 0.3:
        first, last = first.replace(tzinfo=UTC), last.replace(tzinfo=UTC)
    near = [end + step * TICK for end in (first, last) for step in (-1, 0, 1)]
    near += [first + (last - first) * part / 5 for part in (1, 2, 2, 3, 3, 4)] + [
        first - timedelta(days=4),
        last + timedelta(days=4),
    ]
    zone = draw.choice([None, ZONE, "Asia/Tokyo"])
    kind = draw.choice(["readings", "readings", "instants", "text", "text", "date", "int8", "nanoseconds"])
    said: dict[str, Any] = {"window": (first, last), "zone": zone, "clock": kind}
    chosen = [None if draw.random() < 0.1 else draw.choice(near) for _ in range(size)]
    plain = [None if t is None else t.replace(tzinfo=None) for t in chosen]
    aware = [None if t is None else t.replace(tzinfo=UTC) for t in chosen]
    if kind == "instants":
        return Column(kind, aware, aware), said
    if kind in ("readings", "nanoseconds"):
        return Column(kind, plain, plain), said | {"clock": "readings"}
    if kind == "date":
        days = [None if t is None else t.date() for t in chosen]
        starts = [None if d is None else datetime(d.year, d.month, d.day) for d in days]
        return Column(kind, days, starts), said | {"clock": "dates"}
    if kind == "int8":
        unit = draw.choice(["s", "ms"])
        per = {"s": 1, "ms": 1000}[unit]
        epoch = datetime(1970, 1, 1, tzinfo=UTC)
        whole = [None if t is None else (t - epoch) // timedelta(microseconds=10**6 // per) for t in aware]
        back = [None if n is None else epoch + timedelta(microseconds=n * (10**6 // per)) for n in whole]
        return Column("int8", whole, back), said | {"clock": "epochs", "unit": unit}
    texts, means = list[Any](), list[Any]()
    mixed = draw.random() < 0.2
    for time in chosen:
        if draw.random() < 0.1:
            texts.append(draw.choice(ODD_TEXTS))
            means.append(UNREADABLE)
        elif time is None:
            texts.append(None)
            means.append(None)
        elif (first.tzinfo is not None) ^ (mixed and draw.random() < 0.3):
            there = time.replace(tzinfo=UTC).astimezone(timezone(timedelta(hours=draw.choice([0, 9, -3]))))
            texts.append(there.isoformat(sep=draw.choice("T ")))
            means.append(there)
        else:
            texts.append(time.replace(tzinfo=None).isoformat(sep=draw.choice("T ")))
            means.append(time.replace(tzinfo=None))
    return Column("text", texts, means), said | {"clock": "texts"}


def drawn(seed: int) -> Case:
    """A case."""
    draw = random.Random(f"one meaning {seed}")
    size = draw.choice([0, 4, 12, 30, 30])
    return (visits if draw.random() < 0.5 else statistic)(draw, size, f"seed {seed}")


def keep(draw: random.Random, size: int) -> tuple[dict[str, Column], dict[str, Any]]:
    """A column to be filtered by, or none, and the filter."""
    if draw.random() < 0.5:
        return {}, {}
    state = column(draw, STATES, size)
    return {"state": state}, {"state": draw.sample(list(STATES[state.kind]), draw.choice([1, 2]))}


def visits(draw: random.Random, size: int, label: str) -> Case:
    """A question where people are."""
    place = column(draw, PLACES, size, few=True)
    family = "text" if place.kind == "varchar" else "int8" if place.kind == "int4" else place.kind
    time, said = times(draw, size)
    states, kept = keep(draw, size)
    ask = {"places": met(draw, place, PLACES), "keep": kept, **said}
    k = draw.choice([None, 1, 1, 2, 3])
    ask |= {"k": k, "if_more": "refuse" if k is None else draw.choice(["latest", "earliest", "refuse"])}
    columns = {"person": column(draw, PERSONS, size, few=True), "place": place, "time": time, **states}
    return Case(columns, ask, family, label)


def statistic(draw: random.Random, size: int, label: str) -> Case:
    """A question about a number, or about groups."""
    kinds = ["sum", "mean", "variance", "median", "min", "max", "percentile", "histogram", "above", "groups"]
    kind = draw.choice(kinds)
    columns: dict[str, Column] = {"person": column(draw, PERSONS, size, few=True)}
    states, kept = keep(draw, size)
    ask: dict[str, Any] = {"kind": "histogram" if kind == "groups" else kind, "keep": kept, "window": None}
    if kind == "above":
        levels = sorted(draw.sample([F(0), F(1, 4), F(1, 2), F(1), F(3, 2), F(2), F(5, 2)], 2))
        ask |= {"levels": levels, "lower": levels[0] - 1, "upper": levels[-1] + 1, "step": F(1, 10**9)}
    elif kind != "groups":
        ask |= dict(zip(("lower", "upper", "step"), map(F, draw.choice(BOUNDS)), strict=True))
    if kind != "groups":
        columns["number"] = column(draw, NUMBERS, size)
    if kind == "percentile":
        ask["p"] = F(draw.choice(["0", "25", "33.3", "90", "99.9"]))
    if kind == "mean":
        ask["grid"] = draw.choice([ask["step"], F(1, 2), F(1, 10)])
    if draw.random() < 0.7:
        ask["combine"] = draw.choice(["refuse", "sum", "min", "max"])
        if ask["combine"] == "sum" and (ask["kind"] in ("histogram", "above") or ask["lower"] % ask["step"]):
            ask["combine"] = "max"
    if kind == "groups" or draw.random() < 0.5:
        names = draw.choice([["g"], ["g"], ["g", "h"]])
        columns |= {name: column(draw, GROUPS, size, few=True) for name in names}
        lists = [met(draw, columns[name], GROUPS) for name in names]
        groups = lists[0] if len(names) == 1 else [(x, y) for x in lists[0] for y in lists[1]]
        ask |= {"by": names, "lists": lists, "groups": groups}
        if len(names) == 1 and draw.random() < 0.3:
            ask["others"] = "else" if columns["g"].kind == "text" else 99
    if draw.random() < 0.4:
        columns["time"], said = times(draw, size)
        ask |= said
    return Case(columns | states, ask, label=label)
