# SPDX-License-Identifier: Apache-2.0
"""How the content of a table is recognised again: keyed digests of what it holds, whatever file, order or names it has.

Two things are to be noticed. *The content changed under its label*: the **digest** covers every row of the columns that are
read, as pairs of name and type, so that any change gives another one. *The same content has another name*: the **marks**,
one a column, cover the values of that column and how often each occurs, whatever the column is called and however a value
is stored (7, 7.0 and the text "7" are one value), so that a table whose columns were renamed, exchanged or stored in another
kind of file shares its marks.

Each value or row is written as text and hashed with MD5 under the key; the 128-bit hashes are added up, as two sums of 64
bits, so that order does not matter; the sums are stretched with scrypt under the key. All of this is fixed by public
standards and by how values are written, not by a version of the engine. Before anything is digested, the engine writes
values of every kind whose text is known; where one comes out otherwise (a float with fewer digits, say, so that two values
have one text), that version of the engine is refused. What else a later version may write in another way makes unchanged
content look changed, and never the other way round. It is not meant to withstand somebody who holds the key.
"""

from __future__ import annotations

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

FORM = "1"
"""The form of digests and marks. What is made in another form cannot be compared with them."""

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
    names = list(rows.columns)
    texts = {f"r{i}": _text(rows[name]) for i, name in enumerate(names)}
    values = {f"v{i}": _value(rows[name]) for i, name in enumerate(names)}
    known, kinds = bound.known, [str(kind) for kind in rows.schema().types]
    all_of = ("rows", key, *names, *kinds)
    staged: str = bound.staged(_TEXTS, rows.select(**texts, **values)).get_name()
    of_each = {name: (name, key, kind, name in times) for name, kind in zip(names, kinds, strict=True)}
    # times are nearly all different, so each is hashed, beside its row; other values once, however often they occur
    one_by_one = {all_of: _of_row(_derived(key, "rows"), len(names))}
    one_by_one |= {of_each[name]: _of_value(key, f"v{i}") for i, name in enumerate(names) if name in times}
    if missing := {what: text for what, text in one_by_one.items() if what not in known}:
        known.update(zip(missing, bound.hash_sums_of_each(list(missing.values()), staged), strict=True))
    whole = known[all_of]
    marks, telling = {}, []
    for i, name in enumerate(names):
        if (of_one := of_each[name]) not in known:
            known[of_one] = _of_values(bound, key, staged, i, rows[name])
        sums = known[of_one]
        marks[name] = _stretched(key, ["values", *sums[1:]]).hex()[:32]
        if sums[0] > 1 and name not in times:
            telling.append(name)
    bound.check_unchanged()
    return Content(tuple(names), _stretched(key, ["rows", names, kinds, *whole[1:]]), marks, tuple(telling))


def _of_row(key: str, columns: int) -> str:
    """SQL: the text of a row, in which each value stands behind its length, and a null is a dash."""
    texts = [f"r{i}" for i in range(columns)]
    each = [f"CASE WHEN {text} IS NULL THEN '-' ELSE concat(length({text}), ':', {text}) END" for text in texts]
    of_all = ", ".join(f"length({text}), ':', {text}" for text in texts)  # the same, where there is no null, in one go
    some_null = " OR ".join(f"{text} IS NULL" for text in texts)
    return f"CASE WHEN {some_null} THEN concat('{key}', {', '.join(each)}) ELSE concat('{key}', {of_all}) END"


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
    kind = column.type()
    if kind.is_timestamp() and (kind.scale or 0) > 6:
        return epoch_ns(column).cast("string")
    if kind.is_timestamp() or kind.is_date():
        zone = kind.timezone if kind.is_timestamp() else None
        micros = epoch_us(column.try_cast(dt.Timestamp(timezone=zone, scale=6)))
        return micros.cast("string").fill_null(column.cast("string"))  # dates and seconds may lie beyond microseconds
    if kind.is_unknown() and "TIMESTAMPTZ_NS" in str(kind):  # for which Ibis has no name
        return epoch_ns(column).cast("string")
    return column.cast("string")


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
    return hmac.new(key, f"leeward content {FORM}: {purpose}".encode(), hashlib.sha256).hexdigest()[:32]


def _stretched(key: bytes, parts: list[Any]) -> bytes:
    """A digest of the sums that takes some 20 ms and 8 MiB to make."""
    return _slow(key, json.dumps(parts).encode())


@functools.lru_cache(maxsize=256)  # window after window asks for the same columns
def _slow(key: bytes, said: bytes) -> bytes:
    return hashlib.scrypt(said, salt=key, n=_COST, r=8, p=1, dklen=32)
