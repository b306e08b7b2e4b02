# SPDX-License-Identifier: Apache-2.0
"""What somebody learns who knows where people usually are, and sees one report of a person at a fixed place, or many.

The attacker of Shokri, Theodorakopoulos, Le Boudec and Hubaux, Quantifying Location Privacy (2011), on public places: he
knows the mechanism, a prior over the places, and that all n reports are of one place. After reports z_1, …, z_n he believes
place x with a chance in proportion to prior(x)·∏ Pr[z_i | x], and guesses. Two figures, both for his best guess:

* ``right``: how likely he names the place, E[max_x belief(x)];
* ``distance``: how far his guess lies from the truth, E[min_g Σ_x belief(x)·d(x, g)], their *expected inference error*, over
  guesses g among the places.

Both are means over simulated people and reports, with their standard errors; without any report they are sums over the
places, and after one report that is drawn over public places, sums over its matrix: the standard error is then 0. He sees
noisy positions before they are moved into the box, to places or to cells, which tells him as much or more.

What the promise says of n reports is n·ε·d: it grows with n, whatever the prior. These figures are about one prior, and no
promise: somebody who knows more learns more.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from leeward._arrays import vanishing
from leeward._plain import counted, echo, likely
from leeward.errors import InputError
from leeward.exact._real import whole
from leeward.local.location._after import PriorPlaces
from leeward.local.location._length import off
from leeward.local.location._seen import Seen, SeenOverPlaces
from leeward.noise import Bits

MOST_PLACES: Final = 2_000
MOST_REPORTS: Final = 10_000

_AT_ONCE: Final = 1 << 22
"""Distances between reports and places that are held at a time."""


@dataclass(frozen=True)
class AttackerView:
    """What an attacker's best guess is worth after so many reports of one place.

    Attributes:
        reports: how many he has seen.
        right: how likely he names the right place.
        right_error: its standard error; 0 where it is exact.
        distance: how far his best guess lies from the truth on average, in metres.
        distance_error: its standard error.
    """

    reports: int
    right: float
    right_error: float
    distance: float
    distance_error: float

    def __str__(self) -> str:
        right = likely(self.right, 0)
        return f"{counted(self.reports, 'report')}: right {right} of the time, {off(self.distance)} m off on average"


def attacker_views(
    seen_by: Seen, places: PriorPlaces, reports: Iterable[int], trials: int, bits: Bits
) -> tuple[AttackerView, ...]:
    """Return what an attacker learns after each number of reports, from none on.

    Args:
        seen_by: how likely what he sees is from each place.
        places: where people may be, with the prior.
        reports: the numbers of reports, at least 1 each.
        trials: simulated people, at least 2.
        bits: the entropy of the simulation.
    """
    given: object = reports
    if not isinstance(given, Iterable):
        raise InputError(f"reports = {echo(reports)}", "they are several numbers of reports", "Give such as [1, 10]")
    counts = sorted({whole(count, "reports", says="it is how many the attacker sees") for count in reports})
    trials = whole(trials, "trials", says="it is how many people are simulated")
    if trials < 2:
        raise InputError("trials = 1", "one person says nothing of how far the figures vary", "Give at least 2")
    if len(places.prior) > MOST_PLACES or (counts and counts[-1] > MOST_REPORTS):
        raise InputError(
            f"{len(places.prior):,} places and up to {max(counts, default=0):,} reports",
            f"simulated are at most {MOST_PLACES:,} places and {MOST_REPORTS:,} reports",
            "Join places, or ask about fewer",
        )
    away, many = places.apart, len(places.prior)
    log_prior = np.log(places.prior, out=np.full(many, -np.inf), where=places.prior > 0)
    found = [AttackerView(0, float(places.prior.max()), 0.0, float((places.prior @ away).min()), 0.0)]
    if isinstance(seen_by, SeenOverPlaces) and 1 in counts:
        joint = places.prior[:, None] * seen_by.chances
        found.append(AttackerView(1, float(joint.max(axis=0).sum()), 0.0, float((away @ joint).min(axis=0).sum()), 0.0))
        counts.remove(1)
    if not counts:
        return tuple(found)
    # people in equal steps along the prior from a random start: each place as often as it says, and figures vary less
    start = float(bits.words(1)[0]) / 2**64
    truth = np.searchsorted(np.cumsum(places.prior), (np.arange(trials) + start) / trials * places.prior.sum(), "right")
    truth = np.minimum(truth, many - 1)
    seen = {count: np.empty((2, trials)) for count in counts}
    some = max(_AT_ONCE // many, 1)
    for first in range(0, trials, some):
        people = truth[first : first + some]
        logs = np.tile(log_prior, (len(people), 1))
        drawn = seen_by.logs(people, bits)
        for before, count in itertools.pairwise([0, *counts]):
            for _ in range(before, count):
                logs += next(drawn)
            belief = believed(logs)
            seen[count][:, first : first + some] = belief.max(axis=1), (belief @ away).min(axis=1)
    for count, (right, distance) in seen.items():
        errors = (float(each.std(ddof=1) / np.sqrt(trials)) for each in (right, distance))
        means = float(right.mean()), float(distance.mean())
        found.append(AttackerView(count, means[0], next(errors), means[1], next(errors)))
    return tuple(found)


@vanishing
def believed(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what is believed of each place, from the logarithms of its masses: shape (n, P) both."""
    belief = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(belief / belief.sum(axis=1, keepdims=True), np.float64)
