# SPDX-License-Identifier: Apache-2.0
"""Tables without what nobody named: metadata and attributes of a table may hold anything, such as bounds of true values."""

from __future__ import annotations

from typing import Any

from leeward.errors import DataError


def named_index(table: Any) -> list[str]:
    """Return what to call the index of a DataFrame among the columns that go out as they are; [] where it only counts.

    Whole numbers without a name count rows, also where rows were left out, sorted or put together.
    """
    names = [str(name) for name in table.index.names if name is not None]
    if not len(table) or (table.index.dtype.kind in "iu" and not names):
        return []
    return [f"the index ({', '.join(names)})" if names else "the index"]


def without_attrs(table: Any) -> Any:
    """Return a DataFrame without its ``attrs`` and metadata of its types, which may hold anything, such as true bounds."""
    table.attrs = {}
    import pyarrow as pa

    for at, (name, dtype) in enumerate(zip(table.columns, table.dtypes, strict=True)):
        kind = getattr(dtype, "pyarrow_dtype", None)
        if kind is not None and not (stripped := _bare(kind, str(name))).equals(kind, check_metadata=True):
            plain = pa.chunked_array(pa.array(table.iloc[:, at].array)).cast(stripped)
            table.isetitem(at, type(table.iloc[:, at].array)(plain))
    return table


def bare(table: Any) -> Any:
    """Return a pyarrow Table with its columns and without metadata of the table and its fields, which may hold anything.

    Raises:
        DataError: see `bare_schema`.
    """
    import pyarrow as pa

    schema = bare_schema(table.schema)
    arrays = [
        column if column.type.equals(kind, check_metadata=True) else column.cast(kind)
        for column, kind in zip(table.columns, schema.types, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def bare_schema(schema: Any) -> Any:
    """Return a schema of Arrow without metadata.

    Raises:
        DataError: naming the first column of whose type it is not known where it holds metadata.
    """
    import pyarrow as pa

    return pa.schema([pa.field(each.name, _bare(each.type, each.name), each.nullable) for each in schema])


def _bare(kind: Any, name: str) -> Any:
    """Return a type whose inner fields have no metadata.

    Args:
        kind: a type of Arrow.
        name: the column's.

    Raises:
        DataError: it is not known where the type holds metadata.
    """
    import pyarrow as pa

    def inner(one: Any) -> Any:
        return pa.field(one.name, _bare(one.type, name), one.nullable)

    is_a = pa.types
    if isinstance(kind, pa.BaseExtensionType) and kind.extension_name in {"arrow.uuid", "arrow.bool8"}:
        return kind
    if is_a.is_dictionary(kind) or is_a.is_run_end_encoded(kind):
        value = kind.value_type  # another object each time that it is asked for
        if _bare(value, name) is value:
            return kind
    elif not isinstance(kind, pa.BaseExtensionType):
        if not is_a.is_nested(kind):
            return kind
        if is_a.is_struct(kind):
            return pa.struct([inner(kind.field(k)) for k in range(kind.num_fields)])
        if is_a.is_fixed_size_list(kind):
            return pa.list_(inner(kind.value_field), kind.list_size)
        if is_a.is_map(kind):
            return pa.map_(inner(kind.key_field), inner(kind.item_field), keys_sorted=kind.keys_sorted)
        for is_it, made in (
            (is_a.is_list, pa.list_),
            (is_a.is_large_list, pa.large_list),
            (is_a.is_list_view, pa.list_view),
            (is_a.is_large_list_view, pa.large_list_view),
        ):
            if is_it(kind):
                return made(inner(kind.value_field))
    raise DataError(
        f"The column '{name}'",
        "types of its kind may hold metadata, such as bounds of the true values, that would be published unseen",
        "Leave the column out, or convert it to a plain type (its storage type)",
    )
