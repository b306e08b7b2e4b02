# SPDX-License-Identifier: Apache-2.0
"""Which series are to be indistinguishable: the distance between them, and ε for an amount of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from leeward._taught import taught
from leeward.errors import InputError, RefusedError
from leeward.exact._real import Exact, Real, exact, positive, whole
from leeward.exact._weight import log
from leeward.local._level_keys import read_factor
from leeward.local.series._quantities import Quantity, positive_quantity
from leeward.mechanism._series import DISTANCES, Between, check_between


@taught
@dataclass(frozen=True)
class Closeness:
    """How close two series of a meter must be to be indistinguishable, and how far they are.

    ``Closeness(within="100 W", factor=2, window=60)``: two series that differ by at most 100 W in every reading of an hour
    are indistinguishable up to a factor of 2, by what is published of that hour.

    Attributes:
        between: the distance between series: ``"maximum"`` (d_∞), ``"manhattan"`` (d_1) or ``"hamming"`` (d_h, where
            ``epsilon`` is for each reading that changes, however far).
        epsilon: ε for each ``unit``, exact.
        unit: the amount that ``epsilon`` is for, such as ``"10 W"``.
        within: instead of these: an amount; with ``factor``.
        factor: how much likelier any output may be from one of two series that far apart; exact, above 1.
        window: n, how many readings ``"maximum"`` lets move together: the period is cut into windows of n readings, one
            after another from its start, and under norm noise what moves readings of two windows costs both.
        loss: ε; with ``within`` and ``factor``, ln(factor).
        amount: what ε is for: ``unit`` or ``within``; None for ``"hamming"``, where it is the whole public range.

    Raises:
        InexactError: for a float ε or factor.
        InputError: for arguments that are malformed or do not go together.
        RefusedError: if ε is infinite.
    """

    between: Between = "maximum"
    epsilon: Exact | None = None
    unit: str | None = None
    within: str | None = None
    factor: Exact | None = None
    window: int = 1
    loss: Real = field(init=False, repr=False, compare=False)
    amount: Quantity | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_between(self.between)
        loss, amount = self._promised()
        self.__dict__.update(loss=loss, amount=amount, window=whole(self.window, "window"))

    def _promised(self) -> tuple[Real, Quantity | None]:
        """Return ε, and the amount that it is for."""
        epsilon, unit, within, factor = self.epsilon, self.unit, self.within, self.factor
        by_amount = DISTANCES[self.between].by_amount
        if not by_amount and (epsilon is None or unit is not None or within is not None or factor is not None):
            raise InputError(
                f"The promise for {self.between}",
                "it is about a reading that changes, however far",
                'Write epsilon = "1", and no unit',
            )
        if epsilon is not None and (unit is not None or not by_amount) and within is None and factor is None:
            loss = positive(epsilon, "epsilon")
            if loss.is_infinite:
                raise RefusedError("epsilon = inf", "it promises nothing", 'Write a finite one, such as "1"')
            return loss, None if unit is None else positive_quantity(unit, "unit")
        if epsilon is not None or unit is not None or within is None or factor is None:
            raise InputError(
                "The promise is given twice, or in part",
                "it is either epsilon and unit, or within and factor",
                'Write epsilon = "1", unit = "10 W"; or within = "10 W", factor = "2"',
            )
        return log(read_factor(factor)), positive_quantity(within, "within")

    def __str__(self) -> str:
        if self.factor is not None:
            return f'within="{self.within}", factor="{exact(self.factor)}"'
        return f'epsilon="{self.loss}"' + ("" if self.unit is None else f', unit="{self.unit}"')
