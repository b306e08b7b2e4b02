"""Several percentiles in one release: how far one person moves the ranks of all of them, gone through on small tables."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from tests.asking import statistic_by
from tests.oracle.ranks import rank_error

from leeward.errors import InputError, NotPrivateError, SpecError
from leeward.notion import DROP_FACT, INSERT, REPLACE, WITHDRAW, Manhattan, ValueGrid
from leeward.notion._metric import bounded_change
from leeward.query import Kind, Statistic, percentile, records, statistic
from leeward.query._percentiles import listed_percentiles, ranks_of_several

TABLE = records("t.parquet", person="each row")
POINTS = tuple(map(Fraction, range(5)))
TABLES = [t for n in range(6) for t in itertools.combinations_with_replacement(POINTS, n)]
SETS = [
    ("50",),
    ("25",),
    ("100",),
    ("25", "50", "75"),
    ("10", "90"),
    ("75", "90"),
    ("0", "50", "200/3"),
    ("0", "25", "50", "75", "100"),
    tuple(str(10 * i) for i in range(1, 10)),
]


def fractions(ps: Sequence[str]) -> tuple[Fraction, ...]:
    return tuple(map(Fraction, ps))


def apart(these: Sequence[Fraction], those: Sequence[Fraction], ps: Sequence[str]) -> Fraction:
    """How far the losses of grid points move apart, summed over percentiles, from one table to another."""
    total = Fraction(0)
    for p in fractions(ps):
        moves = [rank_error(those, z, p) - rank_error(these, z, p) for z in POINTS]
        total += max(moves) - min(moves)
    return total


@pytest.mark.sweep
@pytest.mark.parametrize("ps", SETS, ids=", ".join)
def test_whoever_comes_moves_the_ranks_of_all_no_further_and_so_far(ps: Any) -> None:
    largest = max(apart(table, (*table, v), ps) for table in TABLES for v in POINTS)
    assert largest == ranks_of_several(fractions(ps), INSERT) == ranks_of_several(fractions(ps), WITHDRAW)


@pytest.mark.sweep
@pytest.mark.parametrize("ps", SETS, ids=", ".join)
def test_a_change_of_a_number_moves_them_by_two_each(ps: Any) -> None:
    found = (apart((*table, v), (*table, w), ps) for table in TABLES if len(table) < 5 for v in POINTS for w in POINTS)
    assert max(found) == ranks_of_several(fractions(ps), REPLACE) == 2 * len(ps)


def test_it_is_less_than_that_of_each_alone_where_they_lie_on_both_sides_of_the_median() -> None:
    def alone(ps: Any) -> Fraction:
        return sum((ranks_of_several((p,), INSERT) for p in fractions(ps)), Fraction(0))

    assert {ps: (ranks_of_several(fractions(ps), INSERT), alone(ps)) for ps in SETS[3:6]} == {
        ("25", "50", "75"): (Fraction(7, 2), 4),
        ("10", "90"): (Fraction(14, 5), Fraction(18, 5)),
        ("75", "90"): (Fraction(33, 10), Fraction(33, 10)),
    }
    deciles = fractions(SETS[-1])
    assert (ranks_of_several(deciles, INSERT), alone(SETS[-1])) == (11, 13)


def test_the_sum_of_the_smaller_sides_would_be_too_little() -> None:
    """Broken: as if each percentile lay on the better side of whoever comes."""
    ps = fractions(("25", "50", "75"))
    fewer = sum(max(p, 100 - p) + min(p, 100 - p) for p in ps) / 100
    assert max(apart(table, (*table, v), ("25", "50", "75")) for table in TABLES for v in POINTS) > fewer


def asked(p: Any, **more: Any) -> Statistic:
    return statistic_by(TABLE, "percentile", column="x", lower=0, upper=4, p=p, **more)


def test_groups_and_public_numbers_of_people() -> None:
    j, m = ranks_of_several(fractions(("25", "50", "75")), INSERT), 3
    ps = ["25", "50", "75"]
    whole, two = asked(ps), asked(ps, by="y", groups=[0, 1])
    assert whole.rank_range(WITHDRAW) == two.rank_range(INSERT) == j
    assert whole.rank_range(REPLACE) == 2 * m
    assert two.rank_range(REPLACE) == 2 * j
    assert asked(ps, people=4).rank_range(REPLACE) == 2 * m
    near = Manhattan("1", ValueGrid(0, 4)).changes[0]
    assert whole.rank_range(near) == 2 * m
    with pytest.raises(NotPrivateError):
        asked(ps, people=4).rank_range(WITHDRAW)


def test_noise_on_each_is_for_all_of_them() -> None:
    assert asked(["25", "50", "75"]).effect(REPLACE).total == tuple(
        (3 * r, 3 * f) for r, f in asked("25").effect(REPLACE).total or ()
    )
    assert asked(["25", "75"]).effect(bounded_change(Fraction(1))).each == ((1, 0), (0, 1))
    assert set(asked(["25", "75"]).effect(bounded_change(Fraction(1))).total or ()) == {(2, 0), (0, 2)}
    everybody = asked(["25", "75"], by="y", groups=[0, 1, 2]).effect_of_all(bounded_change(Fraction(1)))
    assert set(everybody.total or ()) == {(6, 0), (0, 6)}
    with pytest.raises(NotPrivateError, match="not a set of facts"):
        asked(["25", "75"]).effect(DROP_FACT)


def test_answers_are_one_a_group_and_percentile() -> None:
    two = asked(["0", "50", "100"], by="y", groups=[0, 1])
    assert (two.bins, two.cells, two.ps) == (3, 6, (0, 50, 100))


def test_a_list_of_one_is_that_one() -> None:
    assert asked(["25"]) == asked("25")
    assert asked(["25"]).numeric == percentile(ValueGrid(0, 4), "25")


@pytest.mark.parametrize("ps", [[], ["50", "25"], ["25", "25"], ["-1", "50"], ["50", "101"], ("1", "2", "2")])
def test_lists_that_do_not_ascend_from_0_to_100_are_refused(ps: Any) -> None:
    with pytest.raises(SpecError, match="several percentiles ascend"):
        asked(ps)


def test_other_lists_are_refused() -> None:
    with pytest.raises(InputError):
        listed_percentiles(["sqrt(2)"])
    with pytest.raises(InputError, match="float"):
        asked([25.0, 50.0])
    with pytest.raises(SpecError, match="no meaning"):
        statistic(TABLE, Kind("median", p=["25", "50"]), column="x", lower=0, upper=4)
    with pytest.raises(SpecError, match="percentiles"):
        asked([str(Fraction(i, 100)) for i in range(9000)], by="y", groups=list(range(200)))
