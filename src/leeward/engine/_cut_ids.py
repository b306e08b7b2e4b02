# SPDX-License-Identifier: Apache-2.0
"""Ids whose last digits a program took away that took them for numbers.

A spreadsheet writes 1.23457E+11 for a long number; and of one of more than 15 digits it keeps 15, and shows zeros behind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from leeward.engine._bound import Bound
from leeward.errors import DoubtfulDataError

if TYPE_CHECKING:
    import ibis.expr.types as ir

_CUT: Final = r"^[+-]?[0-9]+([.,][0-9]+)?[eE]\+[0-9]+$"
_LONG: Final = r"^[1-9][0-9]{15,}$"
_KEPT: Final = 15
_FILLED: Final = r"^[1-9][0-9]{14}0+$"
_FORMS: Final = {"cut": _CUT, "of": _LONG, "filled": _FILLED}

_LOOKED_AT: Final = 1_000_000
"""So many rows are looked at: where one id is written so, all long ones are."""

_SURE: Final = 6
"""So many zeros in place of digits are none by chance: that would be one in a million."""


def refuse_cut(bound: Bound, columns: Mapping[str, str]) -> None:
    """Refuse whole numbers of which the last digits are lost: several people, or places, are one.

    Raises:
        DoubtfulDataError: there is one among the first rows. For the curator only.
    """
    rows = bound.rows
    for role, name in columns.items():
        text = _digits(rows[name])
        if text is None:
            continue
        some = rows.select(id=text).limit(_LOOKED_AT)
        odd = some.filter(some.id.re_search(_CUT) | some.id.re_search(_LONG)).distinct()
        many = {name: odd.count(where=odd.id.re_search(form)) for name, form in _FORMS.items()}
        zeros = odd.id.re_search(_FILLED).ifelse(odd.id.length() - _KEPT, 0).sum()
        (found,) = bound.fetch(odd.aggregate(**many, zeros=zeros)).to_pylist()
        if found["cut"]:
            raise _lost(
                role, name, "an id is written as spreadsheets write long numbers, 1.23457E+11", "ids are written so"
            )
        if (found["zeros"] or 0) >= _SURE and found["filled"] > 0.9 * found["of"]:
            raise _lost(
                role,
                name,
                f"spreadsheets keep {_KEPT} digits of a number and write zeros behind them, and so end over nine in ten of"
                " its longer ids",
                "ids end so",
            )


def _digits(values: ir.Value) -> ir.StringValue | None:
    """Return ids as texts, in which whole numbers have all their digits; None where they are neither."""
    kind = values.type()
    if kind.is_floating():  # of 2⁵³ and more none are taken
        whole = (values.abs() < 2.0**53).ifelse(values.round(), None).cast("int64")
        return whole.cast("string")
    if kind.is_integer() or (kind.is_decimal() and not kind.scale):
        return values.cast("string")
    return values if kind.is_string() else None


def _lost(role: str, name: str, how: str, unless: str) -> DoubtfulDataError:
    return DoubtfulDataError.stopping(
        f"{role} = '{name}'",
        f"{how}: its last digits are lost, and several people or places are one",
        "Export the table anew from where it came, with that column as text",
        unless,
    )
