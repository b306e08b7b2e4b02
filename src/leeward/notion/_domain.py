# SPDX-License-Identifier: Apache-2.0
"""Which values of a column stand for all that it can hold: one for each way in which the conditions distinguish values.

**Theorem.** Let A be *all* the conditions on a column that take part (of the query, and of the notion's policies), each
"the value is one of these" or "the value is a number from l to u". Call two values alike if every condition of A says the
same of both. Whatever looks at the column through A only, and through a clamped value of it, takes on records with the
values returned here every combination of truth values that any record has, and with each of them the least and the greatest
clamped value.

*Proof.* Being alike is an equivalence, so it is enough that of every class of values in the domain some value is looked at,
and where a column is clamped, one with the least and one with the greatest clamped value; of those looked at, exactly these
are kept.

* A list: every value is looked at.
* A range of whole numbers: let P be all the numbers that A and the clamp name. No condition changes within a gap between two
  neighbours of P, or beyond the outermost, so the elements of the range in a gap are alike. The clamp has its bends in P and
  grows between them, so it is least and greatest at the first and the last of them. Looked at are the elements in P, and in
  each gap the first and the last element of the range, whatever its step.
* Nothing declared: any value may occur, and none. Numbers need not be whole, so each gap is looked at in its middle, and
  each number of P itself; each word and each infinity that A names is looked at, and one that it does not name is alike to
  every number beyond the outermost of P; and anything else, such as a missing value, satisfies no condition.
* Nothing declared, and the column is clamped: numbers between the bounds are whole, because `clamped` refuses all others; so
  in a gap there the first and the last whole number are looked at beside what is said above, less the numbers that are
  refused. From the bounds outwards *any* number may occur, whole or not and infinite too: all of a gap are clamped to one
  bound, so that one of them, its middle, stands for all. ∎
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from leeward.errors import InputError
from leeward.exact._real import plainly

Bounds: TypeAlias = tuple[int, int]
"""(least, greatest) whole number that a column is clamped to."""

Signature: TypeAlias = Callable[[Any], Hashable]
"""What all the conditions on a column say of a value."""


def is_number(value: object) -> bool:
    """Whether a value compares with numbers: not a word, a span of time, a missing value, NaN or a complex number."""
    if isinstance(value, Decimal):
        return not value.is_nan()
    if isinstance(value, np.timedelta64):  # which NumPy takes for a whole number
        return False
    return isinstance(value, Real | np.bool_) and value == value


def clamped(value: Any, bounds: Bounds) -> int:
    """Return a whole number within its bounds; what is not a number counts as the one within the bounds nearest to 0.

    Raises:
        InputError: for a number that is not whole.
    """
    least, most = bounds
    value = plainly(value)  # a small float of NumPy's would round the bound before it is compared
    if not is_number(value):
        return min(max(0, least), most)
    inside = min(max(value, least), most)
    if not _adds_up(inside):
        raise InputError(
            "A number that is not whole, in a column that is added up",
            "answers lie on a public grid, and rounding decides how far one person can move them",
            "Round half up to whole numbers of a public unit first",
        )
    return int(inside)


def _adds_up(number: Any) -> bool:
    """Whether a number between the bounds can be added up: whether it is whole."""
    return bool(number == int(number))


def representatives(
    said: Signature, named: Iterable[Any], known: Sequence[Any] | range | None, bounds: Bounds | None
) -> list[Any]:
    """Return values of one column that stand for all that it can hold; the module's text says why they do.

    Args:
        said: what all the conditions on the column say of a value.
        named: every value and every bound that those conditions name.
        known: the values that the column can hold; None where any may occur, and none.
        bounds: what the column is clamped to, where it is added up.

    Raises:
        InputError: if the column is added up and a known value is a number that is not whole.
    """
    named = list(named)
    looked_at: Iterable[Any]
    if known is None:
        looked_at = _anything(named, bounds)
    elif isinstance(known, range):
        looked_at = _of_range(known, _points(named, bounds))
    else:
        looked_at = known
    alike: dict[Hashable, dict[int, Any]] = {}  # class → clamped value → the first value that has both
    for value in looked_at:
        sizes = alike.setdefault(said(value), {})
        sizes.setdefault(0 if bounds is None else clamped(value, bounds), value)
        if len(sizes) > 2:
            del sizes[sorted(sizes)[1]]
    return [value for sizes in alike.values() for value in sizes.values()]


def _points(named: Iterable[Any], bounds: Bounds | None) -> list[Fraction]:
    """The finite numbers at which a condition or the clamp may change, in order."""
    numbers = {Fraction(v) for v in map(plainly, named) if is_number(v) and v not in {math.inf, -math.inf}}
    return sorted(numbers | set(map(Fraction, bounds or ())))


def _of_range(known: range, points: Iterable[Fraction]) -> list[int]:
    """The elements at the points, and the first and last in each gap between them."""
    rising = known if known.step > 0 else known[::-1]
    if not rising:
        return []
    at = {0, len(rising) - 1}
    for point in points:
        place = (point - rising.start) / rising.step
        at |= {math.ceil(place) - 1, math.floor(place), math.floor(place) + 1}
    return [rising[i] for i in sorted(at) if 0 <= i < len(rising)]


def _anything(named: Sequence[Any], bounds: Bounds | None) -> list[Any]:
    points = _points(named, bounds)
    gaps = [(low + high) / 2 for low, high in itertools.pairwise(points)]
    outside = [points[0] - 1, points[-1] + 1] if points else []
    anything = [None, *named, *points, *gaps, *outside]
    if bounds is None:
        return anything
    least, most = bounds
    whole = sorted({around for point in points for around in (math.ceil(point) - 1, math.floor(point) + 1)})
    may_occur = [v for v in anything if not is_number(v) or not least < v < most or _adds_up(v)]
    return [*may_occur, *whole]
