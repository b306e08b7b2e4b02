"""The least whole number for which something holds is found, wherever it lies and from wherever it is looked for."""

from __future__ import annotations

import pytest

from leeward._integers import least, least_between


class From:
    """Holds from a number on, and keeps for which numbers it was asked."""

    def __init__(self, wanted: int) -> None:
        self.wanted, self.asked = wanted, list[int]()

    def __call__(self, number: int) -> bool:
        self.asked.append(number)
        return number >= self.wanted


@pytest.mark.parametrize("first", [-3, 0, 1, 5])
def test_the_least_number_from_some_number_on_is_found(first: int) -> None:
    for wanted in range(first - 2, first + 70):
        holds = From(wanted)
        assert least(holds, first) == max(wanted, first)
        assert min(holds.asked) >= first, "nothing below the first is asked for"


@pytest.mark.parametrize("low", [-1, 0, 7])
@pytest.mark.parametrize("width", [1, 2, 3, 10, 33])
def test_the_least_number_between_two_is_found(low: int, width: int) -> None:
    for wanted in range(low + 1, low + width + 1):
        assert least_between(From(wanted), low, low + width) == wanted
