"""The guide's tables say what the notions say."""

from __future__ import annotations

import inspect
from fractions import Fraction

import pytest
from tests.notion.guide import NOTIONS, PAGE, PRICED, prices, promises, renewed

import leeward.notion
from leeward.notion import Notion


def test_the_tables_of_the_guide_are_those_of_the_notions() -> None:
    page = PAGE.read_text()
    assert promises() in page
    assert prices() in page
    assert renewed(page) == page, "run python -m tests.notion.guide"


def test_a_table_that_is_out_of_date_is_noticed() -> None:
    page = PAGE.read_text()
    for found in ("| **addition-only** | ∞ |", "nothing |"):
        assert found in page
        wrong = page.replace(found, found.replace("∞", "1").replace("nothing", "something"), 1)
        assert renewed(wrong) == page != wrong


def test_every_notion_is_in_the_guide() -> None:
    public = [getattr(leeward.notion, name) for name in leeward.notion.__all__]
    classes = {c for c in public if inspect.isclass(c) and issubclass(c, Notion) and c is not Notion}
    assert {type(notion) for notion, _ in NOTIONS.values()} == classes


@pytest.mark.parametrize("name", PRICED)
def test_a_notion_costs_its_own_price_in_itself(name: str) -> None:
    notion = NOTIONS[name][0]
    assert notion.price_in(notion) == 1
    assert notion.scale("7/2").price_in(notion) == notion.price_in(notion.scale("2/7")) == Fraction(7, 2)
