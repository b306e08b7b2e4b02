# SPDX-License-Identifier: Apache-2.0
"""Where a table is, held so that nothing shows its rows: not a repr, not a notebook, not a pickle, not a copy."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from leeward._plain import shown, told
from leeward.errors import RefusedError

_SHOWN = 3
"""So many files are named in a repr."""


class Source:
    """A table: a path, a glob, a list of these; or a table in memory (a DataFrame, an Arrow or Ibis table).

    A table in memory is a private one, and questions about it are shown, saved and passed on. So its ``repr`` names files,
    and of a table in memory only the kind; copies share the table; and it refuses to be pickled, which would write its rows.
    """

    __slots__ = ("_held",)

    def __init__(self, given: object) -> None:
        held = given.held() if isinstance(given, Source) else given
        self._held: Callable[[], Any] = lambda: held

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

    def __repr__(self) -> str:
        if self.in_memory:
            return f"<{told(self.held())} in memory>"
        held = self.held()
        if isinstance(held, str | os.PathLike):
            return _named(held)
        more = f", and {len(held) - _SHOWN} more" if len(held) > _SHOWN else ""
        return f"[{', '.join(_named(one) for one in held[:_SHOWN])}{more}]"

    def __copy__(self) -> Source:
        return self

    def __deepcopy__(self, _: object) -> Source:
        return self

    def __reduce__(self) -> tuple[type[Source], tuple[Any]]:
        if self.in_memory:
            raise RefusedError(
                f"A pickle of a question about {self!r}",
                "it would hold the rows of a private table",
                "Write the table to a file of your own, and ask about the file: its name is all that is kept",
            )
        return type(self), (self.held(),)


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
    """Whether two sources are the same files, or the same table in memory."""
    mine, theirs = one.held(), other.held()
    if one.in_memory or other.in_memory:
        return mine is theirs
    return [os.fspath(file) for file in _listed(mine)] == [os.fspath(file) for file in _listed(theirs)]


def _listed(held: Any) -> list[Any]:
    return list(held) if isinstance(held, list | tuple) else [held]
