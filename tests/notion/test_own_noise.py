"""Each record perturbed at its own person's ε: all reports together are exactly personalised, and nothing less careful is.

The oracle is the definition, pair by pair and output by output, with people and ε gone through by hand.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from leeward import verify
from leeward.distance import Line, Plane
from leeward.mechanism import FiniteMechanism, PlanarMechanism, truncated_geometric, urr, warner
from leeward.notion import ULDP, LocalDP, Notion, Personalised, RecordDistance

OWN = ["1", "1/2", "2"]
BITS = (False, True)
WORDS = ("flu", "cold", "none")
CORNERS = ((0, 0), (1, 0), (1, 1))
Local = tuple[Callable[[str], FiniteMechanism], Notion, Sequence[Any]]


def flu(record: Any) -> bool:
    return bool(record == "flu")


LOCAL: dict[str, Local] = {
    "yes or no": (lambda e: warner(e).on(), LocalDP(1), BITS),
    "only a yes is hidden": (lambda e: urr(e, WORDS, flu), ULDP(1, flu, records=WORDS), WORDS),
    "a reading": (
        lambda e: truncated_geometric(e, 2).on(range(3)), RecordDistance(1, Line(1, 1).on(range(3))), range(3),
    ),
    "a position": (
        lambda e: PlanarMechanism(Plane(e, "euclidean"), step=1, lower=(0, 0), upper=(1, 1)).on(CORNERS),
        RecordDistance(1, Plane(1, "euclidean").on(CORNERS)),
        CORNERS,
    ),
}  # fmt: skip


def collected(make: Callable[[str], FiniteMechanism], epsilons: Sequence[str]) -> FiniteMechanism:
    return FiniteMechanism.product(make(epsilon) for epsilon in epsilons)


@pytest.mark.sweep
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long if name == "a position" else ()) for name in LOCAL]
)
def test_all_reports_together_are_personalised_and_no_more(name: str) -> None:
    make, notion, _ = LOCAL[name]
    own = OWN[:2]
    reports = collected(make, own)
    assert verify(reports, Personalised(notion, own)).tight
    assert not verify(reports, Personalised(notion, own[::-1])), "another one's ε"
    assert not verify(reports, notion.with_epsilon("1/2")), "everybody at the smallest"
    assert not verify(reports, Personalised(notion, ["1", "0.49"])), "a little less than one of them asked for"


def test_word_by_word() -> None:
    """Three people, all pairs of tables and all outputs: ln of the ratio is at most Σ ε_i over the people who differ."""
    reports = collected(lambda e: warner(e).on(), OWN)
    rows, eps = reports.to_numpy(), [float(number(e)) for e in OWN]
    tables = list(itertools.product(BITS, repeat=3))
    for (i, x), (j, y) in itertools.product(enumerate(tables), repeat=2):
        most = np.log(rows[i] / rows[j]).max()
        assert most == pytest.approx(sum(e for e, a, b in zip(eps, x, y, strict=True) if a != b), abs=1e-12)


def number(text: str) -> float:
    top, _, bottom = text.partition("/")
    return int(top) / int(bottom or 1)


def test_an_epsilon_that_follows_from_the_record_is_not_private() -> None:
    """A yes is perturbed at ε = 2 and a no at ½: what is said at ½ gives the no away where the level is known."""
    at = {False: "1/2", True: "2"}
    told = FiniteMechanism.from_rows(
        {x: {(at[x], said): p for said, p in warner(at[x]).on().row(x).items()} for x in BITS}
    )
    found = verify(told, LocalDP("100").per_person.on(BITS))
    assert found.outcome == "not private"
    silent = FiniteMechanism.from_rows({x: dict(warner(at[x]).on().row(x)) for x in BITS})
    assert not verify(silent, LocalDP("1/2").per_person.on(BITS)), "nor at the smaller where it is not shown"
