# SPDX-License-Identifier: Apache-2.0
"""Personalised privacy: every person has their own ε (Chen et al. 2025, as *One-Sided Differential Privacy* reports it)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leeward._taught import public_list, taught
from leeward.errors import InputError
from leeward.exact._real import Exact, Real
from leeward.notion._change import Change
from leeward.notion._notion import EPSILON, Notion, Step, one_person_apart
from leeward.notion._sees import Sees


@taught
class Personalised(Notion):
    """A notion in which person i has ε_i. Any notion that is a sum over persons can be personalised.

    Noise for everybody at once must serve the person with the smallest ε, so sensitivities follow that one; the others get
    more protection than they asked for. Where people perturb their own records, each is drawn at its own person's ε, and the
    reports together (`leeward.mechanism.FiniteMechanism.product`) keep exactly this: the distance is a sum over persons, and
    independent draws multiply. Who has which ε is public: if it followed from the record, it would tell the record.

    Args:
        notion: the promise; its own ε is not used.
        epsilons: ε of each person, in the order of the table.
    """

    name = "personalised"

    def __init__(self, notion: Notion, epsilons: Iterable[Exact]) -> None:
        self.persons = tuple(
            notion.with_epsilon(epsilon) for epsilon in public_list("epsilons", epsilons, in_order=True)
        )
        if isinstance(notion, Personalised):
            raise InputError(
                f"{notion}, personalised",
                "each person in it has an ε already",
                "Personalise the notion that it is made of",
            )
        if not notion.sums_over_persons:
            raise InputError(
                f"{notion}, personalised", "it is not a sum over persons", "Use a notion whose unit is a person"
            )
        if not self.persons:
            raise InputError("Personalised privacy for nobody", "there is no ε in it", "Give one ε a person")
        super().__init__(max(person.epsilon for person in self.persons))
        self.per_person = tuple(person.per_person for person in self.persons)  # type: ignore[misc]
        words = notion.with_epsilon(
            self.epsilon
        ).words  # prices written as numbers are those of whoever has the largest
        own = (
            "an ε of their own, at most ε" if EPSILON.search(words.definition) else "prices of their own, at most these"
        )
        protects, public, which = words.protects.partition("; the number of people")  # which is about all of them
        self.words = replace(
            words,
            definition=f"{words.definition}, each person at {own}",
            protects=f"{protects}, each person up to {own.partition(',')[0]}{public}{which}",
        )

    def record(self, before: object, after: object) -> Real:
        """Refuse: the price depends on whose record it is.

        Raises:
            InputError: always; ask ``persons[i].record``, or the distance between two tables.
        """
        raise InputError(
            "The distance of one record under personalised ε", "it depends on the person", "Ask persons[i].record(…)"
        )

    def neighbours(self, tables: Iterable[Any]) -> NDArray[np.bool_]:
        """Return which ordered pairs of tables are one person's step apart, each at that person's own ε."""
        return one_person_apart(tables, lambda person, before, after: self.persons[person].one_step(before, after))

    @property
    def sees(self) -> Sees:
        """What the notion sees of each person."""
        return self.persons[0].sees

    @property
    def changes(self) -> tuple[Change, ...]:
        """Those of the notion."""
        return self.persons[0].changes

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps of every person: the smallest ε decides what noise is allowed."""
        return tuple(dict.fromkeys(step for person in self.persons for step in person.steps))

    def cost(self, change: Change) -> Real:
        """Return the price for the person with the largest ε."""
        return max(person.cost(change) for person in self.persons)

    def with_epsilon(self, epsilon: Exact) -> Notion:
        """Return the same notion with every ε scaled so that the largest is the given one."""
        return Personalised(self.persons[0], [p.epsilon * epsilon / self.epsilon for p in self.persons])

    def __str__(self) -> str:
        return f"Personalised({type(self.persons[0]).__name__}, {len(self.persons)} persons, at most {self.epsilon})"


def persons_of(promise: object) -> tuple[Notion, ...] | None:
    """Return the promises to each person, one by one; None where all have the same."""
    return promise.persons if isinstance(promise, Personalised) else None
