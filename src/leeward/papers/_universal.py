# SPDX-License-Identifier: Apache-2.0
"""The theorem behind ADP's Theorem VIII.3 and d-privacy's Proposition 8, on many random programs: the full set only.

On answers 0..n, geometric noise with the Bayes remap loses as little as any private mechanism, for every prior and every
loss that grows on each side of the truth. Each program here has a random n, rates, prior and loss; the least loss is
`leeward.analysis._optimal`'s, certified.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pandas as pd

from leeward.analysis import optimal
from leeward.analysis._remap import remap
from leeward.distance import Line
from leeward.exact._real import inf
from leeward.mechanism import Geometric
from leeward.papers._claim import Chapter, Figure

RATES = [Fraction(r) for r in ("1/10", "1/4", "1/2", "1", "2", "3")]
KINDS = ("one-sided (ADP)", "two-sided (DP)", "graded")
EACH = 60
SEED = 13


def chapter(full: bool) -> Chapter:
    """Return the largest gap of each kind; nothing in the quick set."""
    if not full:
        return Chapter()
    rng = np.random.default_rng(SEED)
    rows = []
    for kind in KINDS:
        gaps = [_gap(kind, rng) for _ in range(EACH)]
        plain, remapped = (max(gap[i] for gap in gaps) for i in (0, 1))
        rows.append((kind, EACH, plain, remapped))
    data = pd.DataFrame(rows, columns=["noise", "programs", "largest gap without remap", "largest gap with remap"])
    largest = data["largest gap with remap"]
    return Chapter(
        [("adp-viii-3-many", largest[0]), ("d-privacy-proposition-8", largest[1]), ("d-privacy-graded", largest[2])],
        [Figure("d-privacy-universal", data)],
    )


def _gap(kind: str, rng: np.random.Generator) -> tuple[float, float]:
    """Return by how much one random program is missed, without and with the remap, relative to its largest loss."""
    n = int(rng.integers(1, 9))
    fall, rise = (RATES[int(i)] for i in rng.integers(0, len(RATES), 2))
    line = Line(rise=inf if kind == KINDS[0] else fall if kind == KINDS[1] else rise, fall=fall)
    prior = [Fraction(int(w)) for w in rng.integers(0, 10, n + 1)]
    prior[int(rng.integers(0, n + 1))] += 1
    chances = [p / sum(prior) for p in prior]
    loss = [_loss(i, n, rng) for i in range(n + 1)]
    mechanism = Geometric(line, lower=0, upper=n).on(range(n + 1))
    scale = max(max(row) for row in loss) or 1
    least = optimal(range(n + 1), line, chances, loss).bound
    plain = float(np.asarray([float(c) for c in chances]) @ (mechanism.to_numpy() * np.array(loss, float)).sum(axis=1))
    return (plain - least) / scale, max(0.0, float(remap(mechanism, chances, loss).loss) - least) / scale


def _loss(truth: int, n: int, rng: np.random.Generator) -> Sequence[int]:
    """Return a loss that does not fall as the guess moves away from the truth on either side."""
    steps = rng.integers(0, 4, n + 1)
    return [int(steps[truth + 1 : guess + 1].sum() + steps[guess:truth].sum()) for guess in range(n + 1)]
