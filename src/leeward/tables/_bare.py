# SPDX-License-Identifier: Apache-2.0
"""Tables without what nobody named: what no cell shows of the rows that go out may be anything, such as true values.

That is metadata and attributes, and what stays of rows that were left out: in a dictionary (the categories of pandas, the
levels of its indexes), in the memory that an array is a part of, and under a cell that is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leeward._optional import optional
from leeward.errors import DataError

Rows = NDArray[np.int64]


def named_index(table: Any) -> list[str]:
    """Return what to call the index of a DataFrame among the columns that go out as they are; [] where it only counts.

    It counts if it has no name and is 0, 1, 2 and so on. Any other one says something: numbers of rows in another order tell
    an order that the rows had, and gaps which rows were left out.
    """
    pd = optional("pandas", "A DataFrame of pandas")
    index, size = table.index, len(table)
    names = [str(name) for name in index.names if name is not None]
    if not size or (not names and index.equals(pd.RangeIndex(size))):
        return []
    return [f"the index ({', '.join(names)})" if names else "the index"]


def bare_frame(table: Any, rows: Rows | None = None, without: Sequence[int] = ()) -> Any:
    """Return rows of a DataFrame, or all, as a plain one that holds nothing else.

    Args:
        table: the DataFrame.
        rows: which of its rows; None for all.
        without: the places of columns that are to be replaced, of which nothing is copied. Columns of one type lie in one
            block of memory: what is replaced after that was copied stays there, and hangs on each other column of it.

    Raises:
        DataError: naming the first column of whose type it is not known what else it holds.
    """
    pd = optional("pandas", "A DataFrame of pandas")
    plain = pd.DataFrame(table).copy(deep=False)
    for at in without:
        plain.isetitem(at, np.nan)
    made = (plain if rows is None else plain.iloc[rows]).copy()
    made.attrs = {}
    for at, (name, kind) in enumerate(zip(made.columns, made.dtypes, strict=True)):
        if isinstance(kind, pd.api.extensions.ExtensionDtype):
            made.isetitem(at, _cells_of_pandas(made.iloc[:, at].array, f"The column '{name}'"))
    made.index, made.columns = _labels(made.index), _labels(made.columns).set_names([None] * made.columns.nlevels)
    return made


def _labels(index: Any) -> Any:
    """Return an index of pandas that holds nothing but its labels."""
    pd = optional("pandas", "A DataFrame of pandas")
    if isinstance(index, pd.MultiIndex):
        levels = [_labels(index.get_level_values(level)) for level in range(index.nlevels)]
        return pd.MultiIndex.from_arrays(levels, names=index.names)
    if isinstance(index.dtype, pd.api.extensions.ExtensionDtype):
        return pd.Index(_cells_of_pandas(index.array, "The index"), name=index.name)
    return index.copy(deep=True)


def _cells_of_pandas(array: Any, which: str) -> Any:
    """Return an array of pandas that holds nothing but its cells."""
    import pyarrow as pa

    pd = optional("pandas", "A DataFrame of pandas")
    kind = array.dtype
    if isinstance(kind, pd.ArrowDtype):
        _bare(kind.pyarrow_dtype, which)
        return type(array)(bare(pa.table({"": pa.array(array)}))[""])
    if isinstance(kind, pd.CategoricalDtype):
        used = np.unique(array.codes[array.codes >= 0])
        codes = np.where(array.codes < 0, -1, np.searchsorted(used, array.codes))
        return pd.Categorical.from_codes(
            codes, _labels(array.categories.take(used).rename(None)), ordered=array.ordered
        )
    if isinstance(kind, pd.SparseDtype):
        return np.asarray(array)  # what it is filled with need not be in any row
    if type(kind).__module__.partition(".")[0] not in {"pandas", "geopandas"}:
        raise _unknown(which)
    missing = array.isna()
    return array.take(np.where(missing, -1, np.arange(len(array))), allow_fill=bool(missing.any()))


def bare(table: Any, rows: Rows | None = None) -> Any:
    """Return rows of a pyarrow Table, or all, without metadata of the table and its fields, and in memory of their own.

    Raises:
        DataError: see `bare_schema`.
    """
    import pyarrow as pa

    schema = bare_schema(table.schema)
    rows = np.arange(len(table)) if rows is None else rows
    arrays = [_cells(column, kind, rows) for column, kind in zip(table.columns, schema.types, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def _cells(column: Any, kind: Any, rows: Rows) -> Any:
    """Return rows of a chunked array of Arrow, as another type, in memory of their own."""
    import pyarrow as pa
    import pyarrow.compute as pc

    has_dictionary, chunks = pa.types.is_dictionary(kind), column.chunks
    if pa.types.is_run_end_encoded(column.type):
        chunks = [pc.run_end_decode(chunk) for chunk in chunks]
    if has_dictionary:
        values = [chunk.dictionary.cast(kind.value_type) for chunk in chunks]
        pairs = zip(chunks, values, strict=True)
        chunks = [pa.DictionaryArray.from_arrays(one.indices, held, ordered=kind.ordered) for one, held in pairs]
    else:
        chunks = [chunk.cast(kind) for chunk in chunks]
    column = pa.chunked_array(chunks, kind)
    taken = column.take(pa.array(rows, pa.int64(), mask=column.is_null().to_numpy()[rows]))
    return pa.chunked_array([_only_used(chunk) for chunk in taken.chunks], kind) if has_dictionary else taken


def _only_used(array: Any) -> Any:
    """Return an array with a dictionary of only the values that it uses, in their order."""
    import pyarrow as pa

    indices, missing = array.indices, array.indices.is_null().to_numpy(zero_copy_only=False)
    used = np.unique(indices.drop_null().to_numpy())
    codes = pa.array(np.searchsorted(used, indices.fill_null(0).to_numpy()), indices.type, mask=missing)
    return pa.DictionaryArray.from_arrays(codes, array.dictionary.take(pa.array(used)), ordered=array.type.ordered)


def bare_schema(schema: Any) -> Any:
    """Return a schema of Arrow as `bare` makes it: without metadata, and of inner dictionaries, views and runs the values.

    Raises:
        DataError: naming the first column of whose type it is not known where it holds metadata, or other rows.
    """
    import pyarrow as pa

    kinds = [_bare(each.type, f"The column '{each.name}'") for each in schema]
    return pa.schema([pa.field(each.name, kind, each.nullable) for each, kind in zip(schema, kinds, strict=True)])


def _bare(kind: Any, which: str, *, inner: bool = False) -> Any:
    """Return a type whose inner fields have no metadata, and whose arrays hold nothing but their cells.

    Args:
        kind: a type of Arrow.
        which: the column, for messages.
        inner: whether it is part of another type.

    Raises:
        DataError: it is not known where the type holds metadata, or other rows.
    """
    import pyarrow as pa

    def field(one: Any) -> Any:
        return pa.field(one.name, _bare(one.type, which, inner=True), one.nullable)

    is_a = pa.types
    if isinstance(kind, pa.BaseExtensionType):
        if kind.extension_name in {"arrow.uuid", "arrow.bool8"}:
            return kind
    elif is_a.is_dictionary(kind):
        if not is_a.is_nested(kind.value_type):
            value = _bare(kind.value_type, which, inner=True)
            return value if inner else pa.dictionary(kind.index_type, value, kind.ordered)
    elif is_a.is_run_end_encoded(kind):
        value = kind.value_type
        if not inner and not is_a.is_nested(value) and not is_a.is_dictionary(value):
            return _bare(value, which)
    elif is_a.is_string_view(kind) or is_a.is_binary_view(kind):
        return pa.large_string() if is_a.is_string_view(kind) else pa.large_binary()
    elif not is_a.is_nested(kind):
        return kind
    elif is_a.is_struct(kind):
        return pa.struct([field(kind.field(k)) for k in range(kind.num_fields)])
    elif is_a.is_list(kind):
        return pa.list_(field(kind.value_field))
    elif is_a.is_large_list(kind):
        return pa.large_list(field(kind.value_field))
    elif is_a.is_fixed_size_list(kind):
        return pa.list_(field(kind.value_field), kind.list_size)
    elif is_a.is_map(kind):
        return pa.map_(field(kind.key_field), field(kind.item_field), keys_sorted=kind.keys_sorted)
    raise _unknown(which)


def _unknown(which: str) -> DataError:
    return DataError(
        which,
        "types of its kind may hold what no row shows, such as bounds of the true values, that would be published unseen",
        "Leave the column out, or convert it to a plain type (its storage type)",
    )
