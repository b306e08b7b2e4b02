"""Audits: bounds that hold at their confidence, find what is there, and refute what is wrong."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from leeward.distance import Line
from leeward.errors import InputError
from leeward.exact import exact, inf
from leeward.mechanism import Geometric
from leeward.noise import SeededBitsForTests
from leeward.verification import audit
from leeward.verification._audit import _bound

ALARM = 1e-6
"""The probability with which a right bound would fail one of these tests, were the seeds not fixed."""


def noisy(line: Line, seed: int = 1) -> Any:
    mechanism, bits = Geometric(line), SeededBitsForTests(seed)
    return lambda x, n: mechanism.release(np.full(n, x), bits)


def test_the_bound_is_clopper_and_pearson() -> None:
    for hits, hits_prime, n in ((50, 10, 100), (100, 0, 100), (3, 100, 100), (7, 7, 1000)):
        low = binomtest(hits, n, alternative="greater").proportion_ci(0.99, "exact").low
        high = binomtest(hits_prime, n, alternative="less").proportion_ci(0.99, "exact").high
        assert _bound(hits, hits_prime, n, 0.01) == pytest.approx(math.log(low / high), rel=1e-9)
    assert _bound(0, 5, 100, 0.01) == -math.inf


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", ["1", "1/3", "0.1"])
def test_it_finds_most_of_what_is_there_and_no_more(epsilon: str) -> None:
    found = audit(noisy(Line(epsilon, epsilon)), 1, 0, batched=True, confidence=1 - ALARM)
    true = float(exact(epsilon))
    assert 0.5 * true < found.lower_bound < true
    assert not found.refutes(epsilon)
    assert found.refutes(exact(epsilon) / 2)
    assert not found.refutes(inf)


@pytest.mark.statistical
def test_it_is_about_an_ordered_pair() -> None:
    """Upward noise: (1 → 0) keeps its ε, (0 → 1) is given away without bound."""
    assert audit(noisy(Line(inf, 1)), 1, 0, batched=True, confidence=1 - ALARM).lower_bound < 1
    assert audit(noisy(Line(inf, 1)), 0, 1, batched=True, confidence=1 - ALARM).lower_bound > 8


@pytest.mark.sweep
@pytest.mark.statistical
def test_a_rate_ten_per_cent_too_high_is_refuted() -> None:
    claimed = audit(noisy(Line(1, 1)), 1, 0, batched=True, samples=400_000)
    assert not claimed.refutes(1)
    louder = audit(noisy(Line("1.1", "1.1")), 1, 0, batched=True, samples=400_000)
    assert louder.refutes(1)


@pytest.mark.statistical
def test_identical_secrets_show_nothing() -> None:
    """Events are chosen by half of the samples and judged by the other: searching many earns nothing."""
    rng = np.random.default_rng(7)
    bounds = [
        audit(lambda x, n: rng.integers(0, 300, n), 0, 0, batched=True, samples=8_000, confidence=0.9).lower_bound
        for _ in range(20)
    ]
    assert sum(bound > 0 for bound in bounds) <= 9  # at most 10 % each: more has probability below 10^-4


def boxes() -> Iterator[tuple[str, Any]]:
    rng = np.random.default_rng(3)
    yield "labels", lambda x: "ab"[int(rng.random() < 0.2 + 0.6 * x)]
    yield "numpy integers", lambda x: np.int64(rng.integers(0, 10) + 5 * x)
    yield "floats, each seen once", lambda x: x + rng.laplace(scale=0.5)
    yield "arrays of floats", lambda x: np.array([0.0, x]) + rng.laplace(scale=0.5, size=2)
    yield "arrays without axes", lambda x: np.array(rng.normal() + 3 * x)
    yield "ragged tuples", lambda x: ("long", 1) if rng.random() < 0.2 + 0.6 * x else ("short",)
    yield "booleans", lambda x: bool(rng.random() < 0.2 + 0.6 * x)


@pytest.mark.statistical
@pytest.mark.parametrize(("name", "box"), list(boxes()), ids=[name for name, _ in boxes()])
def test_any_kind_of_output(name: str, box: Any) -> None:
    found = audit(box, 1, 0, samples=20_000)
    assert found.lower_bound > 0.8, name
    assert audit(box, 1, 1, samples=20_000, confidence=1 - ALARM).lower_bound == 0
    assert found.event in str(found)
    assert found.tests == 10_000


def test_what_shows_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="shows nothing"):
        audit(noisy(Line(1, 1)), 1, 0, samples=10, batched=True)
    with pytest.raises(InputError, match="shows nothing"):
        audit(noisy(Line(1, 1)), 1, 0, confidence=1, batched=True)
    with pytest.raises(InputError, match="another size"):
        audit(lambda x, n: [x], 1, 0, batched=True)
    with pytest.raises(InputError, match=r"a Geometric.*mechanism\.release"):
        audit(Geometric(Line(1, 1)), 1, 0)  # type: ignore[arg-type]
