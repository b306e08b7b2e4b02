"""Tables of random types, values, chunks and files: their digest and marks are those of an oracle that walks over the rows.

The oracle is written from the definition in words and shares no code with the engine: one row, one value at a time.
"""

from __future__ import annotations

import hashlib
import hmac
import itertools
import json
import math
import random
import re
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from leeward.engine._content import recognised
from leeward.engine._engines import bind_private
from leeward.query import Source, records

KEY = bytes(range(7, 39))


def derived(purpose: str) -> bytes:
    return hmac.new(KEY, f"leeward content 3: {purpose}".encode(), "sha256").digest()[:16]


ROWS, TEXTS, VALUES = (derived(purpose) for purpose in ("rows", "texts", "values"))


def mac(key: bytes, message: bytes) -> bytes:
    message += bytes(-len(message) % 16)
    cipher = Cipher(algorithms.AES(key), modes.CBC(bytes(16))).encryptor()
    return (cipher.update(message) + cipher.finalize())[-16:]


def whole(number: int) -> bytes:
    return (number % (1 << 64)).to_bytes(8, "big")


def real(number: float) -> bytes:
    return bytes.fromhex("7ff8000000000000") if math.isnan(number) else struct.pack(">d", number)


def text(value: str) -> bytes:
    raw = value.encode()
    return mac(TEXTS, len(raw).to_bytes(8, "big") + bytes(8) + raw)


def in_a_row(kind: str, value: Any) -> bytes:
    """What a value adds to the words of its row."""
    if kind == "text":
        return bytes(16) if value is None else text(value)
    if value is None:
        return bytes(8)
    return real(value) if kind == "real" else whole(int(value))


def by_itself(kind: str, value: Any) -> bytes:
    """One value, whatever type holds it: a whole number, a short decimal and a text of one are the same."""
    if value is None:
        return bytes(16)
    if kind == "flag":
        return text("true" if value else "false")
    if kind in ("whole", "time"):
        return whole(1) + whole(value) if abs(value) < 10**18 else text(str(value))
    if kind == "real":
        is_whole = math.isfinite(value) and value == math.floor(value) and abs(value) < 2**53
        return whole(1) + whole(int(value)) if is_whole else whole(2) + real(value)
    value = re.sub(r"\A([+-]?[0-9]+)\.0*\Z", r"\1", value, flags=re.ASCII)
    value = re.sub(r"\A([+-]?[0-9]+\.[0-9]*[1-9])0+\Z", r"\1", value, flags=re.ASCII)
    if re.fullmatch(r"0|-?[1-9][0-9]{0,17}", value, re.ASCII):
        return whole(1) + whole(int(value))
    if re.fullmatch(r"-?(0|[1-9][0-9]{0,6})\.[0-9]{0,6}[1-9]", value, re.ASCII):
        return whole(2) + real(float(value))
    return text(value)


def summed(hashes: Sequence[bytes]) -> list[int]:
    return [sum(int.from_bytes(each[half], "big") for each in hashes) for half in (slice(8), slice(8, 16))]


def slowly(parts: list[Any]) -> bytes:
    return hashlib.scrypt(json.dumps(parts).encode(), salt=KEY, n=8192, r=8, p=1, dklen=32)


def expected(
    names: list[str], kinds: list[str], types: list[str], columns: list[list[Any]], times: Sequence[str]
) -> tuple[bytes, dict[str, str]]:
    rows = [*zip(*columns, strict=True)]
    hashes = []
    for row in rows:
        flags = b"".join(
            whole(sum(1 << (2 * at) for at, value in enumerate(row[first : first + 16]) if value is None))
            for first in range(0, len(names), 16)
        )
        hashes.append(mac(ROWS, flags + b"".join(map(in_a_row, kinds, row))))
    marks = {}
    for name, kind, column in zip(names, kinds, columns, strict=True):
        there = [value for value in column if value is not None]
        if name in times:
            told = [len(there), sum(there)]
        else:
            told = summed([mac(VALUES, by_itself(kind, value)) for value in column])
        marks[name] = slowly(["values", len(rows), *told]).hex()[:32]
    return slowly(["rows", names, types, len(rows), *summed(hashes)]), marks


LETTERS = ["a", "é", "𐍈", "\u200b", "\n", "\t", '"', "'", "\\", "%", "$", "7", ".", "-", "0", "e", "́", "\u2028", " "]
ODD_TEXTS = [
    "0", "-0", "+0", "00", "0.0", "-0.0", ".", "-", "+", "1.", "1.0", "01.0", "1e5", "NaN", "inf", "true", "1.10",
    "-1.50", "999999999999999999", "1000000000000000000", "-999999999999999999",
    "0.1234567", "0.12345678", "9999999.9999999", "10000000.1", "-0.0000001", "-0.10",
    "1.0.0", "+1.50", "NULL", "\\N", "٣", "1_000",
]  # fmt: skip
ODD_REALS = [0.0, -0.0, math.nan, math.inf, -math.inf, 5e-324, 1.7976931348623157e308, 2.0**53, 1 - 2.0**53, 0.1, 1e16]


def some_text(chance: random.Random) -> str:
    match chance.randrange(4):
        case 0:
            return chance.choice([*ODD_TEXTS, "", "1\n", "1 ", "1.0\x0b"])
        case 1:
            return "x" * chance.choice([15, 16, 17, 31, 32, 33, 495, 511, 512, 513])
        case 2:
            return f"{chance.uniform(-(10 ** chance.randrange(8)), 100):.{chance.randrange(9)}f}"
        case _:
            return "".join(chance.choice(LETTERS) for _ in range(chance.randrange(40)))


def some_whole(low: int, high: int) -> Callable[[random.Random], int]:
    return lambda chance: chance.choice([low, high, 0, 1, chance.randrange(low, high + 1), min(high, 10**18)])


def some_decimal(digits: int, behind: int) -> Callable[[random.Random], Decimal]:
    return lambda chance: Decimal(chance.randrange(1 - 10**digits, 10**digits)).scaleb(-behind)


def some_time(chance: random.Random) -> int:
    return chance.choice([0, -1, -62135596800000000, 253402300799999999, chance.randrange(2 * 10**15)])


@dataclass(frozen=True)
class Kind:
    """A type of column: its class in digests, its values, and what of them the digest is about."""

    type: pa.DataType
    of: str
    draw: Callable[[random.Random], Any]
    told: Callable[[Any], Any] = lambda value: value


KINDS = [
    Kind(pa.bool_(), "flag", lambda chance: chance.random() < 0.5),
    *(
        Kind(of, "whole", some_whole(low, high))
        for of, low, high in (
            (pa.int8(), -128, 127),
            (pa.int32(), -(2**31), 2**31 - 1),
            (pa.int64(), -(2**63), 2**63 - 1),
            (pa.uint64(), 0, 2**64 - 1),
        )
    ),
    Kind(pa.float64(), "real", lambda chance: chance.choice([*ODD_REALS, chance.uniform(-1, 1) * 1e9])),
    *(
        Kind(
            pa.decimal128(digits, behind),
            "text",
            some_decimal(digits, behind),
            lambda value, behind=behind: format(value, f".{behind}f"),
        )
        for digits, behind in ((9, 2), (18, 0), (20, 10), (5, 4))
    ),
    *(Kind(of, "text", some_text) for of in (pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string()))),
    Kind(pa.date32(), "time", lambda chance: chance.randrange(-719162, 2932896), lambda days: days * 86400 * 10**6),
    Kind(pa.timestamp("us"), "time", some_time),
    Kind(pa.timestamp("us", "UTC"), "time", some_time),
    Kind(pa.timestamp("ms"), "time", lambda chance: some_time(chance) // 1000, lambda value: value * 1000),
]  # fmt: skip


def column(kind: Kind, values: list[Any]) -> pa.Array:
    if not pa.types.is_temporal(kind.type):
        return pa.array(values, kind.type)
    return pa.array(values, pa.int32() if kind.type == pa.date32() else pa.int64()).cast(kind.type)


def in_chunks(chance: random.Random, array: pa.Array) -> pa.ChunkedArray:
    cuts = [0, *sorted(chance.randrange(len(array) + 1) for _ in range(chance.randrange(4))), len(array)]
    return pa.chunked_array([array.slice(a, b - a) for a, b in itertools.pairwise(cuts)], array.type)


def ways(chance: random.Random, table: pa.Table, folder: Path) -> Iterator[tuple[Any, str | None]]:
    yield table, None
    yield table.take(pa.array(chance.sample(range(table.num_rows), table.num_rows), pa.int64())), None
    pq.write_table(
        table,
        folder / "t.parquet",
        row_group_size=chance.choice([1, 7, 1000]),
        use_dictionary=chance.choice([True, False]),
        compression=chance.choice(["none", "snappy", "zstd"]),
        data_page_version=chance.choice(["1.0", "2.0"]),
    )
    yield str(folder / "t.parquet"), None
    with duckdb.connect(folder / "t.duckdb") as made:
        made.register("held", table)
        made.execute("CREATE TABLE t AS SELECT * FROM held")
    yield str(folder / "t.duckdb"), "t"


def agrees(seed: int, folder: Path) -> None:
    chance = random.Random(seed)
    folder.mkdir()
    kinds = [chance.choice(KINDS) for _ in range(chance.choice([1, 2, 3, 5, 17, 33]))]
    size, names = chance.choice([0, 1, 2, 5, 60]), [f"c{i}" for i in range(len(kinds))]
    drawn = []
    for kind in kinds:
        pool = [kind.draw(chance) for _ in range(chance.choice([1, 3, max(1, size)]))]
        missing = chance.choice([0, 0.1, 0.5, 1])
        drawn.append([None if chance.random() < missing else chance.choice(pool) for _ in range(size)])
    arrays = [in_chunks(chance, column(kind, values)) for kind, values in zip(kinds, drawn, strict=True)]
    told = [[None if v is None else kind.told(v) for v in values] for kind, values in zip(kinds, drawn, strict=True)]
    times = [name for name, kind in zip(names, kinds, strict=True) if kind.of == "time" and chance.random() < 0.5]
    table = pa.table(arrays, names=names)
    for source, named in ways(chance, table, folder):
        asked = records(Source(source, table=named), person="-")
        with bind_private(asked, {f"column {name}": name for name in names}) as bound:
            found, types = recognised(bound, KEY, tuple(times)), [*map(str, bound.rows.schema().types)]
        wanted = expected(names, [kind.of for kind in kinds], types, told, times)
        assert (found.digest, found.marks) == wanted, (seed, type(source), [str(kind.type) for kind in kinds])


@pytest.mark.parametrize("seed", range(8))
def test_a_random_table_has_the_digest_of_the_definition(seed: int, tmp_path: Path) -> None:
    agrees(seed, tmp_path / "held")


@pytest.mark.long
@pytest.mark.sweep
def test_many_random_tables_have_the_digest_of_the_definition(tmp_path: Path) -> None:
    for seed in range(100, 130):
        agrees(seed, tmp_path / str(seed))


def test_large_tables_in_pieces_have_one_digest(tmp_path: Path) -> None:
    """Row groups, files and chunks of thousands of rows; and one changed cell is noticed."""
    size = 9_001
    chance = np.random.default_rng(3)
    table = pa.table(
        {"n": chance.integers(0, 50, size), "x": chance.random(size), "s": [f"é{i % 97}" for i in range(size)]}
    )
    pq.write_table(table, tmp_path / "whole.parquet", row_group_size=977)
    for number in range(4):
        pq.write_table(table.slice(number * 2500, 2500), tmp_path / f"part-{number}.parquet")

    def digest(source: Any) -> bytes:
        with bind_private(records(Source(source), person="-"), {name: name for name in table.column_names}) as bound:
            return recognised(bound, KEY, ()).digest

    wanted = digest(table)
    assert digest(str(tmp_path / "whole.parquet")) == wanted
    assert digest(str(tmp_path / "part-*.parquet")) == wanted
    other = table.set_column(0, "n", pa.concat_arrays([table["n"].combine_chunks()[:-1], pa.array([99])]))
    assert digest(other) != wanted
