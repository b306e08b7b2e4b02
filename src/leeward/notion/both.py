"""One output that keeps two promises at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leeward.distance import SumOverPersons, both_hold
from leeward.errors import InputError
from leeward.notion.base import Notion, Words, seen_by
from leeward.notion.change import INSERT, WITHDRAW, Change
from leeward.notion.sees import Sees
from leeward.real import Exact, Real


class Both(Notion):
    """The promise of an output that keeps two others: the closure of the smaller of their distances.

    Made by `leeward.both_hold`. Its steps are the steps of both.
    """

    name = "both"

    def __init__(self, first: Notion, second: Notion) -> None:
        self.first, self.second = first, second
        super().__init__(max(first.epsilon, second.epsilon))
        self.per_person = both_hold(_records(first), _records(second))
        one, two = first.words, second.words
        self.words = Words(
            definition=f"{one.definition}; and {two.definition}",
            shelters=f"{one.shelters}; and {two.shelters}",
            exposes=one.exposes and two.exposes and f"only what both of these say: {one.exposes}; {two.exposes}",
            cover=f"{one.cover}, or {two.cover}",
            unit=one.unit,
        )

    def record(self, before: Any, after: Any) -> Real:
        """Refuse: the cheapest way may lead over a third record.

        Raises:
            InputError: always; take the notion ``.on`` the tables of a finite universe.
        """
        return self.per_person(before, after)  # type: ignore[operator]

    def neighbours(self, tables: Iterable[Any]) -> NDArray[np.bool_]:
        """Refuse: a step of one notion may be a chain of steps of the other, so each has an (ε, δ)-promise of its own.

        Raises:
            InputError: always.
        """
        raise InputError(
            f"δ under {self}", "each of the two notions has neighbours of its own", "Verify each of them with its δ"
        )

    @property
    def sees(self) -> Sees:
        """What either of the two sees."""
        return seen_by(self.first).beside(seen_by(self.second))

    @property
    def changes(self) -> tuple[Change, ...]:
        """The steps of both."""
        return tuple(dict.fromkeys(self.first.changes + self.second.changes))

    def cost(self, change: Change) -> Real:
        """Return the cheaper of both, or of taking the person out and putting them back in."""
        around = [min(self.first.cost(kind), self.second.cost(kind)) for kind in (WITHDRAW, INSERT)]
        return min(self.first.cost(change), self.second.cost(change), around[0] + around[1])

    def with_epsilon(self, epsilon: Exact) -> Notion:
        """Return the same promises scaled so that the larger ε is the given one."""
        return Both(*(n.with_epsilon(n.epsilon * epsilon / self.epsilon) for n in (self.first, self.second)))

    def __str__(self) -> str:
        return f"Both({self.first}, {self.second})"


def _records(notion: SumOverPersons) -> Any:
    if isinstance(notion.per_person, tuple | list):
        raise InputError(
            f"both_hold with {notion}", "each person has their own distance in it", "Take both .on(tables)"
        )
    return notion.per_person
