# SPDX-License-Identifier: Apache-2.0
"""Is there one mechanism that is best for every consumer of a query? Yes with the mechanism, or no with two consumers.

A mechanism H on the answers of a query f is universally optimal (Chatzikokolakis et al., Definition 7, with the sign of a
loss) if no mechanism whose composition with f is d-private has a smaller expected loss, for any consumer: each has a prior,
a loss, and the best remap for both. By their Theorem 6 only `leeward.analysis.pushed` counts, the distance on answers.

Which consumers there are is part of the question:

* ``losses="any"``: every prior, every loss on the answers. Then there is one iff every answer y' has **at most one** y with
  y → y' irreducible (at finite distance, and no third answer strictly between). What privacy says of a column is a cone,
  whose facets are the irreducible pairs, and ``column ≥ 0`` at each answer that is nobody's alternative. Every private
  mechanism is a remap of one, H, iff the cone is simplicial, that is has as many facets as there are answers: the columns
  of H are then its extreme rays. If there are more rays, take a mechanism whose columns are independent ones. It alone is
  best for some consumer: losses that add up how far its columns are from the bounds that they meet. Another needs a ray
  it lacks.
* ``losses="monotone"``: every prior, and every loss on *numbers* that does not fall as the guess moves away from the truth
  on either side. There is one if there is one for any loss; and if the answers in their order are a path
  (`leeward.analysis._optimal._path`): the distance between any two is the sum of the steps between them, each of which may
  have two costs of its own.

No is proved by two consumers whom `leeward.analysis.shared` certifies to lose something by sharing any mechanism. They are
searched for; if none is found, it is not known, and that is said.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Real as Number
from typing import Any, Literal, TypeVar, get_args

from leeward._taught import taught
from leeward.analysis._expansive import pushed
from leeward.analysis._loss import LossLike
from leeward.analysis._optimal._consumers import Shared, shared
from leeward.analysis._optimal._cover import irreducible
from leeward.analysis._optimal._path import is_path, path_mechanism
from leeward.analysis._prior import Prior
from leeward.distance import FiniteDistance, listed
from leeward.errors import InputError, UndecidedError, check_choice
from leeward.exact._real import ZERO, whole
from leeward.mechanism import FiniteMechanism, laplace_mechanism

S = TypeVar("S")

Losses = Literal["monotone", "any"]
Consumer = tuple[Prior, LossLike]


@dataclass(frozen=True)
class Universal:
    """Whether one mechanism is best for every consumer of a query; true in a condition iff there is one.

    Attributes:
        losses: which losses consumers may have, "monotone" or "any".
        answers: the distance on answers, in which a mechanism is private iff its composition with the query is.
        mechanism: the universally optimal one, on answers; None if there is none.
        consumers: if there is none, two whose optima no single mechanism serves. Under ``losses="any"`` the answer is proved
            without them, and they are None if none were found.
        witness: what they lose by sharing, certified.
    """

    losses: Losses
    answers: FiniteDistance[Any]
    mechanism: FiniteMechanism | None
    consumers: tuple[Consumer, Consumer] | None = None
    witness: Shared | None = None

    def __bool__(self) -> bool:
        return self.mechanism is not None

    def __str__(self) -> str:
        whom = "every prior and every " + (
            "loss" if self.losses == "any" else "loss that grows on each side of the truth"
        )
        if self:
            return f"yes: one mechanism on {len(self.answers.points)} answers is best for {whom}"
        return f"no: none is best for {whom}" + (
            f"; for two of them: {self.witness}" if self.witness is not None else ""
        )


@taught
def is_universally_optimal(
    query: Callable[[S], Hashable],
    distance: FiniteDistance[S],
    losses: Losses = "monotone",
    *,
    pairs: int = 100,
) -> Universal:
    """Decide whether one mechanism serves every consumer of a query best, or name two whom none serves.

    Args:
        query: any function of the secrets; ``lambda y: y`` for a distance that is on answers already.
        distance: on all n secrets, listed.
        losses: which consumers: "monotone", every prior and every loss on numbers that does not fall as the guess moves away
            from the truth, on either side; "any", every prior and every loss.
        pairs: how many pairs of consumers are tried before it gives up; each is three linear programs of up to n³ variables.

    Raises:
        InputError: if the distance has not its points listed, answers are no numbers though losses are to grow with their
            difference, or there are too many answers for a pair (more than 27).
        RefusedError: if the Laplace mechanism that is the answer takes too long to be made.
        UndecidedError: if no theorem says yes, and no pair that was tried says no.
    """
    check_choice("losses", losses, get_args(Losses), "it says which losses consumers may have")
    tries = whole(pairs, "pairs", 0, says="it is how many pairs of consumers are tried")
    answers = pushed(query, listed(distance))
    if losses == "monotone" and not all(isinstance(y, Number | Decimal) for y in answers.points):
        raise InputError(
            f"Losses that grow with the difference, on answers such as {answers.points[0]!r}",
            "only numbers have one",
            'Give losses="any", or a query whose answers are numbers',
        )
    settled = _settled(answers)
    apart = [y for i, y in enumerate(answers.points) if all(settled(x, y) for x in answers.points[:i])]
    alternatives = [y for _, y in irreducible(settled.on(apart)).tolist()]
    if losses == "monotone" and is_path(settled):
        return Universal(losses, answers, path_mechanism(settled))
    if len(set(alternatives)) == len(alternatives):
        return Universal(losses, answers, laplace_mechanism(settled))
    for consumers in itertools.islice(_pairs(len(answers.points), losses), tries if len(apart) > 1 else 0):
        found = shared(answers.points, answers, consumers)
        if not found:
            return Universal(losses, answers, None, consumers, found)
    if losses == "any":
        return Universal(losses, answers, None)
    raise UndecidedError(
        f"Whether one mechanism serves every consumer of {len(answers.points)} answers",
        f"no theorem here says so, and none of {tries} pairs of consumers shows the opposite",
        "Try more pairs, or lw.optimal(...) for the consumers in question",
    )


def _settled(answers: FiniteDistance[Any]) -> FiniteDistance[Any]:
    """Return the distance with 0 both ways where it is 0 one way: rows that may not rise and have equal sums are equal."""
    points = answers.points
    return FiniteDistance.closed(
        points, [[ZERO if not answers(x, y) or not answers(y, x) else answers(x, y) for y in points] for x in points]
    )


def _pairs(size: int, losses: Losses) -> Iterator[tuple[Consumer, Consumer]]:
    """Yield pairs to try: zero-one losses over few answers first, at most 50; then any at random, always the same."""
    few = [s for k in range(size, 1, -1) for s in itertools.islice(itertools.combinations(range(size), k), 10)]
    equal: list[Consumer] = [([Fraction(int(x in s), len(s)) for x in range(size)], "zero-one") for s in few]
    yield from itertools.islice(itertools.combinations(equal, 2), 50)
    rng = random.Random(0)
    while True:
        yield _at_random(size, losses, rng), _at_random(size, losses, rng)


def _at_random(size: int, losses: Losses, rng: random.Random) -> Consumer:
    """Return a consumer to whom too high and too low are not equally bad; under "any" one in two has any loss."""
    weights = [rng.randrange(1, 10) for _ in range(size)]
    prior = [Fraction(w, sum(weights)) for w in weights]
    high, low = rng.randrange(1, 10), rng.randrange(1, 10)
    loss = [[max(high * (guess - truth), low * (truth - guess)) for guess in range(size)] for truth in range(size)]
    if losses == "any" and rng.randrange(2):
        loss = [[rng.randrange(10) for _ in range(size)] for _ in range(size)]
    return prior, loss
