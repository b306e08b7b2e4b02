"""What can be wrong with a file, in a fixed order: with its bytes, its text, the values in it, and their types."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

SECRET = "zanary-4d1f"
"""Stands where a private value stands; no message may hold it."""

HUGE = "9" * 5000


def bytes_of(good: bytes) -> Iterator[tuple[str, bytes]]:
    """A file of any kind that was cut off, mixed up, or is another one."""
    noise = random.Random(7)
    yield "empty", b""
    yield "a blank line", b"\n"
    yield "one byte", good[:1]
    yield "its first half", good[: len(good) // 2]
    yield "without its last byte", good[:-1]
    yield "without its first byte", good[1:]
    yield "twice", good + good
    yield "zeros", bytes(len(good))
    yield "noise", noise.randbytes(4096)
    yield "another program's", b"PK\x03\x04" + noise.randbytes(200)
    yield "in UTF-16", b"\xff\xfe" + SECRET.encode("utf-16-le")
    yield "no UTF-8", b"\xc3\x28" + good
    yield "the start of gzip", b"\x1f\x8b\x08\x00" + noise.randbytes(64)
    yield "the start of Parquet", b"PAR1" + noise.randbytes(64) + b"\xff\xff\xff\x7fPAR1"
    yield "the start of SQLite", b"SQLite format 3\x00" + noise.randbytes(4000)
    yield "deep in brackets", b"a = " + b"[" * 100_000
    yield "deep in braces", b'{"a":' * 100_000
    for at in range(0, len(good), max(1, len(good) // 6)):
        yield f"byte {at} of {len(good)} turned", good[:at] + bytes([good[at] ^ 0x5A]) + good[at + 1 :]


WRONG: tuple[Any, ...] = (None, True, -1, 0, 5, 2**63, 10**400, 1.5, float("nan"), "", SECRET, [], [[1]], {}, {"a": 1})
"""Values of every kind, in the place of any other one."""


def values_of(good: Any) -> Iterator[tuple[str, Any]]:
    """A document with one of its values, at any depth, replaced by one of every other kind, or left out."""
    for path in _paths(good):
        for wrong in WRONG:
            yield f"{'/'.join(map(str, path))} = {str(wrong)[:20]}", _changed(good, path, lambda _, wrong=wrong: wrong)
        if path:
            yield f"{'/'.join(map(str, path))} left out", _without(good, path)


def _paths(held: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield at
    inner = held.items() if isinstance(held, dict) else enumerate(held) if isinstance(held, list) else ()
    for key, value in inner:
        yield from _paths(value, (*at, key))


def _changed(held: Any, path: tuple[Any, ...], change: Callable[[Any], Any]) -> Any:
    if not path:
        return change(held)
    made = held.copy()
    made[path[0]] = _changed(held[path[0]], path[1:], change)
    return made


def _without(held: Any, path: tuple[Any, ...]) -> Any:
    def drop(parent: Any) -> Any:
        made = parent.copy()
        del made[path[-1]]
        return made

    return _changed(held, path[:-1], drop)


def texts_of(value: str) -> Iterator[tuple[str, str]]:
    """TOML that is none, or that holds what no spec needs, under a key that exists."""
    yield "a huge integer", f"{value} = {HUGE}"
    yield "a huge float", f"{value} = 1e{HUGE}"
    yield "a huge text", f'{value} = "{HUGE}"'
    yield "a huge fraction", f'{value} = "1/{HUGE}"'
    yield "a deep list", f"{value} = {'[' * 3000}{']' * 3000}"
    yield "deep inline tables", f"{value} = {'{a=' * 3000}1{'}' * 3000}"
    yield "a deep key", f"{value}.{'.'.join('a' * 3000)} = 1"
    yield "a date", f"{value} = 2026-02-30"
    yield "a real date", f"{value} = 2026-02-03"
    yield "a time", f"{value} = 07:32:00"
    yield "a zoned moment", f"{value} = 2026-01-01T18:00:00+25:00"
    yield "the last moment", f"{value} = 9999-12-31T23:59:59.999999"
    yield "twice", f"{value} = 1\n{value} = 2"
    yield "not a number", f"{value} = nan"
    yield "endless", f"{value} = -inf"
    yield "in hexadecimal", f"{value} = 0x{'f' * 5000}"
    yield "a NUL", f'{value} = "\\u0000"'
    yield "half a surrogate", f'{value} = "\\ud800"'
    yield "an empty key", f'"" = 1\n{value} = 1'


def csv_of(header: list[str], row: list[str]) -> Iterator[tuple[str, bytes]]:
    """CSV whose fields, quotes, header or encoding are not as they should be."""
    first, line = ",".join(header), ",".join(row)
    yield "a header alone", f"{first}\n".encode()
    yield "no header", f"{line}\n{line}\n".encode()
    yield "a short row", f"{first}\n{line}\n{SECRET}\n".encode()
    yield "a long row", f"{first}\n{line}\n{line},{SECRET}\n".encode()
    yield "an open quote", f'{first}\n{line}\n"{SECRET}{line}\n'.encode()
    yield "a quote inside", f'{first}\n{line}\n{SECRET}"x"y{line}\n'.encode()
    yield "a column twice", f"{first},{header[0]}\n{line},{SECRET}\n".encode()
    yield "a column without a name", f"{first},\n{line},{SECRET}\n".encode()
    yield "semicolons", f"{first}\n{line}\n".replace(",", ";").encode()
    yield "old line ends", f"{first}\r{line}\r{line}\r".encode()
    yield "a NUL", f"{first}\n{line}\n\x00{line}\n".encode()
    yield "a huge field", f"{first}\n{line}\n{SECRET * 30_000},{line}\n".encode()
    yield "Latin-1", f"{first}\n{line}\n".encode() + "é".encode("latin-1") + line.encode() + b"\n"
    yield "a byte order mark", f"\ufeff{first}\n{line}\n".encode()
    for at, name in enumerate(header):
        for what, wrong in FIELDS.items():
            fields = [*row[:at], wrong, *row[at + 1 :]]
            yield f"{name}: {what}", f"{first}\n{line}\n{','.join(fields)}\n".encode()


FIELDS = {
    "words": SECRET, "nothing": "", "blanks": "   ", "huge": HUGE, "not a number": "nan", "endless": "-inf",
    "another year": "300000-01-01", "no date": "2026-02-30T00:00", "a zone": "2026-01-01T18:30+25:00", "far": "1e308",
}  # fmt: skip


def parquet_of(good: pd.DataFrame, names: Iterable[str], path: Path) -> Iterator[tuple[str, Callable[[], None]]]:
    """Parquet in which some columns, one at a time, are of every type, twice there, or not there."""
    table = pa.Table.from_pandas(good, preserve_index=False)

    def write(made: pa.Table) -> Callable[[], None]:
        return lambda: pq.write_table(made, path)

    yield "no rows", write(table.slice(0, 0))
    yield "no columns", write(pa.table({}))
    for name in names:
        at = table.column_names.index(name)
        yield f"{name} left out", write(table.drop_columns([name]))
        twice = pa.Table.from_arrays([*table.columns, table[name]], names=[*table.column_names, name])
        yield f"{name} twice", write(twice)
        other = pa.Table.from_arrays(table.columns, names=[f"{n}x" if n == name else n for n in table.column_names])
        yield f"{name} renamed", write(other)
        for what, make in TYPES.items():
            array = make(len(good))
            field = pa.field(name, array.type)
            yield f"{name}: {what}", write(table.set_column(at, field, array))


def _ints(kind: Any, value: int) -> Callable[[int], Any]:
    return lambda n: pa.array([value] * n, kind)


TYPES: dict[str, Callable[[int], Any]] = {
    "lists": lambda n: pa.array([[SECRET]] * n),
    "lists of numbers": lambda n: pa.array([[1.5]] * n),
    "structs": lambda n: pa.array([{"a": SECRET}] * n),
    "maps": lambda n: pa.array([[("a", SECRET)]] * n, pa.map_(pa.string(), pa.string())),
    "nulls": pa.nulls,
    "truth values": lambda n: pa.array([True] * n),
    "bytes": lambda n: pa.array([b"\xff\xfe"] * n),
    "fixed bytes": lambda n: pa.array([b"\xff\xfe"] * n, pa.binary(2)),
    "words": lambda n: pa.array([SECRET] * n),
    "large words": lambda n: pa.array([SECRET] * n, pa.large_string()),
    "dictionaries": lambda n: pa.array([SECRET] * n).dictionary_encode(),
    "small numbers": _ints(pa.int8(), -7),
    "unsigned numbers": _ints(pa.uint64(), 2**64 - 1),
    "decimals": lambda n: pa.array(["1.5"] * n).cast(pa.decimal128(38, 30)),
    "wide decimals": lambda n: pa.array(["1.5"] * n).cast(pa.decimal256(76, 60)),
    "halves": lambda n: pa.array(np.full(n, 1.5, np.float16)),
    "no numbers": lambda n: pa.array([float("nan")] * n),
    "endless": lambda n: pa.array([float("inf")] * n),
    "huge floats": lambda n: pa.array([1e308] * n),
    "dates": _ints(pa.date32(), 20_000),
    "far dates": _ints(pa.date32(), 2**31 - 1),
    "long dates": _ints(pa.date64(), 86_400_000),
    "times of day": _ints(pa.time64("us"), 1),
    "durations": _ints(pa.duration("us"), 1),
    "seconds": _ints(pa.timestamp("s"), 2**40),
    "the first nanosecond": _ints(pa.timestamp("ns"), -(2**63) + 1),
    "a far zone": _ints(pa.timestamp("us", "Pacific/Kiritimati"), 2**62),
}  # fmt: skip


def documents(good: Any) -> Iterator[tuple[str, bytes]]:
    """JSON with one value of another kind in it."""
    for what, made in values_of(good):
        yield what, json.dumps(made).encode()
    yield "a huge integer", json.dumps(good).replace("35.65", HUGE).encode()
    yield "deep", (json.dumps(good)[:-1] + ', "deep": ' + "[" * 100_000 + "]" * 100_000 + "}").encode()
