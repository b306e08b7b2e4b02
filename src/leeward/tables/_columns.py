# SPDX-License-Identifier: Apache-2.0
"""The columns that somebody names: each is one column of the table, and no other one may be taken for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from leeward.errors import DataError, InputError, nearest_column, no_column


def check_columns(columns: Mapping[str, str], known: Iterable[object], where: str = "", *, named: bool = True) -> None:
    """Refuse a named column that a table does not have, or that two of its columns might be.

    The engine ignores the case of names, so two columns that differ only in it are one to it.

    Args:
        columns: what each column is for and its name.
        known: the names of the table's columns.
        where: the file that it is in, if there are several.
        named: the format names its columns; of a CSV file the first line may as well be data, and is not repeated.

    Raises:
        DataError: naming the first such column, and the nearest that the table has.
    """
    names = [name for name in known if isinstance(name, str)]
    lower = [name.lower() for name in names]
    for key, name in columns.items():
        if name not in names:
            problem = "there is no column of that name"
        elif names.count(name) > 1:
            problem = "two columns have that name"
        elif lower.count(name.lower()) > 1:
            problem = "another column's name differs from it only in upper and lower case"
        else:
            continue
        raise DataError(
            f"{key} = '{name}'",
            f"{problem} in the file '{where}'" if where else problem,
            nearest_column(name, names, in_first_line=not named) if name not in names else "Rename one of them",
        )


def check_named(names: Iterable[str], known: Sequence[str], *, in_first_line: bool = False) -> None:
    """Refuse a named column that a table does not have, or that two of its columns might be: each would go out as it is.

    Args:
        names: the names.
        known: how the labels of the table's columns read, which may be no texts: 0 and "0" are two columns that read alike.
        in_first_line: whether they were read from the first line of a file of text, which may be a row of data.

    Raises:
        InputError: a name is no text.
        DataError: naming the first such column.
    """
    for name in names:
        if not isinstance(name, str):
            raise InputError(
                f"A column named by a {type(name).__name__}", "columns are named by text", 'Write 0 as "0"'
            )
        if name not in known:
            raise no_column(name, known, in_first_line=in_first_line)
        if known.count(name) > 1:
            raise DataError(
                f"The column '{name}'", "two columns of the table have a name that reads so", "Rename one of them"
            )
