# SPDX-License-Identifier: Apache-2.0
"""Levels that are scanned from the highest down, in each group by itself: for the price of one count.

Theorem. Let N(g, z) be how many people of group g have a number above level z, and let every step of the notion withdraw one
person. For each group let the sanitized mechanism of rate ε and c stops answer N(g, z) in a public order of its levels, with
noise of its own. Then all that is published is c·ε-private, however many levels and groups there are; and wherever *safe* is
said of a level with threshold t, at most t people are above it.

Proof. Who is withdrawn is in one listed group at most. The counts of all others stay, and their noise is independent, so
the ratio of the chances of an output is that of this one group's. There each count stays or falls by 1, because one person
is above a level or not. Along the run, *safe* is said with probability Pr[noise ≤ t − N], which does not fall as N falls:
its ratio is at most 1. A noisy count z > t is published with probability Pr[noise = z − N], whose ratio is at most e^ε, and
at most c of them are; after the last nothing is said. So the ratio is at most e^{c·ε}, and the costs of a chain of steps add
up. Noise is never negative: a noisy count of at most t hides one of at most t.

That counts are nested, N(g, z) ≥ N(g, z + 1), is not needed for this, and gives the order its sense: from the highest
level down they only grow, so the first level that cannot be called safe is met last, and all but t people are certainly at
or below the lowest level that is called safe. How far down that is: level number i, above which n ≤ t people are, is reached
and called safe with probability at least (1 − e^{−ε(t + 1 − n)})^i, because no more people are above the levels before it.

Noise on all m levels at once would cost m times as much, because withdrawing one person may lower all m counts.

Machine-checked (docs/proved.md): `sanitized_reaches`, `scans_private`, `levels_private`.
"""

from __future__ import annotations

from leeward.errors import NotPrivateError
from leeward.notion import WITHDRAW, Notion
from leeward.planner._number_plan import steps_of
from leeward.query._selection import Counted


def refuse_scans(query: Counted, notion: Notion) -> None:
    """Refuse a scan of each group by itself, for the price of one, where a step may do more than withdraw one person."""
    if query.scans > 1 and not {step.change for step in steps_of(query, notion)} <= {WITHDRAW}:
        raise NotPrivateError(
            f"A scan of each group by itself under {notion.name}",
            "only where every step withdraws one person, who is in one group, do all scans together cost one",
            'Use addition-only, or mechanism = "geometric"',
        )
