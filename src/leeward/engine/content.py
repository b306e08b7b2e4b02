"""How the content of a table is recognised again: keyed digests of what it holds, whatever file, order or names it has.

Two things are to be noticed. *The content changed under its label*: the **digest** covers every row of the columns that are
read, as pairs of name and type, so that any change gives another one. *The same content has another name*: the **marks**,
one a column, cover the values of that column and how often each occurs, whatever the column is called and however a value
is stored (7, 7.0 and the text "7" are one value), so that a table whose columns were renamed, exchanged or stored in another
kind of file shares its marks.

Each value or row is written as text and hashed with MD5 under the key; the 128-bit hashes are added up, as two sums of 64
bits, so that order does not matter; the sums are stretched with scrypt under the key. All of this is fixed by public
standards and by how values are written, not by a version of the engine: if that ever changed, unchanged content would look
changed, and never the other way round. It is not meant to withstand somebody who holds the key.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import ibis.expr.datatypes as dt

from leeward.engine.bind import Bound, translated
from leeward.engine.builtin import epoch_ns, epoch_us

FORM = "1"
"""The form of digests and marks. What is made in another form cannot be compared with them."""

_LOW = (1 << 64) - 1


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
        times: names of the columns of times. They do not tell tables apart, because many have every hour once.
    """
    rows = bound.rows
    names = list(rows.columns)
    texts = {f"r{i}": _text(rows[name]) for i, name in enumerate(names)}
    values = {f"v{i}": _value(rows[name]) for i, name in enumerate(names)}
    plain = bound.connection.compile(rows.select(**texts, **values))
    each = [f"coalesce(length(r{i})::VARCHAR || ':' || r{i}, '-')" for i in range(len(names))]
    hashed = f"SELECT md5_number('{_derived(key, 'rows')}' || {' || '.join(each)}) AS h, 1 AS n FROM ({plain})"
    whole = _sums(bound, hashed)
    marks, telling = {}, []
    for i, name in enumerate(names):
        counted = f"SELECT v{i} AS v, count(*) AS n FROM ({plain}) GROUP BY 1"
        salt = _derived(key, "values")
        sums = _sums(bound, f"SELECT md5_number('{salt}' || coalesce('=' || v, '-')) AS h, n FROM ({counted})")
        marks[name] = _stretched(key, ["values", *sums[1:]]).hex()[:32]
        if sums[0] > 1 and name not in times:
            telling.append(name)
    bound.check_unchanged()
    kinds = [str(kind) for kind in rows.schema().types]
    return Content(tuple(names), _stretched(key, ["rows", names, kinds, *whole[1:]]), marks, tuple(telling))


def _sums(bound: Bound, hashed: str) -> tuple[int, ...]:
    """The number of hashes, how many rows they stand for, and the sums of their halves."""
    sums = ["sum(n)", *(f"sum(({half} & {_LOW})::UBIGINT::HUGEINT * n)" for half in ("h", "(h >> 64)"))]
    told = ", ".join(f"coalesce({each}, 0)" for each in sums)  # an empty table has sums too
    with translated():
        found = bound.connection.con.sql(f"SELECT count(*), {told} FROM ({hashed})").fetchall()
    return tuple(int(value) for value in found[0])


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
        whole = (column == column.floor()) & (column.abs() < 2**53)
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
    said = json.dumps(parts, default=str).encode()
    return hashlib.scrypt(said, salt=key, n=1 << 13, r=8, p=1, dklen=32)
