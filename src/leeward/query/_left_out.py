# SPDX-License-Identifier: Apache-2.0
"""How many people a bound leaves out: the most at any one place, and how far one person can move that number.

Machine-checked (docs/proved.md): `withdrawal_lowers`.
"""

from __future__ import annotations

from dataclasses import dataclass

from leeward.errors import NotPrivateError
from leeward.notion import WITHDRAW, Change
from leeward.query._effect import Effect
from leeward.query._visitors import CountVisitors


@dataclass(frozen=True)
class MostLeftOut:
    """D: how many people a bound on places per person leaves out at the place where it leaves out the most.

    Attributes:
        query: the counts that leave them out.
    """

    query: CountVisitors

    def effect(self, change: Change) -> Effect:
        """Return how far one change of one person can move D: withdrawing one lowers it by at most 1 and never raises it.

        Each place's number of people left out stays or falls by 1, and so does the greatest of them.

        Raises:
            NotPrivateError: for any other change: then D and the counts do not both fall, and no bound is certain.
        """
        if change != WITHDRAW:
            raise NotPrivateError(
                'about = "everyone" under a notion whose steps do more than withdraw a person',
                "a bound on all who were there is certain only if both the people counted and the people left out can only"
                " fall along every step, and noise only ever adds",
                "Use addition-only; or leave about out, and 'safe' is about those counted; or, under presence,"
                " leave places_per_person and if_more out: the sanitized mechanism needs no bound",
            )
        return Effect(total=((0, 1),), each=((0, 1),))
