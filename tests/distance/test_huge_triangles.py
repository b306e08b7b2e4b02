"""The triangle inequality of numbers that no float holds, at the knife edge."""

import pytest

from leeward.distance import FiniteDistance
from leeward.errors import InputError


@pytest.mark.parametrize("power", ["e10", "e300", "e307", "e308", "e400"])
@pytest.mark.parametrize("side", ["1", "power"])
@pytest.mark.parametrize("direct", ["2", "3", "inf"])
def test_a_broken_triangle_is_refused_at_any_size(power: str, side: str, direct: str) -> None:
    """From a by b to c is as far as straight on, if that is twice the first step and both steps are alike; else nearer."""
    far = direct if direct == "inf" else direct + power
    step = "1" if side == "1" else "1" + power
    matrix = [["0", "1" + power, far], ["inf", "0", step], ["inf", "inf", "0"]]
    if direct == "2" and side == "power":
        assert FiniteDistance("abc", matrix)("a", "c") == FiniteDistance("abc", matrix)("a", "b") * 2
    else:
        with pytest.raises(InputError, match="triangle"):
            FiniteDistance("abc", matrix)
