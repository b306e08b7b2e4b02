# SPDX-License-Identifier: Apache-2.0
"""The losses on larger grids that the guide gives: each is that of a private mechanism, by its own matrix."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from leeward.analysis import optimal
from leeward.distance import Plane

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "d-privacy.md"


def told() -> dict[tuple[int, str], str]:
    """Side and dilation of each grid of which the guide gives the loss."""
    text = " ".join(GUIDE.read_text(encoding="utf-8").split())
    losses = re.search(
        r"9 × 9 grid .*?\(loss ([\d.]+)\), 12 × 12 .*?\(([\d.]+)\),? .*?1\.1-spanner .*?\(([\d.]+)\)", text
    )
    assert losses is not None, "the guide gives no losses"
    return dict(zip([(9, "1"), (12, "1"), (12, "1.1")], losses.groups(), strict=True))


@pytest.mark.sweep
@pytest.mark.long
@pytest.mark.parametrize(("side", "dilation"), [(9, "1"), (12, "1"), (12, "1.1")])
def test_the_loss_that_the_guide_gives(side: int, dilation: str) -> None:
    cells = [(i, j) for i in range(side) for j in range(side)]
    found = optimal(cells, Plane("1"), None, "euclidean", dilation=dilation)
    chances = found.mechanism.to_numpy()
    x = np.array(found.mechanism.inputs, dtype=float)
    z = np.array(found.mechanism.outputs, dtype=float)
    far = np.hypot(*(x[:, None] - x[None, :]).transpose(2, 0, 1))
    for each in range(len(cells)):  # all ordered pairs: P(z | x) ≤ e^d(x, x′) P(z | x′)
        assert (chances[each] <= np.exp(far[each])[:, None] * chances * (1 + 1e-9)).all()
    assert np.allclose(chances.sum(axis=1), 1)
    loss = float((chances * np.hypot(*(x[:, None] - z[None, :]).transpose(2, 0, 1))).sum() / len(cells))
    assert f"{loss:.3f}" == told()[side, dilation]
    if dilation == "1":
        assert loss - found.bound < 1e-6  # and none loses less
