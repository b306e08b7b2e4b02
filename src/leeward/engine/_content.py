# SPDX-License-Identifier: Apache-2.0
"""How the content of a table is recognised again: keyed digests of what it holds, whatever file, order or names it has.

Two things are to be noticed. *The content changed under its label*: the **digest** covers every row of the columns that are
read, as pairs of name and type, so that any change gives another one. *The same content has another name*: the **marks**,
one a column, cover the values of that column and how often each occurs, whatever the column is called and however a value
is stored (7, 7.0 and the text "7" are one value), so that a table whose columns were renamed, exchanged or stored in another
kind of file shares its marks. Times tell no table from another; the mark of a column that the engine knows as times or
numbers covers how many there are and their sum, so that it misses times that change and keep their sum. Where the columns
are the same ones, the digest is compared, and misses nothing.

Each row is written as one text, from which its values can be read back, and hashed with MD5 under a key; the hashes are
added up, as two sums of 64-bit halves, so that order does not matter; the sums are stretched with scrypt under the
ledger's key of 256 bits.

**What a digest is worth.** Assumption: MD5 of (key, text) is a random function to whoever changes the table, who does not
have the key. Two different tables of the same columns then have the same digest with a probability of at most 2⁻¹²⁸ (and
scrypt's 2⁻²⁵⁶). Proof: some text occurs m times in one and m' ≠ m times in the other. The sums are integers and never
wrap; so, whatever the hashes of all other texts are, at most one value of each half of its hash makes them equal, and the
halves are independent. Marks are sums of the same kind, of values in place of rows.

MD5's key has 72 bits, 12 characters, so that a usual row and the key are one block of MD5 (55 bytes); that is enough,
because nothing is kept that a guess of it could be tested on: sums are kept only as scrypt makes them under all 256 bits. It
is not meant to withstand somebody who holds the ledger's key.

All of this is fixed by public standards and by how values are written, not by a version of the engine. Before anything is
digested, the engine writes values of every kind whose text is known; where one comes out otherwise (a float with fewer
digits, say, so that two values have one text), that version of the engine is refused. What else a later version may write in
another way makes unchanged content look changed, and never the other way round.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import duckdb
import ibis
import ibis.expr.datatypes as dt

from leeward.engine._bound import Bound
from leeward.engine._builtin import epoch_ns, epoch_us
from leeward.engine._described import compiled
from leeward.errors import EngineError

FORM = "2"
"""The form of digests and marks. What is made in another cannot be compared, and needs a new version label."""

_COST: Final = 1 << 13
"""The work of one digest of content (scrypt's N): some 20 ms and 8 MiB, so that guesses about rows are dear."""

_TEXTS: Final = "leeward_texts"

_KNOWN = (
    ("float64", "0.1::DOUBLE", "0.1"),
    ("float64", "1::DOUBLE / 3", "0.3333333333333333"),
    ("float64", "0.1::DOUBLE + 0.2::DOUBLE", "0.30000000000000004"),
    ("float64", "9007199254740991::DOUBLE", "9007199254740991.0"),
    ("float64", "1.7976931348623157e308::DOUBLE", "1.7976931348623157e+308"),
    ("float64", "5e-324::DOUBLE", "5e-324"),
    ("float32", "0.1::FLOAT", "0.1"),
    ("float32", "16777215::FLOAT", "16777215.0"),
    ("int64", "-9223372036854775807::BIGINT", "-9223372036854775807"),
    ("uint64", "18446744073709551615::UBIGINT", "18446744073709551615"),
    ("decimal(38, 2)", "-123456789012345678901234567890.05::DECIMAL(38, 2)", "-123456789012345678901234567890.05"),
    ("boolean", "true", "true"),
    ("string", "' 7.0'", " 7.0"),
    ("binary", "'\\xFF\\x00a'::BLOB", "\\xFF\\x00a"),
    ("date", "DATE '1969-12-31'", "-86400000000"),
    ("time", "TIME '23:59:59.999999'", "23:59:59.999999"),
    ("timestamp(6)", "TIMESTAMP '1969-12-31 23:59:59.999999'", "-1"),
    ("timestamp(9)", "TIMESTAMP_NS '1969-12-31 23:59:59.999999999'", "-1"),
    ("timestamp('UTC', 6)", "TIMESTAMPTZ '1970-01-01 09:00:00.000001+09'", "1"),
)
"""A type, a value of it in SQL, and the text that it is digested as."""

_KNOWN_HASH = ("leeward", 0x7D601CF85EBDC453B3FC43B2AB6BFE54)
"""A text, and its MD5 hash as a number, the first byte the lowest."""


@dataclass(frozen=True)
class Content:
    """What is kept of the content of a table: it says nothing without the key, and with it each guess takes a moment.

    Attributes:
        columns: the names of the columns that are covered, in the order of their roles.
        digest: of all rows, 32 bytes.
        marks: of the values of each column, by its name; 32 hexadecimal digits each.
        telling: the names of those columns whose values tell one table from another.
        form: of digest and marks.
    """

    columns: tuple[str, ...]
    digest: bytes = field(repr=False)
    marks: dict[str, str] = field(repr=False)
    telling: tuple[str, ...]
    form: str = FORM


def recognised(bound: Bound, key: bytes, times: Sequence[str]) -> Content:
    """Return what is kept of the columns of a source, to recognise them again.

    Args:
        bound: the open source; its files must not change meanwhile.
        key: 32 secret bytes.
        times: names of the columns of times. They do not distinguish tables, because many have every hour once.

    Raises:
        EngineError: this version of the engine writes values otherwise than those before it.
    """
    _check_engine()
    rows = bound.rows
    names, kinds = list(rows.columns), rows.schema().types
    texts = {f"r{i}": _text(rows[name]) for i, name in enumerate(names)}
    values = {f"v{i}": _value(rows[name]) for i, name in enumerate(names)}
    known, said = bound.known, [str(kind) for kind in kinds]
    all_of = ("rows", key, *names, *said)
    staged: str = bound.staged(_TEXTS, rows.select(**texts, **values)).get_name()
    if all_of not in known:
        known[all_of] = bound.hash_sums(_of_row(_derived(key, "rows"), kinds), "1", staged, staged)
    whole = known[all_of]
    marks, telling = {}, []
    for i, (name, kind) in enumerate(zip(names, said, strict=True)):
        of_one = (name, key, kind, name in times)
        if of_one not in known:
            known[of_one] = (_of_times if name in times else _of_values)(bound, key, staged, i, rows[name])
        sums = known[of_one]
        marks[name] = _stretched(key, ["values", *sums[1:]]).hex()[:32]
        if sums[0] > 1 and name not in times:
            telling.append(name)
    bound.check_unchanged()
    return Content(tuple(names), _stretched(key, ["rows", names, said, *whole[1:]]), marks, tuple(telling))


def _of_row(key: str, kinds: Sequence[Any]) -> str:
    """SQL: the text of a row: its values, behind each a comma, and before one that may hold commas its length.

    A null is empty, which no value is.
    """
    of_each = []
    for i, kind in enumerate(kinds):
        if _holds_no_comma(kind):
            of_each.append(f"coalesce(r{i}, ''), ','")
        else:
            of_each.append(f"CASE WHEN r{i} IS NULL THEN '' ELSE concat(length(r{i}), ':', r{i}) END, ','")
    return f"concat('{key}', {', '.join(of_each)})"


def _holds_no_comma(kind: Any) -> bool:
    """Whether values of a type are never written with a comma, nor as an empty text."""
    number = kind.is_numeric() or kind.is_boolean()
    return bool(number or kind.is_timestamp() or kind.is_date())


def _of_value(key: bytes, value: str) -> str:
    """SQL: the text of a value of a column, or of none."""
    purpose = _derived(key, "values")
    return f"CASE WHEN {value} IS NULL THEN '{purpose}-' ELSE concat('{purpose}=', {value}) END"


def _of_values(bound: Bound, key: bytes, staged: str, i: int, column: Any) -> tuple[int, ...]:
    """Return how many values a column has, and the sums of their hashes.

    Whole numbers are grouped before they are written; of floats, two that are equal may be written in two ways.
    """
    if column.type().is_integer():
        values = column.name("k").as_table().group_by("k").aggregate(n=ibis._.count())
        staged = bound.staged(f"{_TEXTS}_{i}", values.select(v=_value(values.k), n=values.n)).get_name()
        counted = staged
    else:
        counted = f"(SELECT v{i} AS v, count(*) AS n FROM {staged} GROUP BY 1) AS counted"
    return bound.hash_sums(_of_value(key, "v"), "n", counted, staged)


def _of_times(bound: Bound, key: bytes, staged: str, i: int, column: Any) -> tuple[int, ...]:
    """Return how many rows there are, how many have a time, and the sum of the times; of texts, the sums of their hashes.

    Nearly all are different, so to hash each once would be as dear as to hash the rows.
    """
    number = _as_integer(column)
    if number is None:
        return bound.hash_sums(_of_value(key, f"v{i}"), "1", staged, staged)
    total = number.cast("decimal(28, 0)").sum().cast("string")  # as text, for no type of Arrow holds it on each engine
    rows = bound.rows
    (found,) = bound.fetch(rows.aggregate(rows=rows.count(), times=number.count(), total=total)).to_pylist()
    return int(found["rows"]), int(found["rows"]), int(found["times"]), int(found["total"] or 0)


@functools.cache
def _check_engine() -> None:
    """Have the engine write values whose text is known.

    Raises:
        EngineError: it writes one otherwise, so that two values may have one text.
    """
    probe = ibis.table({f"c{i}": kind for i, (kind, _, _) in enumerate(_KNOWN)}, name="probe")
    texts = compiled(probe.select(**{name: _text(probe[name]) for name in probe.columns}))
    given = ", ".join(f"{value} AS c{i}" for i, (_, value, _) in enumerate(_KNOWN))
    with duckdb.connect() as engine:
        written = engine.execute(f"WITH probe AS (SELECT {given}) {texts}").fetchall()[0]
        hashed = engine.execute(f"SELECT md5_number('{_KNOWN_HASH[0]}')").fetchall()[0][0]
    if written != tuple(text for _, _, text in _KNOWN) or hashed != _KNOWN_HASH[1]:
        raise EngineError(
            f"DuckDB {duckdb.__version__} writes values in another way than the versions that Leeward knows",
            "a table that changed might be taken for the one that was charged",
            "Use the version of DuckDB that Leeward was installed with",
        )


def _text(column: Any) -> Any:
    """A column as text, in which different values of its type differ; null stays null."""
    text, number = column.cast("string"), _as_integer(column)
    if number is None or column.type().is_integer():
        return text
    return number.cast("string").fill_null(text)  # dates and seconds may lie beyond microseconds


def _as_integer(column: Any) -> Any:
    """Whole numbers, or times since 1970; null where one lies beyond 64 bits. None for a column of another type."""
    kind = column.type()
    if kind.is_integer():
        return column
    if kind.is_timestamp() and (kind.scale or 0) > 6:
        return epoch_ns(column)
    if kind.is_timestamp() or kind.is_date():
        zone = kind.timezone if kind.is_timestamp() else None
        return epoch_us(column.try_cast(dt.Timestamp(timezone=zone, scale=6)))
    if kind.is_unknown() and "TIMESTAMPTZ_NS" in str(kind):  # for which Ibis has no name
        return epoch_ns(column)
    return None


def _value(column: Any) -> Any:
    """A column as text, in which one value has one form whatever its type is; null stays null."""
    kind, text = column.type(), _text(column)
    if kind.is_floating():
        # floor is an integer, and beyond 64 bits or of NaN there is none
        near = (column.abs() < 2**53).ifelse(column, 0.5)
        whole = near == near.floor()
        return whole.ifelse(whole.ifelse(column, 0).cast("int64").cast("string"), text)
    if kind.is_decimal():
        return text.re_replace(r"\.0*$|(\.\d*[1-9])0+$", r"\1")
    if kind.is_string():
        return text.re_replace(r"^([+-]?\d+)\.0*$", r"\1")
    return text


def _derived(key: bytes, purpose: str) -> str:
    """Twelve characters, 72 bits, for MD5."""
    made = hmac.new(key, f"leeward content {FORM}: {purpose}".encode(), hashlib.sha256).digest()
    return base64.b64encode(made[:9]).decode()


def _stretched(key: bytes, parts: list[Any]) -> bytes:
    """A digest of the sums that takes some 20 ms and 8 MiB to make."""
    return _slow(key, json.dumps(parts).encode())


@functools.lru_cache(maxsize=256)  # window after window asks for the same columns
def _slow(key: bytes, said: bytes) -> bytes:
    return hashlib.scrypt(said, salt=key, n=_COST, r=8, p=1, dklen=32)
