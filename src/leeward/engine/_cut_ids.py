# SPDX-License-Identifier: Apache-2.0
"""Ids whose last digits a program took away that took them for numbers: 1.23457E+11 is what a spreadsheet writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from leeward.engine._bound import Bound
from leeward.errors import DoubtfulDataError

_CUT: Final = r"^[+-]?[0-9]+([.,][0-9]+)?[eE]\+[0-9]+$"

_LOOKED_AT: Final = 1_000_000
"""So many rows are looked at: where one id is written so, all long ones are."""


def refuse_cut(bound: Bound, columns: Mapping[str, str]) -> None:
    """Refuse texts that are whole numbers of which the last digits are lost: several people, or places, are one.

    Raises:
        DoubtfulDataError: there is one among the first rows. For the curator only.
    """
    rows = bound.rows
    for role, name in columns.items():
        if not rows[name].type().is_string():
            continue
        some = rows.select(id=rows[name]).limit(_LOOKED_AT)
        (found,) = bound.fetch(some.aggregate(cut=some.id.re_search(_CUT).any())).to_pylist()
        if found["cut"]:
            raise DoubtfulDataError.stopping(
                f"{role} = '{name}'",
                "an id is written as spreadsheets write long numbers, 1.23457E+11: its last digits are lost, and several"
                " people or places are one",
                "Export the table anew from where it came, with that column as text",
                "ids are written so",
            )
