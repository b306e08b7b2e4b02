# SPDX-License-Identifier: Apache-2.0
"""Tables in memory that are changed and given back: a DataFrame or a pyarrow Table goes in, the same kind comes out."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leeward._optional import optional
from leeward._private import Private, reading
from leeward.errors import InputError
from leeward.tables._bare import Rows, bare, bare_frame, named_index


class Frame(Private, abc.ABC):
    """A table in memory.

    Args:
        held: the table itself.
    """

    __slots__ = ("held",)

    def __init__(self, held: Any) -> None:
        self.held = held

    @property
    @abc.abstractmethod
    def names(self) -> list[str]:
        """The names of its columns."""

    def others(self, taken: Sequence[str]) -> list[str]:
        """Return what else goes out with a copy of it: the columns but these, and an index that says something."""
        return [name for name in self.names if name not in taken]

    @abc.abstractmethod
    def arrow(self, names: Sequence[str]) -> Any:
        """Return some of its columns as a pyarrow Table."""

    @abc.abstractmethod
    def copied(self, rows: Rows | None, without: Sequence[str]) -> Frame:
        """Return a copy of some rows, or of all, without what nobody named.

        Args:
            rows: which rows; None for all.
            without: columns of which nothing is copied: what they hold is to be `put`.

        Raises:
            DataError: a column cannot be passed on.
        """

    @abc.abstractmethod
    def has_numbers(self, name: str) -> bool:
        """Whether a column is one of numbers."""

    @abc.abstractmethod
    def may_be_whole(self, name: str, there: NDArray[np.bool_]) -> bool:
        """Whether whole numbers may be put in the place of a column as such."""

    @abc.abstractmethod
    def put(self, name: str, values: NDArray[Any], there: NDArray[np.bool_]) -> None:
        """Put numbers in the place of a column; missing where they are not there."""


class ArrowFrame(Frame):
    """A pyarrow Table."""

    __slots__ = ()

    @property
    def names(self) -> list[str]:
        return [str(name) for name in self.held.column_names]

    def arrow(self, names: Sequence[str]) -> Any:
        return self.held.select(list(names))

    def copied(self, rows: Rows | None, without: Sequence[str]) -> ArrowFrame:
        return ArrowFrame(bare(self.held, rows))  # each column lies in memory of its own, and goes with it

    def has_numbers(self, name: str) -> bool:
        return is_number(self.held.schema.field(name).type)

    def may_be_whole(self, name: str, there: NDArray[np.bool_]) -> bool:
        import pyarrow as pa

        kind = self.held.schema.field(name).type
        # of text it is not known what the numbers are, but whole ones can be written
        return bool(pa.types.is_integer(kind) or pa.types.is_large_string(kind))

    def put(self, name: str, values: NDArray[Any], there: NDArray[np.bool_]) -> None:
        import pyarrow as pa

        made = pa.array(values, mask=~there)
        self.held = self.held.set_column(self.held.column_names.index(name), pa.field(name, made.type), made)


class PandasFrame(Frame):
    """A DataFrame of pandas."""

    __slots__ = ()

    @property
    def names(self) -> list[str]:
        return [str(name) for name in self.held.columns]

    def others(self, taken: Sequence[str]) -> list[str]:
        return super().others(taken) + named_index(self.held)

    def arrow(self, names: Sequence[str]) -> Any:
        import pyarrow as pa

        held = {}
        for name in names:
            with reading(f"The column '{name}'", "Give it one type that Arrow knows"):
                held[name] = pa.chunked_array([pa.array(_told_in_full(self._column(name)), from_pandas=True)])
        return pa.table(held)

    def copied(self, rows: Rows | None, without: Sequence[str]) -> PandasFrame:
        return PandasFrame(bare_frame(self.held, rows, [self.names.index(name) for name in without]))

    def has_numbers(self, name: str) -> bool:
        return getattr(self._column(name).dtype, "kind", "O") in "iuf"

    def may_be_whole(self, name: str, there: NDArray[np.bool_]) -> bool:
        return self._column(name).dtype.kind in "iu" and bool(there.all())

    def put(self, name: str, values: NDArray[Any], there: NDArray[np.bool_]) -> None:
        self.held.isetitem(self.names.index(name), values if there.all() else np.where(there, values, np.nan))

    def _column(self, name: str) -> Any:
        return self.held.iloc[:, self.names.index(name)]  # the label may be no text


def is_number(kind: object) -> bool:
    """Whether a type of Arrow is one of numbers."""
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def told_in_full(frame: Any) -> Any:
    """Return a DataFrame of pandas of whose columns Arrow is told all; the same one where it is anyhow."""
    changed = dict[Any, Any]()
    for name, column in frame.items():
        if (made := _told_in_full(column)) is not column:
            changed[name] = made
    return frame.assign(**changed) if changed else frame


def _told_in_full(column: Any) -> Any:
    """Return a column of pandas of which Arrow is told all.

    It is told nothing of sparse ones; nor, by pandas before 3, of the zone of times that are categories: 09:00 in Tokyo
    would become the reading 00:00.
    """
    if hasattr(column.dtype, "fill_value"):
        return column.sparse.to_dense()
    inner = getattr(getattr(column.dtype, "categories", None), "dtype", None)
    return column if getattr(inner, "tz", None) is None else column.astype(inner)


def kinds_of(table: Any) -> set[str]:
    """Return the native types of an object, those that its class is made of too, as ``library.Name``."""
    return {f"{cls.__module__.partition('.')[0]}.{cls.__name__}" for cls in type(table).__mro__}


def frame_of(table: Any, *, known: str = "a DataFrame or a pyarrow Table is", instead: str = "Convert it") -> Frame:
    """Return a table in memory by its native type.

    Args:
        table: the table.
        known: what else the caller reads, in the words of a refusal.
        instead: what to give instead of another one.

    Raises:
        InputError: it is neither a DataFrame of pandas nor a pyarrow Table.
    """
    kinds = kinds_of(table)
    if "pandas.DataFrame" in kinds:
        return PandasFrame(optional("pandas", "A DataFrame of pandas").DataFrame(table))
    if "pyarrow.Table" in kinds:
        return ArrowFrame(table)
    raise InputError(f"A table of type {type(table).__name__}", f"only {known} read", instead)
