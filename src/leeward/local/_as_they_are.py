# SPDX-License-Identifier: Apache-2.0
"""Which of the columns beside a position or a reading go out as they are: a spec keeps some, or drops some, by name."""

from __future__ import annotations

from collections.abc import Sequence

from leeward._toml import Section
from leeward.errors import SpecError, no_column


class AsTheyAre(Section):
    """``keep_columns`` and ``drop_columns`` of a section: at most one of the two.

    Attributes:
        keep_columns: the columns that go out beside those that always do; None for all.
        drop_columns: the columns that do not go out; None for none.
    """

    keep_columns: list[str] | None = None
    drop_columns: list[str] | None = None

    def left_out(self, columns: Sequence[str], always: Sequence[str], *, in_first_line: bool = False) -> frozenset[str]:
        """Return the columns that do not go out.

        Args:
            columns: those that go out where nothing is said.
            always: those of them that go out in any case.
            in_first_line: whether the names were read from the first line of a file of text, which may be a row of data.

        Raises:
            SpecError: both keys are given, or one names a column twice, or one that goes out in any case.
            DataError: there is no such column.
        """
        if self.keep_columns is not None and self.drop_columns is not None:
            raise SpecError(
                "keep_columns and drop_columns", "each says what the other would", "Leave one of the two out"
            )
        key, named = (
            ("keep_columns", self.keep_columns) if self.drop_columns is None else ("drop_columns", self.drop_columns)
        )
        if named is None:
            return frozenset()
        for name in named:
            if name in always:
                raise SpecError(f"{key} with the column '{name}'", "it goes out in any case", "Do not name it there")
            if name not in columns:
                raise no_column(name, columns, in_first_line=in_first_line)
        if len(set(named)) < len(named):
            raise SpecError(f"{key} with the same column twice", "once says it", "Name it once")
        chosen = frozenset(named)
        return chosen if key == "drop_columns" else frozenset(columns) - chosen - set(always)
