# SPDX-License-Identifier: Apache-2.0
"""The notions that a spec can name, and how one is made from the keys of ``[protect]``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from leeward.errors import InputError, SpecError, nearest
from leeward.exact._real import Exact
from leeward.notion import (
    BoundedDP,
    Graded,
    GradedFacts,
    Notion,
    Presence,
    ReplaceDP,
)
from leeward.notion._metric import Manhattan, Maximum, NormalisedManhattan
from leeward.notion._named import NAMED
from leeward.query._statistic import Statistic

GRADED: dict[str, Callable[[Exact, Exact], Notion]] = {"graded": Graded, "graded-facts": GradedFacts}

NUMBER_NOTIONS: dict[str, type[Notion]] = {
    "manhattan": Manhattan,
    "normalised-manhattan": NormalisedManhattan,
    "maximum": Maximum,
    "hamming": ReplaceDP,
    **{name: kind for name, kind in NAMED.items() if kind is not Presence},
}
"""What a question about numbers may be asked under: all that comparisons name, and the metric notions."""


def named(known: Mapping[str, type[Notion]], name: str) -> type[Notion]:
    """Return the notion of a name."""
    if name not in known:
        raise SpecError(
            f'[protect] notion = "{name}"', "there is no such notion for this question", nearest(name, known)
        )
    return known[name]


def number_notion(name: str, asked: Statistic, epsilon: str, unit: str | None) -> Notion:
    """Return a notion for one number a person; the metric ones know the universe of the numbers and the unit of ε."""
    kind = named(NUMBER_NOTIONS, name)
    if name == "hamming" and asked.people is not None:
        return BoundedDP(epsilon)  # Hamming distance between tables with as many numbers
    if not issubclass(kind, Manhattan):
        if unit is not None:
            raise SpecError("[protect] unit", "this notion does not measure how far a number moves", "Leave it out")
        return kind(epsilon)
    if asked.values is None:
        raise SpecError(
            "A metric notion for a histogram of groups", "no two groups are nearer than others", 'Use notion = "dp"'
        )
    if kind is NormalisedManhattan:
        if unit is not None:
            raise SpecError("[protect] unit", "ε is about the largest change a number can make here", "Leave it out")
        return NormalisedManhattan(epsilon, asked.values, nobody=asked.people is None)
    metric: Any = kind  # Manhattan or Maximum: the two that take a unit
    described = {"unit": "1" if unit is None else unit, "nobody": asked.people is None}
    try:
        metric("1", asked.values, **described)
    except InputError as error:
        raise SpecError(
            f'[protect] unit = "{unit}"', error.because, 'Write, say, unit = "10 W" or unit = "1"'
        ) from None
    made: Notion = metric(epsilon, asked.values, **described)
    return made
