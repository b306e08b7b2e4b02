"""An appliance's signature as an attack: odds at most those told before, and those of the exact laws after."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.flat_series import flat_series

from leeward.errors import InputError
from leeward.local.series import Appliance, Series, Totals, TotalsTree, _appliance
from leeward.noise import SeededBitsForTests

CLOCK = {"start": "2026-03-01", "end": "2026-03-02", "every": "6 h"}
GRID = {"lower": "0 W", "upper": "8 W", "step": "1 W"}
ADDS: dict[str, Any] = {"adds": ["2 W", "1 W"], "first": "2026-03-01T06:00"}


def series(between: str = "manhattan", noise: Any = None, **more: Any) -> Series:
    asked = {"between": between, "epsilon": "1/2", "unit": "1 W"} | more
    return flat_series(values="W", noise=noise, **asked, **CLOCK, **GRID)


def test_the_most_that_can_be_told_is_the_price_of_the_signature() -> None:
    assert str(Appliance(series(), **ADDS).most) == "3/2"
    assert (
        str(Appliance(series("maximum", "norm", window=2), **ADDS).most) == "3/2"
    )  # 2 W in one window, 1 W in the next
    assert str(Appliance(series("maximum", "norm", window=4), **ADDS).most) == "1"
    assert str(Appliance(Totals(series()), **ADDS).most) == "3/2"
    tree = TotalsTree(Totals(series()), ("day", "month"), {"day": "1/3", "month": "2/3"})
    assert str(Appliance(tree, **ADDS).most) == "3/2"  # a third of it by the day, the rest by the month


def test_odds_of_what_was_published_are_those_of_the_exact_probabilities() -> None:
    made = Appliance(series(), **ADDS)
    law, quiet = series().mechanism.law, [3, 1, 0, 4]
    for shown in ((3, 1, 0, 4), (9, 9, 9, 9), (0, 2, 1, -3), (3, -5, 1, 4)):
        exactly = 1.0
        for x, s, z in zip(quiet, (0, 2, 1, 0), shown, strict=True):
            exactly *= float(law.probability(x + s, z) / law.probability(x, z))  # type: ignore[union-attr, arg-type]
        assert made.log_odds(shown, quiet) == pytest.approx(math.log(exactly), abs=1e-9)
        assert abs(made.log_odds(shown, quiet)) <= float(made.most) + 1e-9
    norm = Appliance(series("maximum", "norm", window=4), **ADDS)
    joint = series("maximum", "norm", window=4).mechanism.law
    shown = (3, 2, -1, 4)
    ratio = joint.probability((3, 3, 1, 4), shown) / joint.probability((3, 1, 0, 4), shown)  # type: ignore[arg-type]
    assert norm.log_odds(shown, quiet) == pytest.approx(math.log(float(ratio)), abs=1e-9)
    total = Appliance(Totals(series()), **ADDS)
    assert total.log_odds([6 * 20], quiet) == pytest.approx(
        1.5
    )  # a day of 20 W for six hours each, of 8 or of 11 in truth
    assert total.log_odds([6 * 8], quiet) == pytest.approx(-1.5)


@pytest.mark.parametrize(
    ("window", "first", "moved"), [(1, "18:00", 3), (4, "18:00", 1), (4, "18:02", 2), (7, "23:56", 1)]
)
def test_of_a_long_period_only_what_is_moved_is_held(
    window: int, first: str, moved: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of up to 2^31 readings was an object: a month of seconds took 2 GB, and over a minute."""
    parts = list[Any]()
    made = _appliance._Part
    monkeypatch.setattr(_appliance, "_Part", lambda *values: parts.append(made(*values)) or parts[-1])
    asked = {"between": "maximum", "epsilon": "1/2", "unit": "1 W", "window": window}
    clock = {"start": "2026-03-01", "end": "2026-03-02", "every": "1 min"}
    attack = Appliance(
        flat_series(values="W", **asked, **clock, **GRID),
        adds=["1 W", "0 W", "2 W", "1 W"],
        first=f"2026-03-01T{first}",
    )
    assert len(parts) == moved
    at = 60 * int(first[:2]) + int(first[3:])
    assert np.flatnonzero(attack.moves).tolist() == [at, at + 2, at + 3]
    assert attack.drawn == moved * window
    expected = sum(max(attack.moves[a : a + window]) for a in range(0, 1440, window))
    assert str(attack.most) == str(Fraction(int(expected), 2))


@pytest.mark.parametrize("asked", [series(), series("maximum", "norm", window=4), Totals(series())], ids=repr)
def test_the_best_guess_is_right_as_often_as_its_exact_law_says(asked: Any) -> None:
    """Half the sum of the larger of two probabilities, over a box of ±40; of 20,000 draws, 0.02 is seven standard errors."""
    made = Appliance(asked, **ADDS)
    moves, rate = ((3,), 0.5) if isinstance(asked, Totals) else ((2, 1), 0.5)
    largest = isinstance(asked, Series) and asked.mechanism.noise == "norm"
    side, total, right = range(-14, 15) if largest else range(-40, 41), 0.0, 0.0
    box = itertools.product(side, repeat=4 if largest else len(moves))
    moved = np.array((0, 2, 1, 0) if largest else moves)
    points = np.array(list(box))
    far = (lambda z: np.abs(z).max(axis=1)) if largest else (lambda z: np.abs(z).sum(axis=1))
    off, on = np.exp(-rate * far(points)), np.exp(-rate * far(points - moved))
    total, right = float(off.sum() + on.sum()), float(np.maximum(off, on).sum())
    assert made.guessed_right(bits=SeededBitsForTests(5)) == pytest.approx(right / total, abs=0.02)
    assert right / total < 1 / (1 + math.exp(-float(made.most)))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"adds": []}, "whole steps"),
        ({"adds": ["0.5 W"]}, "whole steps"),
        ({"adds": ["9 W"]}, "none moves farther"),
        ({"adds": ["1e40 W"]}, "none moves farther"),
        ({"first": "2026-03-01T05:00"}, "no reading of the period is due"),
        ({"first": "2026-03-02T00:00"}, "no reading of the period is due"),
        ({"first": "2026-03-01T18:00"}, "ends before"),
        ({"adds": ["1 Wh"]}, "Wh"),
    ],
)
def test_what_is_no_signature_is_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        Appliance(series(), **(ADDS | changes))


def test_what_has_another_law_is_refused() -> None:
    with pytest.raises(InputError, match="something was done with"):
        Appliance(series(smooth=3), **ADDS).log_odds([1] * 4, [0] * 4)
    with pytest.raises(InputError, match="the end of the period cuts"):
        Appliance(series("maximum", "norm", window=3), adds=["1 W"], first="2026-03-01T18:00").log_odds(
            [1] * 4, [0] * 4
        )
    tree = Appliance(TotalsTree(Totals(series()), ("day", "month")), **ADDS)
    with pytest.raises(InputError, match="add up"):
        tree.log_odds([1, 1], [0] * 4)
    with pytest.raises(InputError, match="another number"):
        Appliance(series(), **ADDS).log_odds([1], [0] * 4)
    with pytest.raises(InputError, match="missing"):
        Appliance(series(), **ADDS).log_odds([1, 2, np.nan, 0], [0] * 4)
