# SPDX-License-Identifier: Apache-2.0
"""Releases of several windows of one question, as one table and one document."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from leeward._buffers import repeated
from leeward._statement import WindowsStatement, window_of
from leeward.report import Readable


def answers_of_windows(releases: Sequence[Readable]) -> pa.Table:
    """Return the answers of all windows as one table: ``window_start``, ``window_end``, and what each answer has.

    A column of the answers that is called so itself stays, and the other one gets an underscore.
    """
    names = set(releases[0].answers.column_names)
    start, end = (name + "_" * (name in names) for name in ("window_start", "window_end"))
    tables = []
    for one in releases:
        window, size = window_of(one.statement), one.answers.num_rows
        ends = {start: window.start, end: window.end}
        columns = {name: repeated(text, size) for name, text in ends.items()}
        tables.append(pa.table({**columns, **{name: one.answers[name] for name in one.answers.column_names}}))
    return pa.concat_tables(tables, promote_options="default")


def statement_of_windows(releases: Sequence[Readable]) -> WindowsStatement:
    """Return the statements of all windows as one document."""
    return WindowsStatement(format=1, windows=tuple(one.statement for one in releases))
