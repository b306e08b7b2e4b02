# SPDX-License-Identifier: Apache-2.0
"""How the content of a table is recognised again: keyed digests of what it holds, whatever file, order or names it has.

Two things are to be noticed. *The content changed under its label*: the **digest** covers every row of the columns that are
read, as pairs of name and type, so that any change gives another one. *The same content has another name*: the **marks**,
one a column, cover the values of that column and how often each occurs, whatever the column is called and however a value
is stored (7, 7.0 and the text "7" are one value), so that a table whose columns were renamed, exchanged or stored in another
kind of file shares its marks. Times tell no table from another; the mark of a column that the engine knows as times or
numbers covers how many there are and their sum, so that it misses times that change and keep their sum. Where the columns
are the same ones, the digest is compared, and misses nothing.

Each row is hashed with AES under a key (`_row_sums`), from the bits of its numbers and times and the bytes of its texts;
the hashes are added up, as two sums of 64-bit halves, so that order does not matter; the sums are stretched with scrypt
under the ledger's key of 256 bits.

**What a digest is worth.** Assumption: AES under a key is a random permutation to whoever changes the table, who does not
have the key. Two different tables of the same columns then have the same digest with a probability of at most
2⁻¹²⁸ + 2q²/2¹²⁸ (and scrypt's 2⁻²⁵⁶), where q is how many rows and texts both have, times the blocks of 16 bytes of the
longest: below 2⁻⁵⁷ for a billion rows of a dozen numbers. Proof: up to 2q²/2¹²⁸, CBC-MAC is a random function (`_row_sums`
says why). Of a random function: some row occurs m times in one and m' ≠ m times in the other. The sums are integers and
never wrap; so, whatever the hashes of all other rows are, at most one value of each half of its hash makes them equal, and
the halves are independent. Marks are sums of the same kind, of values in place of rows.

The rows are read once for all of this: by this process where DuckDB reads them, inside the database where PostgreSQL holds
them, by its workers where Spark does. Nothing is kept that a guess of a key could be tested on: sums are kept only as
scrypt makes them.

All of this is fixed by public standards, not by a version of the engine, but for what an engine writes as text: decimals,
times of day, bytes. Where it writes one otherwise, so that two values might have one text, that version is refused. What
else a later version may write in another way makes unchanged content look changed, and never the other way round.
"""

from __future__ import annotations

import functools
import hashlib
import hmac
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final

import duckdb
import ibis
import ibis.expr.datatypes as dt

from leeward.engine._bind import setting_up
from leeward.engine._bound import Bound
from leeward.engine._builtin import epoch_ns, epoch_us
from leeward.engine._described import compiled
from leeward.engine._row_sums import Asked, Sums, total
from leeward.errors import EngineError

FORM = "3"
"""The form of digests and marks. What is made in another cannot be compared, and needs a new version label."""

_COST: Final = 1 << 13
"""The work of one digest of content (scrypt's N): some 20 ms and 8 MiB, so that guesses about rows are dear."""

_KNOWN = (
    ("decimal(38, 2)", "-123456789012345678901234567890.05::DECIMAL(38, 2)", "-123456789012345678901234567890.05"),
    ("decimal(4, 4)", "-0.05::DECIMAL(4, 4)", "-0.0500"),
    ("string", "' 7.0'", " 7.0"),
    ("binary", "'\\xFF\\x00a'::BLOB", "\\xFF\\x00a"),
    ("time", "TIME '23:59:59.999999'", "23:59:59.999999"),
)
"""A type, a value of it in SQL, and the text that it is digested as."""


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
    rows, known = bound.rows, bound.known
    names, said = list(rows.columns), [str(kind) for kind in rows.schema().types]
    kinds = [_kind(kind) for kind in rows.schema().types]
    all_of = ("rows", key, *names, *said)
    of_each = [(name, key, kind, name in times) for name, kind in zip(names, said, strict=True)]
    new = [i for i, of_one in enumerate(of_each) if of_one not in known]
    if new or all_of not in known:
        added = [i for i in new if names[i] in times and kinds[i] in ("whole", "time")]
        values = [i for i in new if i not in added]
        asked = Asked(tuple(kinds), all_of not in known, tuple(values), tuple(added), _derived(key))
        found = _summed(bound, asked)
        known.setdefault(all_of, found.rows)
        known.update({of_each[i]: [found.differs[str(i)], found.rows[0], *found.values[str(i)]] for i in new})
    covered = [["rows", names, said, *known[all_of]], *(["values", *known[of_one][1:]] for of_one in of_each)]
    digest, *stretched = _all_stretched(key, [json.dumps(sums) for sums in covered])
    marks = {name: mark.hex()[:32] for name, mark in zip(names, stretched, strict=True)}
    telling = [name for name, of_one in zip(names, of_each, strict=True) if known[of_one][0] and name not in times]
    bound.check_unchanged()
    return Content(tuple(names), digest, marks, tuple(telling))


def _summed(bound: Bound, asked: Asked) -> Sums:
    rows, columns = bound.rows, dict[str, Any]()
    if "text" in asked.kinds or "bytes" in asked.kinds:
        _check_engine()
    for i, (name, kind) in enumerate(zip(rows.columns, asked.kinds, strict=True)):
        number = _as_integer(rows[name]) if kind == "time" else None
        if number is not None:
            columns[f"v{i}"] = number.cast("int64")
            columns[f"t{i}"] = number.isnull().ifelse(rows[name].cast("string"), None)
        else:
            columns[f"v{i}"] = rows[name] if kind in ("whole", "flag", "real") else _text(rows[name])
    return total(bound.summed(rows.select(**columns), asked), asked)


def _kind(kind: Any) -> str:
    """How values of a type are hashed, of those that `Asked` lists."""
    if kind.is_integer():
        return "whole"
    if kind.is_boolean():
        return "flag"
    if kind.is_floating():
        return "real"
    if kind.is_timestamp() or kind.is_date() or (kind.is_unknown() and "TIMESTAMPTZ_NS" in str(kind)):
        return "time"
    return "text" if kind.is_string() or kind.is_decimal() else "bytes"


def _text(column: Any) -> Any:
    """A column as texts; of decimals without digits before the point DuckDB writes none, and others a 0."""
    kind, text = column.type(), column.cast("string")
    if kind.is_decimal() and kind.precision == kind.scale:
        text = text.re_replace(r"^\.", "0.").re_replace(r"^-\.", "-0.")
    return text


@functools.cache
def _check_engine() -> None:
    """Have the engine write values whose text is known.

    Raises:
        EngineError: it writes one otherwise, so that two values may have one text; or it cannot be set up.
    """
    probe = ibis.table({f"c{i}": kind for i, (kind, _, _) in enumerate(_KNOWN)}, name="probe")
    texts = compiled(probe.select(**{name: _text(probe[name]) for name in probe.columns}))
    given = ", ".join(f"{value} AS c{i}" for i, (_, value, _) in enumerate(_KNOWN))
    with setting_up(), duckdb.connect() as engine:
        written = engine.execute(f"WITH probe AS (SELECT {given}) {texts}").fetchall()[0]
    if written != tuple(text for _, _, text in _KNOWN):
        raise EngineError(
            f"DuckDB {duckdb.__version__} writes values in another way than the versions that Leeward knows",
            "a table that changed might be taken for the one that was charged",
            "Use the version of DuckDB that Leeward was installed with",
        )


def _as_integer(column: Any) -> Any:
    """Times since 1970, of a column of times; null where one lies beyond 64 bits."""
    kind = column.type()
    if kind.is_unknown() or (kind.is_timestamp() and (kind.scale or 0) > 6):  # Ibis has no name for one of the two
        return epoch_ns(column)
    zone = kind.timezone if kind.is_timestamp() else None
    return epoch_us(column.try_cast(dt.Timestamp(timezone=zone, scale=6)))  # dates and seconds may lie beyond


def _derived(key: bytes) -> bytes:
    """Three keys of AES: of rows, of texts, of values."""
    purposes = ("rows", "texts", "values")
    made = (hmac.new(key, f"leeward content {FORM}: {each}".encode(), hashlib.sha256).digest() for each in purposes)
    return b"".join(each[:16] for each in made)


def _all_stretched(key: bytes, covered: Sequence[str]) -> list[bytes]:
    stretched = functools.partial(_stretched, key)
    try:
        with ThreadPoolExecutor() as pool:  # each takes its moment
            return list(pool.map(stretched, covered))
    except RuntimeError:  # this process may start no thread more
        return [stretched(sums) for sums in covered]


@functools.lru_cache(maxsize=256)  # window after window asks for the same columns
def _stretched(key: bytes, sums: str) -> bytes:
    """A digest of sums that takes some 20 ms and 8 MiB to make."""
    try:
        return hashlib.scrypt(sums.encode(), salt=key, n=_COST, r=8, p=1, dklen=32)
    except ValueError:  # OpenSSL has no other word for it
        raise MemoryError from None
