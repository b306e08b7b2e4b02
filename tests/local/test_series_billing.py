"""Bills: never too low, private one way, and what an exact rebate gives away."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from leeward.distance import Line
from leeward.errors import InputError
from leeward.exact import exact, inf
from leeward.local.series import Billing
from leeward.mechanism import FiniteMechanism
from leeward.noise import SeededBitsForTests
from leeward.verification import verify

YEARS = list(itertools.product(range(3), repeat=2))  # two bills a year


def published(billing: Billing, *, exact_year: bool) -> FiniteMechanism:
    """All that is published of a year: two bills, and the year's amount."""
    bills = FiniteMechanism.product([billing.law.on(range(3))] * 2)
    if exact_year:
        year = FiniteMechanism(range(5), range(5), np.eye(5).tolist())
    else:
        assert billing.year_law is not None
        year = billing.year_law.on(range(5))
    return bills.beside(year.pull_back(YEARS, sum))


def test_a_year_with_a_noisy_rebate_is_private_one_way_exactly() -> None:
    billing = Billing("1/2", bills=2, year_epsilon="1/3")
    matrix = published(billing, exact_year=False)
    assert billing.price == exact("5/6")
    found = verify(matrix, billing.distance.on(YEARS))
    assert found, str(found)
    assert found.tight
    assert verify(matrix, billing.distance.scale("0.999").on(YEARS)).outcome == "not private"
    # the other way nothing is protected: a bill is an upper bound
    assert verify(matrix, Line("100", "100").on(YEARS)).outcome == "not private"


def test_an_exact_rebate_protects_nothing_from_who_sees_the_bills() -> None:
    billing = Billing("1/2", bills=2, rebate="exact")
    matrix = published(billing, exact_year=True)
    assert billing.price == inf
    for x, y in itertools.permutations(YEARS, 2):
        row, other = matrix.row(x), matrix.row(y)
        assert any(p and not other[z] for z, p in row.items()), f"{x} has {y} as a cover"
    with pytest.raises(InputError, match="∞"):
        _ = billing.distance


@pytest.mark.parametrize("rebate", ["noisy", "exact"])
def test_nobody_ever_pays_less_than_what_was_used(rebate: Any) -> None:
    billing = Billing("1/100", rebate=rebate)
    amounts = np.random.default_rng(1).integers(0, 500, (2000, 12))
    bills = billing.bill(amounts, SeededBitsForTests(1))
    assert (bills >= amounts).all()
    assert (bills > amounts).mean() > 0.95
    settled = billing.settle(amounts, bills, SeededBitsForTests(2))
    assert (settled.paid >= amounts.sum(axis=1)).all()
    assert (settled.rebate >= 0).all()
    assert (settled.paid + settled.rebate == bills.sum(axis=1)).all()
    if rebate == "exact":
        assert (settled.paid == amounts.sum(axis=1)).all()
    else:
        assert (settled.paid <= settled.year).all()
        assert (settled.paid > amounts.sum(axis=1)).mean() > 0.9  # something stays with the utility


def test_bills_that_64_bits_hold_no_more_together_are_not_paid_back_with_a_sign_turned() -> None:
    most = np.iinfo(np.int64).max
    settled = Billing("1/100").settle(np.zeros((1, 12), np.int64), np.full((1, 12), most), SeededBitsForTests(1))
    assert settled.rebate[0] > most // 2
    assert 0 <= settled.paid[0] <= settled.year[0]


@pytest.mark.statistical
def test_what_is_paid_too_much_is_what_the_formulas_say() -> None:
    # means of 20,000 customers against exact ones; 6 standard errors: false alarm about 1e-8 (normal)
    billing = Billing("1", unit=10, step="1/2", bills=3, year_epsilon="1/2")
    amounts = np.zeros((20_000, 3), np.int64)
    bills = billing.bill(amounts, SeededBitsForTests(7))
    settled = billing.settle(amounts, bills, SeededBitsForTests(8))

    def near(values: Any, mean: Any) -> bool:
        return abs(values.mean() - mean) < 6 * values.std() / np.sqrt(values.size)

    surcharge, overpaid = float(billing.expected_surcharge()), float(billing.expected_overpaid())
    assert near(bills * 0.5, surcharge)
    assert near(settled.paid * 0.5, overpaid)
    # the test can fail: a noise 10 % larger, and a rebate that forgets the noise of the year
    assert not near(bills * 0.5, surcharge * 1.1)
    assert not near((bills.sum(axis=1)) * 0.5, overpaid)


def test_the_expected_overpayment_summed_by_hand() -> None:
    billing = Billing("1", bills=2, year_epsilon="1/2")
    b, g = np.exp(-1.0), np.exp(-0.5)
    sums = [(s + 1) * (1 - b) ** 2 * b**s for s in range(400)]  # the noise of two bills together
    years = [(1 - g) * g**k for k in range(400)]
    expected = sum(p * q * min(s, k) for s, p in enumerate(sums) for k, q in enumerate(years))
    assert float(billing.expected_overpaid()) == pytest.approx(expected, rel=1e-9)
    assert float(Billing("1", rebate="exact").expected_overpaid()) == 0


def test_the_statement_says_what_is_protected_and_from_whom() -> None:
    noisy, plain = Billing("1/2", unit=10).statement(), Billing("1/2", unit=10, rebate="exact").statement()
    assert noisy.price == "1"
    assert plain.price == "inf"
    assert "as high as it was" in noisy.protects
    assert "low bill shows a low" in noisy.does_not_protect
    assert "nothing is protected" in plain.rebate
    assert "ε = 1/2" in plain.rebate


def test_what_does_not_go_together_is_refused() -> None:
    wrong: list[dict[str, Any]] = [
        {"rebate": "never"},
        {"bills": 0},
        {"rebate": "exact", "year_epsilon": 1},
        {"unit": 0},
    ]
    for given in wrong:
        with pytest.raises(InputError):
            Billing("1", **given)
    billing = Billing("1", bills=2)
    with pytest.raises(InputError, match="2 of both"):
        billing.settle([[1, 2, 3]], [[1, 2, 3]])
    with pytest.raises(InputError, match="below"):
        billing.settle([[1, 2]], [[1, 1]])
    assert Billing("1", step=Fraction(1, 100)).step == Fraction(1, 100)


@pytest.mark.parametrize("each", [2**60, 2**62, 2**63 - 1, -(2**60)])
def test_a_year_that_64_bits_do_not_hold_is_refused(each: int) -> None:
    """Twelve times 2⁶⁰ is 2⁶⁴·3/4: wrapped, the year would be paid below the truth."""
    billing = Billing("1", bills=12)
    amounts = np.full((1, 12), each, np.int64)
    with pytest.raises(InputError, match="a year"):
        billing.settle(amounts, billing.bill(amounts))
    small = np.full((1, 12), 2**58, np.int64)
    assert billing.settle(small, billing.bill(small)).year.tolist()[0] >= 12 * 2**58


@pytest.mark.parametrize(
    ("bills", "rate", "year"), [(365, "1/30", "1/70"), (17_520, "1/1000", "1/9"), (12, "1e-9", "1e-10")]
)
def test_the_expected_overpayment_of_many_bills(bills: int, rate: str, year: str) -> None:
    """Multiplied out, that of a bill a day was "not a number", and that of one each half-hour did not come."""
    with mpmath.workdps(60):
        b, g = (mpmath.exp(-mpmath.mpf(Fraction(r).numerator) / Fraction(r).denominator) for r in (rate, year))
        expected = g / (1 - g) * (1 - ((1 - b) / (1 - b * g)) ** bills)
    found = Billing(rate, bills=bills, year_epsilon=year).expected_overpaid()
    assert float(found) == pytest.approx(float(expected), rel=1e-12)
    assert found.bounds()[0] <= expected <= found.bounds()[1]
