# SPDX-License-Identifier: Apache-2.0
"""Where a table is, held so that nothing shows its rows: not a repr, not a notebook, not a pickle, not a copy.

Beside it stands what the table does not say of itself: which one of a file is meant, and how its texts are written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from leeward._plain import echo, shown
from leeward._postgres import resolve_table
from leeward._spark import Spark as Spark
from leeward._taught import taught
from leeward.errors import RefusedError, SpecError, check_choice
from leeward.tables._given import Given
from leeward.tables._writing import Writing

#: Microseconds in each unit an integer epoch may have.
TIME_UNITS: Mapping[str, int] = {"s": 1_000_000, "ms": 1_000, "us": 1}

_SHOWN = 3
"""So many files are named in a repr."""


@taught
class Source:
    """A table: a path, a glob, a list of these; or a table in memory (a DataFrame, an Arrow or Ibis table).

    Where a description of a table takes a source, a path or a table in memory alone will do. A `Source` says what else has
    to be said of it: ``lw.visits(lw.query.Source("visits.csv", delimiter=";"), person="user", …)``.

    A table in memory is a private one, and questions about it are shown, saved and passed on. So its ``repr`` names files,
    and of a table in memory only the kind; copies share the table; and it refuses to be pickled, which would write its rows.

    Args:
        given: the path, glob, list, address or table. A relative path is relative to the working directory of now, not of
            when the table is read.
        table: the name of the table inside a DuckDB file or a database, or of the sheet in a workbook.
        delimiter: what separates the columns of a file of text, where its name does not say it: ``","``, ``";"``, ``"tab"``
            or ``"|"``.
        encoding: of a file of text that is not UTF-8.
        decimal: the decimal mark of numbers that are texts.
        time_format: how times that are texts are written, such as ``"dd/mm/yyyy HH:MM"``; the page on the spec describes it.
        time_unit: ``s``, ``ms`` or ``us``: the time column holds integers since 1970 in UTC.

    Attributes:
        table: as given.
        writing: how its texts are written, where it does not say so itself.
        time_unit: as given.

    Raises:
        SpecError: an argument is not known, or two of them are about one thing.
    """

    __slots__ = ("_held", "table", "time_unit", "writing")

    def __init__(
        self,
        given: Given | Source,
        *,
        table: str | None = None,
        delimiter: str | None = None,
        encoding: str | None = None,
        decimal: str | None = None,
        time_format: str | None = None,
        time_unit: str | None = None,
    ) -> None:
        if time_unit is not None:
            check_choice("time_unit", time_unit, TIME_UNITS, "it is not a unit of integer times", error=SpecError)
        if time_unit is not None and time_format is not None:
            raise SpecError(
                "Both time_unit and time_format",
                "one is for whole numbers and the other for texts",
                "Leave one of them out",
            )
        self.table, self.time_unit = table, time_unit
        self.writing = Writing(delimiter, encoding, decimal, time_format)
        held = resolve_table(given)
        self._held: Callable[[], Any] = lambda: held

    @classmethod
    def of(cls, given: Given | Source) -> Source:
        """Return the source that is given, or that of a path or a table in memory."""
        return given if isinstance(given, Source) else cls(given)

    def held(self) -> Any:
        """Return what was given, to read it."""
        return self._held()

    @property
    def in_memory(self) -> bool:
        """Whether this is a table and not the names of files."""
        held = self.held()
        return not isinstance(held, str | os.PathLike) and not (
            isinstance(held, list | tuple) and all(isinstance(one, str | os.PathLike) for one in held)
        )

    def said(self) -> dict[str, str]:
        """Return what is said of it, by the names of the arguments."""
        said = {"table": self.table, **self.writing.said(), "time_unit": self.time_unit}
        return {key: value for key, value in said.items() if value is not None}

    def __repr__(self) -> str:
        said = "".join(f", {key}={shown(value)!r}" for key, value in self.said().items())
        return f"Source({self._where()}{said})" if said else self._where()

    def _where(self) -> str:
        if self.in_memory:
            return f"<{echo(self.held())} in memory>"
        held = self.held()
        if isinstance(held, str | os.PathLike):
            return _named(held)
        more = f", and {len(held) - _SHOWN} more" if len(held) > _SHOWN else ""
        return f"[{', '.join(_named(one) for one in held[:_SHOWN])}{more}]"

    def __copy__(self) -> Source:
        return self

    def __deepcopy__(self, _: object) -> Source:
        return self

    def __reduce__(self) -> tuple[Callable[..., Source], tuple[Any, dict[str, str]]]:
        if self.in_memory:
            raise RefusedError(
                f"A pickle of a question about {self!r}",
                "it would hold the rows of a private table",
                "Write the table to a file of your own, and ask about the file: its name is all that is kept",
            )
        return _again, (self.held(), self.said())


def _again(held: Any, said: Mapping[str, str]) -> Source:
    return Source(held, **said)


def _named(file: str | os.PathLike[str]) -> str:
    return f"'{shown(os.fspath(file))}'"


def alike(one: Any, other: Any) -> bool:
    """Whether two descriptions are of one table, with the same columns: of the same files, or the same table in memory."""
    return type(one) is type(other) and all(
        _same(getattr(one, part.name), getattr(other, part.name)) for part in fields(one)
    )


def _same(one: Any, other: Any) -> bool:
    return same_source(one, other) if isinstance(one, Source) and isinstance(other, Source) else bool(one == other)


def same_source(one: Source, other: Source) -> bool:
    """Whether two sources are the same files, or the same table in memory, written in the same way."""
    if one.said() != other.said():
        return False
    mine, theirs = one.held(), other.held()
    if one.in_memory or other.in_memory:
        return mine is theirs
    return [os.fspath(file) for file in _listed(mine)] == [os.fspath(file) for file in _listed(theirs)]


def _listed(held: Any) -> list[Any]:
    return list(held) if isinstance(held, list | tuple) else [held]
