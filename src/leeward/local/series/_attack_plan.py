# SPDX-License-Identifier: Apache-2.0
"""The attacker of a spec of series, before anything is drawn: what he learns of whether an appliance ran."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from leeward._plain import counted, likely, odds, share_of
from leeward.errors import InputError
from leeward.local.series._appliance import Appliance
from leeward.local.series._documents import AppliancePart, ApplianceSees
from leeward.local.series._post_processing import PostProcessing
from leeward.local.series._series import Series
from leeward.local.series._spec import Attacker
from leeward.local.series._totals import Totals
from leeward.local.series._tree import TotalsTree

_DRAWS: Final = 20_000
_AT_MOST: Final = 4_000_000
"""Numbers that are drawn for one figure; with more of them in one publication, fewer are simulated."""


def appliances(asked: Attacker, published: Series | Totals | TotalsTree) -> list[Appliance]:
    """Return the attacks of a spec on what is published of a meter, one for each number of days."""
    if not asked.days:
        raise InputError("days = []", "it is on how many days in a row the appliance runs", "Write days = [1, 7]")
    return [Appliance(published, adds=asked.adds, first=asked.first, days=days) for days in sorted(set(asked.days))]


def attacker_part(
    attacks: Mapping[str | None, list[Appliance]], published: Series | Totals | TotalsTree
) -> AppliancePart:
    """Simulate what the attacker of a spec learns; reads no data."""
    text = "knows every reading, and asks whether an appliance ran of which he knows what it adds: as likely as not, to him"
    if isinstance(published, TotalsTree):
        text += "; the best guess is from noisy totals before they add up, which tell as much as published ones or more"
    elif isinstance(published, Series) and published.post_processing != PostProcessing():
        text += "; he sees noisy readings before anything is done with them, which tell as much or more"
    return AppliancePart(
        text=text,
        sees=tuple(_sees(level, attack) for level, each in attacks.items() for attack in each),
    )


def _sees(level: str | None, attack: Appliance) -> ApplianceSees:
    found, most = attack.chances(max(min(_DRAWS, _AT_MOST // attack.drawn), 100)), attack.most
    sentence = f"{'' if level is None else f'level {level}, '}"
    sentence += f"after {counted(attack.days, 'day')} with a run the odds are {odds(float(most))} at most, and his best"
    sentence += f" guess is right {likely(found.best)} of the time (± {share_of(found.error)})"
    if found.by_squares is not None:
        sentence += f", one by least squares from published totals {likely(found.by_squares)}"
    return ApplianceSees(
        level=level,
        days=attack.days,
        most=str(most),
        right=_short(found.best),
        right_error=float(f"{found.error:.2g}"),
        right_by_squares=None if found.by_squares is None else _short(found.by_squares),
        text=sentence,
    )


def _short(number: float) -> float:
    return min(float(f"{number:.4g}"), 0.9999)
