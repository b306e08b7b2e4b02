# SPDX-License-Identifier: Apache-2.0
"""One schema over all files of a table, by the types that the files themselves declare.

An engine that reads several files takes the columns and types of the first for those of all, and converts the rest in
silence: a date before a timestamp cuts times to days, a whole number before a float cuts fractions. So every column that is
read must have *one* declared type in all files, exactly; how a type is laid out in a file (the width of a decimal's bytes,
whether nulls are allowed, a dictionary) is not part of it. Columns that are not read may differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from leeward._plain import plain
from leeward.errors import DataError
from leeward.tables._columns import check_columns
from leeward.tables._csv import agreed_header
from leeward.tables._files import File, Queried
from leeward.tables._parquet import NOTED, declared
from leeward.tables._texts import delimiter_of
from leeward.tables._writing import DELIMITERS, PLAIN, Writing

_INEXACT = {f"decimal({digits}, {scale})" for digits in range(39, 77) for scale in range(digits + 1)}
"""Types that the engine reads as something else."""


def check_one_schema(
    kind: Queried, files: Sequence[File], columns: Mapping[str, str], writing: Writing = PLAIN
) -> None:
    """Refuse files that do not all have the columns asked for, each with one type.

    Args:
        kind: of the files; those of the others are read as one table, whose types are one.
        files: at least one.
        columns: what each column is for (a spec key, for messages) and its name.
        writing: how they are written.

    Raises:
        DataError: a file cannot be read, a column is missing, or a column has two types; the message names the files, the
            column and the types.
    """
    if kind not in ("parquet", "csv"):
        return
    known: dict[str, tuple[str, File]] = {}
    for file in files:
        schema = declared(file) if kind == "parquet" else [(name, "text") for name in _named(file, writing)]
        check_columns(
            columns, [name for name, _ in schema], file.name if len(files) > 1 else "", named=kind == "parquet"
        )
        types = dict(schema)
        for name in dict.fromkeys(columns.values()):
            if types[name] in _INEXACT:
                raise DataError(
                    f"The column '{name}' is of type {types[name]} in '{file.name}'",
                    "the engine would round its numbers to floats",
                    "Write it with at most 38 digits, or as text",
                )
            if types[name].startswith(NOTED):
                raise DataError(
                    f"The column '{name}' is of type {plain(types[name])} in '{file.name}'",
                    "Parquet stores it as something else, in a unit or a form that only a note of Arrow's says: the engine"
                    " would read that",
                    "Write it as a number in a unit of your choice, as a date or time, or as text",
                )
            of_first, first = known.setdefault(name, (types[name], file))
            if types[name] != of_first:
                raise DataError(
                    f"The column '{name}' is of type {of_first} in '{first.name}' and {types[name]} in '{file.name}'",
                    "one table has one type for each column, and a conversion would change values in silence",
                    "Write all files of the table with the same type",
                )
    for name, (of_all, first) in known.items():
        if of_all == "float16":
            raise DataError(
                f"The column '{name}' of '{first.name}' holds floats of 16 bits",
                "from 2,048 on they are not every whole number, so that several people or places may be one",
                "Write it from the start as whole numbers, as text, or as floats of 32 or 64 bits",
            )


def _named(file: File, writing: Writing) -> tuple[str, ...]:
    delimiter = delimiter_of(file, writing)
    header = agreed_header(file, delimiter)
    _refuse_other_delimiter(file, header, delimiter)
    if len(set(header)) == len(header) and all(header):
        return header
    if all(header):
        problem = ("its first line names a column twice", "Give each column a name of its own")
    elif not header[0] and all(header[1:]):
        problem = (
            "its first line has an empty name, for the first column",
            "Name it; pandas leaves it empty for an index, which to_csv(…, index=False) leaves out",
        )
    else:
        at = header.index("") + 1
        problem = (f"its first line has an empty name, for column {at}", "Name every column")
    raise DataError(f"The file '{file.name}'", *problem)


def _refuse_other_delimiter(file: File, header: Sequence[str], delimiter: str) -> None:
    """Refuse a first line of one name that holds another sign that separates columns."""
    others = [sign for sign in DELIMITERS if sign != delimiter and sign in header[0]]
    if len(header) == 1 and others:
        sign = "tab" if others[0] == "\t" else others[0]
        raise DataError(
            f"The file '{file.name}'",
            f"its first line has no {_CALLED[delimiter]}, and has {_CALLED[others[0]]}s",
            f'Say what separates its columns: delimiter = "{sign}"',
        )


_CALLED = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
