"""A notion is shown as what it is: its text and its repr are one, and say all that makes it another notion than its like."""

from __future__ import annotations

import pytest

import leeward as lw
from leeward.notion import GradedFacts, Maximum, NormalisedManhattan, Notion

_TWO = """ADP("1", policies=[not (has 'a'), ill in {'flu'}])"""
GRID = lw.ValueGrid("0", "10", "1/2")
WRITTEN = [
    lw.AdditionOnly("1/2"),
    lw.both_hold(lw.AdditionOnly("1"), lw.Presence("2")),
    lw.notion.Graded(presence="1", absence="4"),
    GradedFacts(presence="1", absence="4"),
    lw.Manhattan("1", GRID),
    NormalisedManhattan("1", GRID),
    Maximum("1/2", GRID),
]


@pytest.mark.parametrize("notion", WRITTEN, ids=str)
def test_what_a_notion_is_shown_as_makes_it_again(notion: Notion) -> None:
    names = {name: getattr(lw.notion, name) for name in lw.notion.__all__} | {"both_hold": lw.both_hold}
    assert eval(repr(notion), names) == notion  # its text is ours
    assert str(notion) == repr(notion)


@pytest.mark.parametrize(
    ("notion", "shown"),
    [
        (
            lw.ADP("1", [~lw.has("a"), lw.where("ill", one_of=["flu"])]),
            _TWO,
        ),
        (lw.ADP("1", [bool] * 5, records=[0, 1]), 'ADP("1", policies=[a function, a function, a function, 2 more])'),
        (lw.OSDP("1", lw.has("a")), """OSDP("1", sensitive=has 'a', reading="any")"""),
        (lw.Personalised(lw.AdditionOnly("1"), ["1", "2"]), "Personalised(AdditionOnly, 2 persons, at most 2)"),
        (lw.GroupDP("1", [[0, 2], [1]]), 'GroupDP("1", 2 groups of 3 people)'),
    ],
)
def test_what_is_long_is_told_in_short(notion: Notion, shown: str) -> None:
    assert (str(notion), repr(notion)) == (shown, shown)
