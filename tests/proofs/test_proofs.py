"""Every mechanism is private under every notion that the guide says it serves: at each ε, and not a little below."""

from __future__ import annotations

import inspect
import itertools

import pytest
from tests.proofs.page import HEAD, PAGE, Proof, filled, line, prove, shown
from tests.proofs.pair import EPSILONS, Pair
from tests.proofs.pairs import SECTIONS

import leeward.mechanism
import leeward.notion
from leeward.distance import Line
from leeward.exact import inf
from leeward.mechanism import Geometric
from leeward.notion import Notion

PAIRS = list(itertools.chain.from_iterable(SECTIONS.values()))


def convincing(pair: Pair, found: Proof) -> bool:
    """Whether the three verdicts are those that the pair claims."""
    if not found.promised or found.promised.tight is not pair.tight:
        return False
    if pair.tight and found.lower.outcome != "not private":
        return False
    return (found.other_way.exact_scale == inf) is pair.one_way


@pytest.mark.parametrize("pair", PAIRS, ids=lambda p: f"{p.mechanism} under {p.notion}")
def test_it_is_proved_and_stands_on_the_page(pair: Pair) -> None:
    proofs = [prove(pair, epsilon) for epsilon in EPSILONS]
    for epsilon, found in zip(EPSILONS, proofs, strict=True):
        assert convincing(pair, found), f"at ε = {epsilon}: {found.promised}\n{found.lower}\n{found.other_way}"
        assert found.promised.pairs > 0
    assert line(pair, proofs) in shown(PAGE.read_text(), "proofs").splitlines(), "run python -m tests.proofs.page"


def test_a_claim_that_is_wrong_is_not_convincing() -> None:
    """Each of the three verdicts counts: too little noise, too much, and a direction that is not what is claimed."""

    def upward(rate: object, points: int = 4) -> Pair:
        return Pair(
            "", "", lambda e: (Geometric(Line(inf, e * rate)).on(range(points)), Line(inf, e).on(range(points))), True
        )  # type: ignore[operator]

    assert convincing(upward(1), prove(upward(1), EPSILONS[0]))
    assert not convincing(upward("1.001"), prove(upward("1.001"), EPSILONS[0]))
    assert not convincing(upward("0.998"), prove(upward("0.998"), EPSILONS[0]))
    two_sided = Pair("", "", lambda e: (Geometric(Line(e, e)).on(range(4)), Line(inf, e).on(range(4))), True)
    assert not convincing(two_sided, prove(two_sided, EPSILONS[0]))


def test_the_page_has_these_rows_and_no_others() -> None:
    expected: list[str] = []
    for title, pairs in SECTIONS.items():
        expected += [f"### {title}", *HEAD, *(f"| {pair.mechanism} | `{pair.notion}` |" for pair in pairs)]
    rows = [row for row in shown(PAGE.read_text(), "proofs").splitlines() if row]
    assert len(rows) == len(expected)
    for row, start in zip(rows, expected, strict=True):
        assert row.startswith(start), "run python -m tests.proofs.page"


def test_a_row_that_is_out_of_date_is_noticed() -> None:
    page = PAGE.read_text()
    table = shown(page, "proofs")
    wrong = filled(page, "proofs", table.replace("∞ |", "1 |", 1))
    assert shown(wrong, "proofs") != table
    assert filled(wrong, "proofs", table) == page


def test_every_notion_and_every_mechanism_is_in_the_table() -> None:
    """Those without a finite matrix are named with the test that stands in for the proof."""
    text = PAGE.read_text()
    notions = [getattr(leeward.notion, name) for name in leeward.notion.__all__]
    classes = {c.__name__ for c in notions if inspect.isclass(c) and issubclass(c, Notion) and c is not Notion}
    classes -= {"Both"}  # made by both_hold
    mechanisms = {name for name in leeward.mechanism.__all__ if hasattr(getattr(leeward.mechanism, name), "release")}
    assert "both_hold(" in text
    assert {name for name in classes if f"{name}(" not in text} == set()
    assert {name for name in mechanisms if f"{name}" not in text} == set()
