# SPDX-License-Identifier: Apache-2.0
"""The sums of `_row_sums`, added up inside a database: SQL of PostgreSQL and its extension pgcrypto, which has AES.

CBC-MAC is the last block of what AES encrypts in CBC mode, from a first block of zeros on, which is the extension's own. The
database sees keys that are derived for this, and its log may: of what is kept nothing can be tested with them (`_content`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from leeward.engine._row_sums import EIGHTEEN_DIGITS, FLAGGED, INTEGER, REAL, REAL_NUMBER, SHORTER, WHOLE, Asked, Sums
from leeward.engine._sql import quoted

WHERE: Final = """
SELECT quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pgcrypto'
"""
"""In which schema the extension is, if it is there."""

_NOTHING: Final = r"'\x00000000000000000000000000000000'::bytea"
_NAN: Final = r"'\x7ff8000000000000'::bytea"


def summing(asked: Asked, schema: str, rows: str) -> str:
    """Return a query for the sums of rows; `read` reads its answer.

    Args:
        asked: what is asked of them.
        schema: where the extension is, as SQL names it.
        rows: the query for the rows, in the columns that `sums_of` has.
    """
    of_rows, of_texts, of_values = (f"'\\x{asked.key[i : i + 16].hex()}'::bytea" for i in (0, 16, 32))

    def encrypted(message: str, key: str) -> str:
        return f"{schema}.encrypt({message}, {key}, 'aes-cbc/pad:none')"

    def hashed(text: str) -> str:
        held = f"convert_to({text}, 'UTF8')"
        padded = f"substr({_NOTHING}, 1, (16 - octet_length({held}) % 16) % 16)"
        return _last(encrypted(f"int8send(octet_length({held})) || int8send(0) || {held} || {padded}", of_texts))

    def block(i: int) -> str:
        return f"CASE WHEN v{i} IS NULL THEN {_NOTHING} ELSE {_value(asked.kinds[i], f'v{i}', hashed)} END"

    made = []
    if asked.rows:
        words = _flags(len(asked.kinds)) + [_words(kind, f"v{i}", hashed) for i, kind in enumerate(asked.kinds)]
        odd = (len(_flags(len(asked.kinds))) + sum(2 if kind in ("text", "bytes") else 1 for kind in asked.kinds)) % 2
        made.append(f"encode({_last(encrypted(' || '.join(words + ['int8send(0)'] * odd), of_rows))}, 'hex') AS r")
    made += [f"encode({encrypted(block(i), of_values)}, 'hex') COLLATE \"C\" AS h{i}" for i in asked.values]
    made += [f"v{i}" for i in asked.times]
    said = ["count(*)", *(_halves("r") if asked.rows else ("0", "0"))]
    said += [each for i in asked.values for each in (*_halves(f"h{i}"), f"coalesce(min(h{i}) <> max(h{i}), false)")]
    said += [each for i in asked.times for each in (f"count(v{i})", f"coalesce(sum(v{i}::numeric), 0)")]
    # OFFSET keeps each step one: what is written into the next would be worked out as often as it is used there
    return f"SELECT {', '.join(said)} FROM (SELECT {', '.join(made) or '1'} FROM ({rows}) AS asked OFFSET 0) AS made"


def read(answered: Sequence[object], asked: Asked) -> Sums:
    """The sums that a query of `summing` answered."""
    numbers = iter(answered)
    rows = [int(str(next(numbers))) for _ in range(3)]
    values, differs = dict[str, list[int]](), dict[str, bool]()
    for i in (*asked.values, *asked.times):
        values[str(i)] = [int(str(next(numbers))) for _ in range(2)]
        differs[str(i)] = i in asked.values and bool(next(numbers))
    return Sums(rows, values, {name: [] for name in values}, differs)


def _last(blocks: str) -> str:
    """The last block of some."""
    return f"(SELECT substr(b, octet_length(b) - 15) FROM (SELECT {blocks} AS b OFFSET 0) AS made)"


def _flags(columns: int) -> list[str]:
    """Words that say which values are missing; no time here is beyond 64 bits."""
    bits = [f"CASE WHEN v{i} IS NULL THEN {4 ** (i % FLAGGED)}::int8 ELSE 0 END" for i in range(columns)]
    return [f"int8send({' + '.join(bits[i : i + FLAGGED])})" for i in range(0, columns, FLAGGED)]


def _words(kind: str, value: str, hashed: Callable[[str], str]) -> str:
    """A column's words in the rows."""
    if kind in ("text", "bytes"):
        return f"CASE WHEN {value} IS NULL THEN {_NOTHING} ELSE {hashed(value)} END"
    if kind == "real":
        return _bits(f"coalesce({value}, 0)")
    return f"int8send(coalesce({value}::int{'' if kind == 'flag' else '8'}, 0))"


def _value(kind: str, value: str, hashed: Callable[[str], str]) -> str:
    """The block of a value that is not missing, in which one value has one form whatever its type is."""

    def tagged(tag: int, bits: str) -> str:
        return f"int8send({tag}) || {bits}"

    if kind == "flag":
        return hashed(f"({value})::text")
    if kind == "bytes":
        return hashed(value)
    if kind == "real":
        whole = f"abs({value}) < 9007199254740992 AND {value} = floor({value})"
        decimal = f"({value})::text::float8"  # of 32 bits: the one of fewest digits
        integer = tagged(INTEGER, f"int8send(({value})::int8)")
        return f"CASE WHEN {whole} THEN {integer} ELSE {tagged(REAL_NUMBER, _bits(decimal))} END"
    if kind in ("whole", "time"):
        short = f"{value} < {EIGHTEEN_DIGITS} AND {value} > -{EIGHTEEN_DIGITS}"
        integer = tagged(INTEGER, f"int8send({value})")
        return f"CASE WHEN {short} THEN {integer} ELSE {hashed(f'({value})::text')} END"
    shorter = f"regexp_replace({value}, {', '.join(map(quoted, SHORTER))})"
    integer = tagged(INTEGER, f"int8send(({shorter})::int8)")
    real = tagged(REAL_NUMBER, f"float8send(({shorter})::float8)")
    return (
        f"CASE WHEN {shorter} ~ {quoted(WHOLE)} THEN {integer} WHEN {shorter} ~ {quoted(REAL)} THEN {real}"
        f" ELSE {hashed(shorter)} END"
    )


def _bits(value: str) -> str:
    return f"CASE WHEN {value} = 'NaN' THEN {_NAN} ELSE float8send(({value})::float8) END"


def _halves(text: str) -> tuple[str, ...]:
    """The sums of the halves of hashes, in hexadecimal digits, as numbers without a sign."""
    numbers = [f"('x' || substr({text}, {first}, 16))::bit(64)::bigint" for first in (1, 17)]
    return tuple(
        f"coalesce(sum(({each})::numeric), 0) + 18446744073709551616 * count(*) FILTER (WHERE {each} < 0)"
        for each in numbers
    )
