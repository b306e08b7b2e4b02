# SPDX-License-Identifier: Apache-2.0
"""The columns that somebody names: each is one column of the table, and no other one may be taken for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from leeward.errors import DataError, nearest_column


def check_columns(columns: Mapping[str, str], known: Iterable[Any], where: str = "", *, named: bool = True) -> None:
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
