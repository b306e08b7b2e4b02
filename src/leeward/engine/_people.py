# SPDX-License-Identifier: Apache-2.0
"""How the rows of a table are shared among people: an id with very many rows may stand for all who are not known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from leeward._plain import counted
from leeward._private import Private
from leeward.engine._bound import Bound

if TYPE_CHECKING:
    import ibis.expr.types as ir

_FEW: Final = 0.01
_TIMES: Final = 10


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class People(Private):
    """Whom the rows name that pass the filter, at any time.

    Attributes:
        ids: how many ids there are.
        rows: how many rows name one.
        most: how many of them name the id that most do.
        next: how many name the id that comes next; 0 where there is none.
    """

    ids: int
    rows: int
    most: int
    next: int

    def said(self) -> str:
        """Say it, and what may be wrong where one id has far more rows than any other."""
        sentence = f"{counted(self.ids, 'id')}; the one with the most rows has {self.most:,} of {self.rows:,}"
        if self.ids > 1:
            sentence += f", the next {self.next:,}"
        if self.most > max(_FEW * self.rows, _TIMES * self.next) and self.ids > 1:
            sentence += (
                ". If it stands for people who are not known (0, -1, unknown), they count as one person, and where they are"
                " may be called safe: find out who they were, or leave the id empty: such rows are told"
            )
        return sentence


def people(bound: Bound, rows: ir.Table) -> People:
    """See how rows are shared among people.

    Args:
        bound: where they are.
        rows: an Ibis table with the columns ``kept`` and ``person``.
    """
    of_somebody = rows.filter(rows.kept, rows.person.notnull())
    each = bound.staged("leeward_people", of_somebody.group_by("person").aggregate(rows=of_somebody.count()))
    (both,) = bound.fetch(each.aggregate(ids=each.count(), rows=each.rows.sum())).to_pylist()
    first = bound.fetch(each.select("rows").order_by(each.rows.desc()).limit(2))["rows"].to_pylist()
    most, after = (int(found) for found in (*first, 0, 0)[:2])
    return People(int(both["ids"]), int(both["rows"] or 0), most, after)
