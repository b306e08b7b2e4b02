"""Losses and priors as exact matrices."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from leeward.analysis import outside_ball, read_loss, read_prior
from leeward.errors import InexactError, InputError
from leeward.exact import exact, sqrt


def test_named_losses() -> None:
    points = [(0, 0), (1, 2)]
    assert read_loss(points, points, "absolute")((0, 0), (1, 2)) == 3
    assert read_loss(points, points, "squared")((0, 0), (1, 2)) == 5
    assert read_loss(points, points, "euclidean")((0, 0), (1, 2)) == sqrt(5)
    assert read_loss(points, points, "zero-one")((0, 0), (0, 0)) == 0


def test_balls() -> None:
    assert [outside_ball("3/2")(5, w) for w in (3, 4, 5, 6, 7)] == [1, 0, 0, 0, 1]
    assert outside_ball(1)((1, None, 3), (2, None, 3)) == 0
    assert outside_ball(1)((1, None, 3), (2, 5, 3)) == 1


def test_monotone_losses_are_told_apart() -> None:
    numbers = [0, 1, 2, 3]
    for name in ("absolute", "squared", "zero-one"):
        assert read_loss(numbers, numbers, name).monotone
    lopsided = [[abs(w - x) * (3 if w > x else x) for w in numbers] for x in numbers]
    assert read_loss(numbers, numbers, lopsided).monotone
    assert not read_loss(numbers, numbers, lambda x, w: (x - w) % 3).monotone
    assert not read_loss([1], numbers, [[1, 2, 3, 2]]).monotone


@pytest.mark.parametrize(("guesses", "values"), [([0, 1], [1, 0]), ([-1, 0], [0, 1])])
def test_a_loss_that_is_largest_where_the_guess_is_right_is_not_monotone(guesses: list[int], values: list[int]) -> None:
    assert not read_loss([0], guesses, [values]).monotone


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match="Did you mean 'squared'"):
        read_loss([0], [0], "square")
    with pytest.raises(InputError, match="another size"):
        read_loss([0, 1], [0], [[1]])
    with pytest.raises(InputError, match="infinite or negative"):
        read_loss([0], [0], [["inf"]])
    with pytest.raises(InputError, match="other secrets"):
        read_loss([0], [0], read_loss([1], [0], [[2]]))


def test_priors() -> None:
    assert read_prior("abc") == (Fraction(1, 3),) * 3
    assert read_prior("abc", {"b": "1/4", "a": "3/4"}) == (Fraction(3, 4), Fraction(1, 4), 0)
    assert read_prior("ab", ["0.1", exact("0.9")]) == (Fraction(1, 10), Fraction(9, 10))
    with pytest.raises(InexactError):
        read_prior("ab", [0.1, 0.9])  # type: ignore[list-item]
    with pytest.raises(InputError, match="sum to 1"):
        read_prior("ab", ["1/2", "1/3"])
    with pytest.raises(InputError, match="not among the secrets"):
        read_prior("ab", {"c": 1})
    with pytest.raises(InputError, match="non-negative"):
        read_prior("ab", ["3/2", "-1/2"])
    with pytest.raises(InputError, match="no prior has that name"):
        read_prior("ab", "worst")


@pytest.mark.parametrize("guess", ["b", (1, 2), None])
def test_a_loss_of_numbers_says_so_of_other_secrets(guess: object) -> None:
    for loss in ("absolute", "squared", "euclidean"):
        with pytest.raises(InputError, match=r'they are not numbers.*"zero-one"'):
            read_loss([0], [guess], loss)
    assert read_loss([0], [guess], "zero-one")(0, guess) == 1


def test_a_prior_in_an_array_is_read_like_a_list() -> None:
    assert read_prior("abc", np.array(["1/2", "1/4", "1/4"])) == (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))  # type: ignore[arg-type]
    with pytest.raises(InexactError, match=r"float"):
        read_prior("ab", np.array([0.5, 0.5]))  # type: ignore[arg-type]
