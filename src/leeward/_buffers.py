# SPDX-License-Identifier: Apache-2.0
"""Arrow arrays from NumPy's and back, by their buffers.

``pyarrow.array``, ``pyarrow.scalar`` and ``Array.to_numpy`` import pandas wherever it is installed, a third of a second: as
long as a plan takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def numbers(values: NDArray[Any], missing: NDArray[np.bool_] | None = None) -> pa.Array:
    """Return n integers, floats or truths of NumPy as an Arrow array of the same type, null where they are missing."""
    held = np.ascontiguousarray(values)
    kind = pa.from_numpy_dtype(held.dtype)
    laid = np.packbits(held, bitorder="little") if held.dtype == np.bool_ else held
    valid = None if missing is None else pa.py_buffer(np.packbits(~missing, bitorder="little"))
    return pa.Array.from_buffers(kind, len(held), [valid, pa.py_buffer(laid)])


def texts(values: Iterable[str], kind: pa.DataType | None = None) -> pa.Array:
    """Return n texts as an Arrow array of ``string``, or of the type that is given."""
    encoded = [value.encode() for value in values]
    ends = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(each) for each in encoded], out=ends[1:])
    parts = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.large_string(), len(encoded), parts).cast(kind or pa.string())


def repeated(text: str, size: int) -> pa.Array:
    """Return one text n times, as an Arrow array of ``string``."""
    encoded = text.encode()
    ends = np.arange(size + 1, dtype=np.int64) * len(encoded)
    parts = [None, pa.py_buffer(ends), pa.py_buffer(encoded * size)]
    return pa.Array.from_buffers(pa.large_string(), size, parts).cast(pa.string())


def texts_among(values: NDArray[np.str_], among: Sequence[str]) -> pa.Array:
    """Return n texts of NumPy, each one of a few, as an Arrow array of ``string``: ten times as fast as `texts`."""
    which = np.zeros(len(values), np.int8)
    for place, word in enumerate(among):
        which[values == word] = place
    coded: pa.Array = pa.DictionaryArray.from_arrays(numbers(which), texts(among))
    return coded.cast(pa.string())


def as_numpy(values: pa.Array | pa.ChunkedArray) -> NDArray[Any]:
    """Return an Arrow array of integers, floats or truths, of which none is null, as one of NumPy.

    Raises:
        ValueError: one is null, or they are of another type.
    """
    if isinstance(values, pa.ChunkedArray):
        values = values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()
    if values.null_count:
        raise ValueError("an array with nulls has no numbers for all of its values")
    if not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type) or pa.types.is_boolean(values.type)):
        raise ValueError(f"an array of {values.type} holds no numbers")
    if pa.types.is_boolean(values.type):
        return as_numpy(values.cast(pa.uint8())).astype(np.bool_)
    kind = np.dtype(values.type.to_pandas_dtype())
    held = values.buffers()[1]
    if not len(values) or held is None:
        return np.zeros(0, kind)
    return np.frombuffer(held, kind, count=len(values), offset=kind.itemsize * values.offset)
