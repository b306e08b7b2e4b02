# SPDX-License-Identifier: Apache-2.0
"""What holds rows of a private table, or facts about them: nothing shows, saves or sends it by accident, errors included."""

from __future__ import annotations

import csv
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn, Self

from leeward._encodings import unfit
from leeward.errors import DataError, LeewardError, RefusedError


class Private:
    """An object that holds rows of a private table, or facts about them.

    What a notebook or a log prints of it is its kind; a pickle, which would carry it off the curator's machine, is refused;
    a copy is the thing itself. Its attributes hold what they hold: who reads them does so on purpose. They are slots, so
    that there is no dict of them to print.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: for the curator only>"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _: object) -> Self:
        return self

    def __reduce_ex__(self, _: object) -> NoReturn:
        raise RefusedError(
            f"A pickle of a {type(self).__name__}",
            "it holds rows of a private table, or facts about them that no promise covers",
            "Keep it on this machine; what may be published is a Release",
        )


@contextmanager
def reading(
    table: str, instead: str = "Check it by reading it with the tool that wrote it", *, writes: bool = False
) -> Iterator[None]:
    """Say in plain words that a table cannot be read, whatever a library says of it: that message may repeat rows.

    Errors of ours pass, and so do those that no table can be the cause of.

    Args:
        table: what is read, such as ``The file 'a.csv'``.
        instead: what to do.
        writes: whether another file is written meanwhile: what the system complains of is then that file, and passes.

    Raises:
        DataError: it cannot be read as what it should be.
    """
    try:
        yield
    except LeewardError:
        raise
    except Exception as error:
        if writes and isinstance(error, OSError):
            raise
        because = _because(error)
        if because == _UNFIT and not table.startswith("The file"):
            because = "a column holds something else than is asked of it, or is of a type that is not read"
        if because is None:
            raise
        raise DataError(f"{table} cannot be read", because, instead) from None


def _because(error: Exception) -> str | None:
    """Say what is wrong with a table; None for an exception that no table causes."""
    match error:
        case MemoryError():
            return "it does not fit into memory"
        case RecursionError():
            return "its parts lie too deep in one another"
        case UnicodeDecodeError():
            return unfit(error.object) or "it is not text in UTF-8"
        case OSError():
            return os.strerror(error.errno) if error.errno else "it is not what its name says"
        case EOFError() | zlib.error():
            return "it is damaged, or was cut short"
        case ValueError() | TypeError() | ArithmeticError() | csv.Error():
            return _UNFIT
    libraries = {kind.__module__.partition(".")[0] for kind in type(error).__mro__}
    return _UNFIT if libraries & {"pyarrow", "shapely", "pyproj"} else None


_UNFIT = "it is damaged, not what its name says, or a column holds something else than is asked of it"
