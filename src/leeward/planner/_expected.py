# SPDX-License-Identifier: Apache-2.0
"""What a release would say, if so many places held so many people: expectations from public or assumed counts."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from math import sqrt
from numbers import Integral
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from leeward._document import Part
from leeward._plain import echo, shown
from leeward.errors import InputError
from leeward.exact._weight import Weight
from leeward.mechanism import AdaptiveSanitized, Sanitized
from leeward.mechanism._calibration import least_multiple
from leeward.mechanism._looks import LargestLook
from leeward.mechanism._random_order import reached
from leeward.mechanism._threshold_rule import CountNoise, Word
from leeward.planner._decisions import Decisions
from leeward.tables._csv import small_records

Counts = Mapping[int, int]
"""How many places hold how many people: ``{0: 4101, 1: 214, 2: 11}``. Public, or assumed; never taken from the data."""


class ExpectedAnswers(Part):
    """What is to be expected.

    Attributes:
        answered: how many places are answered, on average.
        safe: how many safe places are called safe, on average.
        truly_safe: how many there are; None if nothing is called safe.
        wrongly_safe: how many places that are not safe are called safe, on average.
        dangerous: how many dangerous places are called dangerous, on average.
        truly_dangerous: how many there are; None if nothing is called dangerous.
        wrongly_dangerous: how many others are, on average.
        spread: the standard deviation of how many are called safe, where places are decided independently; else None.
    """

    answered: float
    safe: float
    truly_safe: int | None
    wrongly_safe: float
    dangerous: float
    truly_dangerous: int | None
    wrongly_dangerous: float
    spread: float | None

    @property
    def right(self) -> float:
        """How many places are rightly called safe or dangerous, on average."""
        return self.safe + self.dangerous

    def of(self, word: Word) -> tuple[float, int | None, float]:
        """Return how many places are rightly called so on average, how many there are, and how many are wrongly."""
        if word == "safe":
            return self.safe, self.truly_safe, self.wrongly_safe
        return self.dangerous, self.truly_dangerous, self.wrongly_dangerous


def expected_answers(decided: Decisions, counts: Counts, *, independent: bool = True) -> ExpectedAnswers:
    """Return what to expect where every place is answered; without independent noise of places there is no spread."""
    chances = {c: decided.probabilities(c) for c in counts}
    safe = {c: float(p.safe) for c, p in chances.items()}
    dangerous = {c: float(p.dangerous) for c, p in chances.items()}
    t = None if decided.safe is None else decided.safe.bound
    least = None if decided.dangerous is None else decided.dangerous.bound
    right, wrong = _split(safe, counts, {c for c in counts if t is not None and c <= t})
    found, false = _split(dangerous, counts, {c for c in counts if least is not None and c >= least})
    variance = sum(n * safe[c] * (1 - safe[c]) for c, n in counts.items())
    return ExpectedAnswers(
        answered=float(sum(counts.values())),
        safe=right,
        truly_safe=None if t is None else sum(n for c, n in counts.items() if c <= t),
        wrongly_safe=wrong,
        dangerous=found,
        truly_dangerous=None if least is None else sum(n for c, n in counts.items() if c >= least),
        wrongly_dangerous=false,
        spread=sqrt(variance) if independent else None,
    )


def expected_answers_stopping(mechanism: Sanitized | AdaptiveSanitized, counts: Counts) -> ExpectedAnswers:
    """Return what to expect of a mechanism that stops if the places come in a random order."""
    looks, t = _looks(mechanism)
    answered = _answered(mechanism, counts)
    return ExpectedAnswers(
        answered=float(answered.sum()),
        safe=float(answered @ [float(looks.cdf(t - c)) for c in counts]),
        truly_safe=sum(number for c, number in counts.items() if c <= t),
        wrongly_safe=0.0,
        dangerous=0.0,
        truly_dangerous=None,
        wrongly_dangerous=0.0,
        spread=None,
    )


def _answered(mechanism: Sanitized | AdaptiveSanitized, counts: Counts) -> NDArray[np.float64]:
    """Return how many places with each of these counts are answered before the stop, on average, in a random order."""
    looks, t = _looks(mechanism)
    costs, limit = mechanism.costs
    numbers = [*counts.values()]
    published = [[float(p) for p in looks.published(t - c)] for c in counts]
    return reached(numbers, published, costs, limit) * numbers


def _looks(mechanism: Sanitized | AdaptiveSanitized) -> tuple[LargestLook, int]:
    """Return every look at a count, of which the sanitized mechanism has one, and the threshold."""
    assert isinstance(mechanism.at_most, int)  # in a plan all places have one
    looks = mechanism.law if isinstance(mechanism, AdaptiveSanitized) else LargestLook((mechanism.law,), (0,))
    return looks, mechanism.at_most


def _split(chance: Mapping[int, float], counts: Counts, true: set[int]) -> tuple[float, float]:
    right = sum(n * chance[c] for c, n in counts.items() if c in true)
    return right, sum(n * chance[c] for c, n in counts.items()) - right


class Errors(Part):
    """How far a published count is from the truth, before clamping.

    Attributes:
        bias: the mean error.
        mean: the mean of |error|: the expected absolute loss.
        median: |error| is at most this with probability at least 1/2.
        most: |error| is at most this with probability at least 95 %.
    """

    bias: float
    mean: float
    median: int
    most: int


def errors(law: CountNoise) -> Errors:
    """Return the errors of one count under this noise."""

    def share(error: int) -> Weight:
        return law.cdf(error) - law.cdf(-error - 1)

    bias, mean = float(law.mean()), float(law.mean_absolute())  # type: ignore[attr-defined]
    return Errors(
        bias=bias, mean=mean, median=_least(lambda a: share(a) >= "1/2"), most=_least(lambda a: share(a) >= "0.95")
    )


def errors_above(mechanism: Sanitized | AdaptiveSanitized, counts: Counts | None) -> Errors:
    """Return the errors of a count that a mechanism that stops publishes: of one that came out above its threshold.

    Upward geometric noise has no memory: where a count c is not above what a look lets pass, it is published as the next
    above that, and by noise more; where it is, by noise alone. Each weighs as much as it is published there: as often as it
    is reached before the stop, which its own noise does not decide, and published then.
    """
    looks, t = _looks(mechanism)
    chances: dict[tuple[int, int], float] = {}
    known = counts or {0: 1}
    for c, answered in zip(known, _answered(mechanism, known), strict=True):
        for look, chance in enumerate(looks.published(t - c)):
            chances[c, look] = float(chance) * float(answered)
    total = sum(chances.values())
    if not total:  # too small for floats: what is nearest to t is what there is
        chances, total = {max(chances): 1.0}, 1.0
    above = {(c, look): max(t + looks.margins[look] + 1 - c, 0) for c, look in chances}

    def share(error: int) -> float:
        return sum(p * float(looks.laws[at[1]].cdf(error - above[at])) for at, p in chances.items()) / total

    means = [float(law.mean()) for law in looks.laws]
    mean = sum(p * (means[at[1]] + above[at]) for at, p in chances.items()) / total
    return Errors(
        bias=mean, mean=mean, median=_least(lambda a: share(a) >= 0.5), most=_least(lambda a: share(a) >= 0.95)
    )


def _least(often: Callable[[int], bool]) -> int:
    """Return the least error, from 0, that holds often enough."""
    return int(least_multiple(lambda a: often(int(a) - 1), 1)) - 1


def check_counts(counts: Counts) -> dict[int, int]:
    """Return counts as Python's own integers, whose sums and differences do not wrap as those of machine integers do."""
    if not isinstance(counts, Mapping):
        raise InputError(
            f"counts = a {type(counts).__name__}", "it does not say how many places hold how many people", _COUNTS
        )
    numbers: list[object] = [*counts.keys(), *counts.values()]
    if any(isinstance(n, bool) or not isinstance(n, Integral) or n < 0 for n in numbers):
        # none of them is shown: it may be data
        raise InputError("counts with a part that is not a whole number of at least 0", "they say how many", _COUNTS)
    read = {int(people): int(places) for people, places in counts.items()}
    if not any(read.values()):
        raise InputError("counts of no place", "nothing can be expected of them", _COUNTS)
    if sum(read.values()) > _MOST_PLACES:
        raise InputError("The counts", f"they describe over {_MOST_PLACES:,} places", "Give fewer")
    return read


_COUNTS = "Give, say, {0: 4101, 1: 214}"


def read_counts(text: str) -> dict[int, int]:
    """Read counts written as ``0:4101,1:214``, or a CSV file with the columns ``count`` and ``places``."""
    pairs = _pairs_of_file(Path(text)) if os.path.exists(text) else [tuple(p.split(":")) for p in text.split(",")]
    found: dict[int, int] = {}
    for pair in pairs:
        if (
            len(pair) != 2
            or not all(part.strip().isdecimal() and len(part) < 20 for part in pair)
            or int(pair[0]) in found
        ):
            raise InputError(
                f"The counts {echo(text)}",
                "they are not a list of how many places hold how many people",
                'Write, say, "0:4101,1:214,2:11", or name a CSV file with the columns count and places',
            )
        found[int(pair[0])] = int(pair[1])
    return check_counts(found)


def _pairs_of_file(file: Path) -> list[tuple[str, ...]]:
    try:
        names, *rows = small_records(file) or [[]]
    except ValueError as error:
        raise InputError(f"The counts '{shown(str(file))}'", str(error), "Its columns are count and places") from None
    found = [dict(zip(names, row, strict=False)) for row in rows]
    return [(row.get("count", ""), row.get("places", "")) for row in found]


_MOST_PLACES = 10_000_000
"""What is to be expected of more is not worth the memory that working it out takes."""
