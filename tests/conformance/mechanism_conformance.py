"""What every mechanism must pass. A new mechanism's test is one subclass that lists its cases.

    class TestMine(MechanismConformance):
        cases: ClassVar = [Case("one-sided at 1", Mine(...), distance, points, sample=...), ...]

Each case is a mechanism with the directed distance it claims, on a few secrets. The claim must be exact: private there, not
private 0.1 % below, neither as a whole nor in any one rate.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest
from tests.statistical.gof import rejects

from leeward.distance import DirectedDistance, Line
from leeward.exact import inf
from leeward.exact._weight import weighted_sum
from leeward.mechanism import FiniteMechanism
from leeward.noise import Bits, SeededBitsForTests
from leeward.verification import verify

FALSE_ALARM = 1e-6
"""The probability with which a right sampler would fail one test (a binomial test for each output, Bonferroni)."""

Sampler = Callable[[Any, int, Bits], Sequence[Any]]
"""``sample(secret, n, bits)``: n outputs of the mechanism's own sampler, named as in its exact matrix."""


@dataclass(frozen=True)
class Case:
    """A mechanism and its claim.

    Attributes:
        name: shown by pytest.
        on: the exact matrix on a few secrets, ``mechanism.on(points)``; where that takes long, a function that returns it.
        distance: the directed distance it claims.
        sample: its sampler.
        broken: a sampler that is a little wrong and must be found out; by default it serves the wrong secret.
        one_way: whether the reverse direction must be ruled out (an infinite ratio): the positive control.
        draws: how many outputs the tests of the sampler draw.
        lowered: distances that are a little less than the one claimed, one rate each, where it is no `Line`.
        reached: the share of the distance that these few secrets reach; less than 1 only where no finite number of them
            reaches all of it.
    """

    name: str
    on: FiniteMechanism | Callable[[], FiniteMechanism]
    distance: DirectedDistance[Any]
    sample: Sampler
    broken: Sampler | None = None
    one_way: bool = False
    draws: int = 50_000
    lowered: Sequence[DirectedDistance[Any]] = field(default=())
    reached: str = "1"

    @functools.cached_property
    def matrix(self) -> FiniteMechanism:
        """The exact matrix; it is made once, and only in a process whose tests read it."""
        return self.on if isinstance(self.on, FiniteMechanism) else self.on()

    @property
    def one_rate_lower(self) -> list[DirectedDistance[Any]]:
        """The distance with each of its finite rates, one at a time, lowered by 1/1000."""
        if not isinstance(self.distance, Line):
            return list(self.lowered)
        rise, fall = self.distance.rise, self.distance.fall
        pairs = [(rise * "0.999", fall), (rise, fall * "0.999")]
        return [Line(*pair) for pair, rate in zip(pairs, (rise, fall), strict=True) if not rate.is_infinite]


class MechanismConformance:
    cases: ClassVar[Sequence[Case]]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        metafunc.parametrize("case", self.cases, ids=[case.name for case in self.cases])

    def test_rows_sum_to_exactly_one(self, case: Case) -> None:
        for secret in case.matrix.inputs:
            assert weighted_sum((p, 1) for p in case.matrix.row(secret).values()) == 1

    def test_it_is_private_at_the_stated_distance(self, case: Case) -> None:
        found = verify(case.matrix, case.distance)
        assert found, str(found)
        assert found.tight is (case.reached == "1"), str(found)

    def test_it_is_not_private_below_the_stated_distance(self, case: Case) -> None:
        found = verify(case.matrix, case.distance.scale(case.reached).scale("0.999"))
        assert found.outcome == "not private", str(found)

    def test_every_rate_is_needed(self, case: Case) -> None:
        for lower in case.one_rate_lower:
            found = verify(case.matrix, lower)
            assert found.outcome == "not private", f"{lower}: {found}"

    def test_the_direction_not_promised_is_ruled_out(self, case: Case) -> None:
        found = verify(case.matrix, case.distance.reverse())
        assert (found.exact_scale == inf) is case.one_way, str(found)

    @pytest.mark.statistical
    def test_the_sampler_has_the_exact_distribution(self, case: Case) -> None:
        bits = SeededBitsForTests(1)
        secrets = case.matrix.inputs
        for secret in (secrets[0], secrets[len(secrets) // 2], secrets[-1]):
            assert misfit(case, case.sample(secret, case.draws, bits), secret) is None

    @pytest.mark.statistical
    def test_a_broken_sampler_is_found_out(self, case: Case) -> None:
        first, last = case.matrix.inputs[0], case.matrix.inputs[-1]
        bits = SeededBitsForTests(2)
        if case.broken is None:
            assert misfit(case, case.sample(first, case.draws, bits), last) is not None
        else:  # at the ends all noise may lie beyond the secrets, where it is merged: the middle shows it
            middle = case.matrix.inputs[len(case.matrix.inputs) // 2]
            assert misfit(case, case.broken(middle, case.draws, bits), middle) is not None


def misfit(case: Case, outputs: Sequence[Any], secret: Any) -> str | None:
    """Say why outputs do not come from the exact row of this secret, or None."""
    seen = Counter(outputs)
    unknown = set(seen) - set(case.matrix.outputs)
    if unknown:
        return f"{unknown} are not outputs"
    row = case.matrix.row(secret)
    return rejects([seen[z] for z in row], [float(p) for p in row.values()], len(outputs), FALSE_ALARM)
