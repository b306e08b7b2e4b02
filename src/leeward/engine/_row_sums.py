# SPDX-License-Identifier: Apache-2.0
"""Keyed hashes of rows and of values, added up: what `_content` makes digests of.

A row is written as 64-bit words: first two bits a column, whether its value is missing and whether it is a time beyond 64
bits; then a column's word or words. These are hashed as AES-CBC-MAC does under a secret key, two words a block; a text
enters by two words, its own CBC-MAC, of its length and then its bytes of UTF-8. Rows of one layout have as many blocks, and
which layout a row has is said in its first words; a text's first block says its length. So no row, and no text, is the
beginning of another; and for such messages CBC-MAC is a random function as long as AES is a random permutation (Petrank and
Rackoff, "CBC MAC for Real-Time Data Sources", 2000).

This is arithmetic on batches of Arrow and knows no engine. It runs in this process, or is sent as it stands to workers
that have NumPy, Arrow and ``cryptography``, and no Leeward: so it imports nothing of ours.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Words = NDArray[np.uint64]
"""A row of two is a block of AES."""

FLAGGED: Final = 16
"""How many columns a word of flags is about."""

_ONE_BY_ONE: Final = 32
"""Of more blocks, a text is hashed by itself: those of a batch together would take as many steps as the longest."""

INTEGER: Final = 1
REAL_NUMBER: Final = 2
"""What the first word of a block says whose second is a whole number, or a float. Of a missing value both are 0."""

EIGHTEEN_DIGITS: Final = 10**18
"""Beyond, a whole number is hashed as its text, because a text of 19 digits may be beyond 64 bits."""


class Asked(NamedTuple):
    """What is asked of a table.

    Attributes:
        kinds: of each column: whole, flag, real, time, text or bytes (whose text is no number's).
        rows: whether of its rows.
        values: the columns of whose values.
        times: the columns whose times are added up.
        key: 48 secret bytes, for the hashes of rows, of texts and of values.
    """

    kinds: tuple[str, ...]
    rows: bool
    values: tuple[int, ...]
    times: tuple[int, ...]
    key: bytes

    def __repr__(self) -> str:
        return f"Asked of {len(self.kinds)} columns, under a secret key"


class Sums(NamedTuple):
    """What is added up; `total` of those of several parts of a table is that of the whole.

    Attributes:
        rows: how many there are, and the sums of the halves of their hashes.
        values: of each column: the sums of the halves of its values' hashes, and of times how many there are and their sum.
        first: the hash of each column's first value; empty where there is none.
        differs: whether another one differs from it.
    """

    rows: list[int]
    values: dict[str, list[int]]
    first: dict[str, list[int]]
    differs: dict[str, bool]


def sums_of(batches: Iterable[pa.RecordBatch], asked: Asked) -> Sums:
    """Add up the hashes of rows.

    Args:
        batches: in the order of the columns that are asked about: ``v0``, ``v1`` and so on, integers for times; and behind
            each column of times the text of those that are beyond 64 bits, null otherwise.
        asked: what is asked of them.
    """
    of_rows, of_texts, of_values = (_Cipher(asked.key[i : i + 16]) for i in (0, 16, 32))
    found = nothing(asked)
    for batch in batches:
        if not batch.num_rows:
            continue
        columns = _columns(batch, asked.kinds, of_texts)
        found.rows[0] += batch.num_rows
        if asked.rows:
            _add(found.rows, 1, _hashed_rows(of_rows, of_texts, columns))
        for i in asked.values:
            name, hashed = str(i), _encrypted(of_values, _value_blocks(of_texts, columns[i]))
            _add(found.values[name], 0, hashed)
            first = found.first[name] or [int(word) for word in hashed[0]]
            found.first[name] = first
            found.differs[name] |= bool((hashed != np.array(first, np.uint64)).any())
        for i in asked.times:
            column, sums = columns[i], found.values[str(i)]
            sums[0] += len(column.values) - int(column.missing.sum() + column.beyond.sum())
            sums[1] += _sum_of_integers(column.values)
    return found


def parts_of(batches: Iterable[pa.RecordBatch], asked: Asked) -> Iterator[pa.RecordBatch]:
    """The same as a table of one text, which a worker hands back."""
    yield pa.RecordBatch.from_pydict({"sums": [json.dumps(sums_of(batches, asked)._asdict())]})


def nothing(asked: Asked) -> Sums:
    """The sums of a table without rows."""
    each = [str(i) for i in (*asked.values, *asked.times)]
    return Sums([0, 0, 0], {name: [0, 0] for name in each}, {name: [] for name in each}, dict.fromkeys(each, False))


def total(parts: Iterable[Sums], asked: Asked) -> Sums:
    """The sums of a whole table, from those of its parts."""
    whole = nothing(asked)
    for part in parts:
        for i, each in enumerate(part.rows):
            whole.rows[i] += each
        for name, (low, high) in part.values.items():
            mine, theirs = whole.first[name], part.first[name]
            whole.values[name][0] += low
            whole.values[name][1] += high
            whole.differs[name] |= part.differs[name] or (bool(mine) and bool(theirs) and mine != theirs)
            whole.first[name] = mine or theirs
    return whole


class _Column(NamedTuple):
    """A column of n values.

    Attributes:
        kind: as in `Asked`.
        values: n integers, truths or floats, 0 where there is none; or the hashes of texts.
        missing: of each value, whether it is missing;
        beyond: whether it is a time beyond 64 bits, whose text is in
        given: the Arrow array; of times, that of their texts.
    """

    kind: str
    values: NDArray[Any]
    missing: NDArray[np.bool_]
    beyond: NDArray[np.bool_]
    given: Any


def _columns(batch: pa.RecordBatch, kinds: Sequence[str], of_texts: _Cipher) -> list[_Column]:
    arrays, found = iter(batch.columns), list[_Column]()
    for kind in kinds:
        values = next(arrays)
        if pa.types.is_dictionary(values.type):
            values = values.dictionary_decode()
        given = next(arrays) if kind == "time" else values
        missing = _missing(values)
        beyond = missing & ~_missing(given) if kind == "time" else np.zeros(len(values), np.bool_)
        if kind in ("whole", "flag", "real", "time"):
            read = _numbers(values, missing)
        else:
            read = _hashed_texts(of_texts, given)
            read[missing] = 0
        found.append(_Column(kind, read, missing & ~beyond, beyond, given))
    return found


def _missing(values: pa.Array) -> NDArray[np.bool_]:
    if not values.null_count:
        return np.zeros(len(values), np.bool_)
    held = values.buffers()[0]
    if held is None:  # all are: an array of the type null has no buffer
        return np.ones(len(values), np.bool_)
    bits = np.unpackbits(np.frombuffer(held, np.uint8), bitorder="little")
    return ~bits[values.offset : values.offset + len(values)].astype(np.bool_)


def _numbers(values: pa.Array, missing: NDArray[np.bool_]) -> NDArray[Any]:
    """Integers of 64 bits, with a sign or without, or floats of 64 bits."""
    if pa.types.is_boolean(values.type):
        values = values.cast(pa.uint8())
    elif pa.types.is_decimal(values.type):
        values = values.cast(pa.uint64())  # Spark has no other type for these
    kind, held = np.dtype(values.type.to_pandas_dtype()), values.buffers()[1]
    if held is None:
        return np.zeros(len(values), np.int64)
    found = np.frombuffer(held, kind, count=len(values), offset=kind.itemsize * values.offset)
    with np.errstate(invalid="ignore"):  # as below
        found = found.astype(
            np.float64 if kind.kind == "f" else np.uint64 if kind == np.uint64 else np.int64, copy=False
        )
    return np.where(missing, found.dtype.type(0), found) if missing.any() else found


def _hashed_rows(of_rows: _Cipher, of_texts: _Cipher, columns: Sequence[_Column]) -> Words:
    size = len(columns[0].missing)
    said = _flags(columns, size)
    beyond = np.stack([column.beyond for column in columns], axis=1)
    words = [word for column in columns for word in _words(column)]
    if not beyond.any():
        return _chained(of_rows, [*said, *words], size)
    # A row's first words say which of its times are beyond; rows in which the same ones are have one layout.
    hashed = np.empty((size, 2), np.uint64)
    layouts, which = np.unique(beyond, axis=0, return_inverse=True)
    for i, layout in enumerate(layouts):
        rows = np.flatnonzero(which.reshape(-1) == i)
        longer = [_hashed_texts(of_texts, column.given)[rows] for column, it in zip(columns, layout, strict=True) if it]
        more = [half for text in longer for half in text.T]
        hashed[rows] = _chained(of_rows, [*(word[rows] for word in [*said, *words]), *more], len(rows))
    return hashed


def _flags(columns: Sequence[_Column], size: int) -> list[Words]:
    """Two bits a column, of `FLAGGED` columns in a word."""
    said = [np.zeros(size, np.uint64) for _ in range(-(-len(columns) // FLAGGED))]
    for i, column in enumerate(columns):
        for bit, each in enumerate((column.missing, column.beyond)):
            if each.any():
                said[i // FLAGGED] |= each.astype(np.uint64) << np.uint64(2 * (i % FLAGGED) + bit)
    return said


def _words(column: _Column) -> list[Words]:
    """A column's words in the rows: 0 where a value is missing."""
    if column.kind == "real":
        return [_bits(column.values)]
    whole = column.values.view(np.uint64)
    return [whole] if whole.ndim == 1 else [whole[:, 0], whole[:, 1]]


def _bits(values: NDArray[Any]) -> Words:
    """The bits of floats; NaN is one value, whatever its bits."""
    return np.where(np.isnan(values), np.nan, values).view(np.uint64)


def _chained(cipher: _Cipher, words: Sequence[Words], size: int) -> Words:
    """The CBC-MAC of rows of words, an odd one with a 0 behind it."""
    state = np.zeros((size, 2), np.uint64)
    for i in range(0, len(words), 2):
        state[:, 0] ^= words[i]
        if i + 1 < len(words):
            state[:, 1] ^= words[i + 1]
        state = _encrypted(cipher, state)
    return state


class _Cipher:
    """AES under a key: of many blocks, each by itself (`single`); or of one message, whose blocks are chained."""

    def __init__(self, key: bytes) -> None:
        # Here, for its modules cannot be sent; a worker imports its own.
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        aes = algorithms.AES(key)
        self.single = Cipher(aes, modes.ECB()).encryptor()
        self.chained = Cipher(aes, modes.CBC(bytes(16))).encryptor


def _encrypted(cipher: _Cipher, blocks: Words) -> Words:
    """Words encrypted, each of them its eight bytes from the highest on: databases write numbers so."""
    made = np.empty(2 * len(blocks) + 2, ">u8")  # the cipher wants room for a block more
    cipher.single.update_into(np.ascontiguousarray(blocks, ">u8").data.cast("B"), made.data.cast("B"))
    return made[: 2 * len(blocks)].reshape(-1, 2).astype(np.uint64)


def _hashed_texts(cipher: _Cipher, texts: pa.Array) -> Words:
    """The CBC-MAC of the length of each text and its bytes; of a missing one, of whatever lies there."""
    at, data = _laid(texts)
    size, starts, lengths = len(texts), at[:-1], np.diff(at)
    blocks = -(-lengths // 16)
    state = np.zeros((size, 2), np.uint64)
    state[:, 0] = lengths
    state = _encrypted(cipher, state)
    # every place in the bytes as a block that begins there
    first = int(starts.min(initial=0))
    room = np.concatenate([data[first : int(at.max(initial=0))], np.zeros(16, np.uint8)])
    windows = np.ndarray(len(room) - 15, np.dtype((np.void, 16)), room, strides=(1,))
    starts, long = starts - first, blocks > _ONE_BY_ONE
    for step in range(int(blocks[~long].max(initial=0))):
        left = lengths - 16 * step
        rows: Any = (left > 0) & ~long
        rows = slice(None) if rows.all() else np.flatnonzero(rows)
        block = windows[starts[rows] + 16 * step].view(np.uint64).reshape(-1, 2) & _KEPT[np.minimum(left[rows], 16)]
        state[rows] = _encrypted(cipher, block.byteswap(inplace=True) ^ state[rows])
    for row in np.flatnonzero(long):
        size, chained = int(lengths[row]), cipher.chained()
        chained.update(size.to_bytes(8, "big") + bytes(8))
        made = chained.update(room[starts[row] : starts[row] + size].data)[-16:] + chained.update(bytes(-size % 16))
        state[row] = np.frombuffer(made[-16:], ">u8")
    return state


_KEPT: Final = np.array([[255] * n + [0] * (16 - n) for n in range(17)], np.uint8).view(np.uint64)
"""Which bits of a block are kept where n bytes of it belong to a text."""


def _value_blocks(of_texts: _Cipher, column: _Column) -> Words:
    """A block for each value, in which one value has one form whatever its type is."""
    made = np.empty((len(column.missing), 2), np.uint64)
    if column.kind == "flag":
        both = _hashed_texts(of_texts, pa.array(["false", "true"]))
        made = both[column.values.astype(np.intp)]
    elif column.kind == "real":
        small = np.abs(column.values) < 2**53
        with np.errstate(invalid="ignore"):  # NumPy would print a warning of a NaN that signals, as R's missing number
            whole = small & (column.values == np.floor(column.values))
        single = pa.types.is_float32(column.given.type)  # it is the decimal of fewest digits that says which it is
        reals = (
            column.values
            if whole.all() or not single
            else _numbers(column.given.cast(pa.string()).cast(pa.float64()), column.missing)
        )
        made[:, 0], made[:, 1] = REAL_NUMBER, _bits(reals)
        _put_integers(made, whole, column.values)
    elif column.values.ndim == 1:
        short = column.values < EIGHTEEN_DIGITS
        if column.values.dtype != np.uint64:
            short &= column.values > -EIGHTEEN_DIGITS
        _put_integers(made, short, column.values)
        _put_texts(made, ~short, of_texts, lambda rows: _arrow(column.values[rows]).cast(pa.string()))
        _put_texts(made, column.beyond, of_texts, lambda rows: column.given.take(_arrow(rows)))
    else:
        _put_texts_like_numbers(made, column, of_texts)
    made[column.missing] = 0
    return made


def _put_integers(made: Words, where: NDArray[np.bool_], values: NDArray[Any]) -> None:
    made[where, 0] = INTEGER
    made[where, 1] = values[where].astype(values.dtype if values.dtype == np.uint64 else np.int64).view(np.uint64)


def _put_texts(made: Words, where: NDArray[np.bool_], of_texts: _Cipher, texts: Any) -> None:
    if where.any():
        rows = np.flatnonzero(where)
        made[rows] = _hashed_texts(of_texts, texts(rows))


def _put_texts_like_numbers(made: Words, column: _Column, of_texts: _Cipher) -> None:
    """Texts: 7, 7.0 and 7. are the whole number 7, and 1.50 is 1.5, a float if it has few digits."""
    made[:] = column.values
    if column.kind == "bytes" or not _may_be_numbers(column.given):
        return
    import pyarrow.compute as pc

    texts = pc.replace_substring_regex(column.given, *SHORTER)
    _put_texts(made, np.ones(len(texts), np.bool_), of_texts, lambda rows: texts.take(_arrow(rows)))
    none = np.zeros(len(texts), np.bool_)
    for pattern, kind, tag in ((WHOLE, pa.int64(), INTEGER), (REAL, pa.float64(), REAL_NUMBER)):
        alike = pc.match_substring_regex(texts, pattern).fill_null(False)
        held = _numbers(pc.if_else(alike, texts, "0").cast(kind), none)
        where = _numbers(alike, none).astype(np.bool_)
        made[where, 0], made[where, 1] = tag, held.view(np.uint64)[where]


SHORTER: Final = (r"^([+-]?[0-9]+)(\.0*|(\.[0-9]*[1-9])0+)$", r"\1\3")
"""A number without zeros at its end, and what is put in its place."""

WHOLE: Final = "^(0|-?[1-9][0-9]{0,17})$"
REAL: Final = r"^-?(0|[1-9][0-9]{0,6})\.[0-9]{0,6}[1-9]$"
"""What is read as a number, of which no two are one."""


def _may_be_numbers(texts: pa.Array) -> bool:
    """Whether one begins as a number does: where none does, nothing else need be seen of them."""
    at, data = _laid(texts)
    begins = data[at[:-1][at[:-1] < at[1:]]]
    return bool(np.isin(begins, np.frombuffer(b"+-0123456789", np.uint8)).any())


def _laid(texts: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Where n texts lie, by n + 1 places at which one ends and the next begins, and in which bytes."""
    _, ends, held = texts.buffers()
    if ends is None:
        return np.zeros(len(texts) + 1, np.int64), np.zeros(0, np.uint8)
    wide = pa.types.is_large_string(texts.type) or pa.types.is_large_binary(texts.type)
    kind = np.dtype(np.int64 if wide else np.int32)
    at = np.frombuffer(ends, kind, len(texts) + 1, kind.itemsize * texts.offset).astype(np.int64)
    return at, np.frombuffer(held or b"", np.uint8)


def _arrow(values: NDArray[Any]) -> pa.Array:
    """Numbers as Arrow; ``pyarrow.array`` imports pandas."""
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(values)])


def _add(sums: list[int], at: int, hashed: Words) -> None:
    for half in (0, 1):
        sums[at + half] += _sum_of_integers(hashed[:, half])


def _sum_of_integers(values: NDArray[Any]) -> int:
    """The sum of integers of 64 bits, exactly: the low and high 32 bits of each apart, so that nothing wraps."""
    if values.dtype == np.uint64:
        return int((values & np.uint64(0xFFFFFFFF)).sum()) + (int((values >> np.uint64(32)).sum()) << 32)
    return int((values & 0xFFFFFFFF).sum()) + (int((values >> 32).sum()) << 32)
