"""What a notebook shows of a release, of accounts and of a comparison: each text under what it is about."""

from __future__ import annotations

import html as markup
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from tests.report.conftest import FakeRelease
from tests.report.pages import Page

import leeward as lw
from leeward.accounting import Accountant, Filter, GeometricEvent, Odometer
from leeward.accounting._pure import Cost
from leeward.exact import exact
from leeward.planner._plan_report import plan_report
from leeward.report import release_html
from leeward.report._cells import MOST_ANSWERS
from leeward.report._plan import table_of

WAYS = {
    "a person taken out costs at most": "withdraw",
    "a person put in": "insert",
    "some facts about a person taken away": "shrink",
    "some facts about a person invented": "grow",
}
EVENT = GeometricEvent(up=exact("1/2"), down=exact(3), monotone=True)


def cells(html: str, kind: str, scope: str | None = None) -> list[str]:
    return [each.text for each in Page(html).all(kind) if each.attributes.get("scope") == scope]


@pytest.mark.parametrize("many", [1, MOST_ANSWERS, MOST_ANSWERS + 1, 1234])
def test_the_first_answers_of_a_release_are_shown(many: int, make_release: Callable[..., FakeRelease]) -> None:
    release = make_release(["safe", "obscure"] * (many // 2) + ["dangerous"] * (many % 2))
    html = release_html(release)
    shown = min(many, MOST_ANSWERS)
    assert cells(html, "th", "row")[-shown:] == [f"p{i}" for i in range(shown)]
    assert cells(html, "td")[-shown:] == release.answers["state"].to_pylist()[:shown]
    caption = Page(html).all("caption")[-1].text
    first = f"The first {shown} of {many:,} answers"
    assert caption == (first if many > shown else f"{many} answer{'s' * (many > 1)}")


def test_a_release_from_a_seed_says_first_that_it_is_not_fit(make_release: Callable[..., FakeRelease]) -> None:
    release = make_release(["safe"])
    assert "not fit for release" not in release_html(release)
    release.told["fit_for_release"] = False
    assert cells(release_html(release), "th", "row")[0] == "not fit for release"


def test_all_that_a_release_promises_is_shown_under_what_it_is(make_release: Callable[..., FakeRelease]) -> None:
    release = make_release(["safe"], price="3", guaranteed=["One is sure", "Two is sure", "Three is sure"])
    html, said = release_html(release), release.statement
    terms, values = cells(html, "th", "row"), cells(html, "td")
    told = list(zip(terms, values, strict=False))
    for term, value in (
        ("question", said.query.text),
        ("data set", f"{said.dataset}, version {said.version}"),
        ("notion", f"{said.notion.name}, {said.strength} per {said.notion.unit}, price 3"),
        ("protected", said.notion.protects),
        ("not protected", said.notion.does_not_protect),
        *(("guaranteed", each) for each in said.guaranteed),
    ):
        assert (term, " ".join(str(value).split())) in told, term
    assert len(said.guaranteed) == 3


@pytest.mark.parametrize("named", [True, False])
def test_what_is_refused_of_numbers_and_names_is_shown_with_why(named: bool) -> None:
    visits = lw.visits("v.parquet", person="who", place="where", time="when")
    places = lw.places("p.parquet", place="where")
    asked = lw.count_visitors(visits, places, start="2026-01-01T00:00", end="2026-01-01T01:00")
    records = lw.records("p.csv", person="who", combine="refuse")
    number = lw.statistic(records, "mean", column="age", lower=0, upper=9, step=1)
    compared: Any = lw.compare(lw.select(asked, "busiest") if named else number, lw.Presence("1"))
    because = [option.refused for option in compared.options if option.refused]
    assert because
    page = " ".join(markup.unescape(re.sub(r"<[^>]*>", " ", compared._repr_html_())).split())
    assert [why for why in because if " ".join(why.split()) not in page] == []


@pytest.mark.parametrize("kind", ["accountant", "odometer", "filter"])
def test_an_account_shows_each_way_beside_its_own_cost(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    held = Cost(*(exact(Fraction(each)) for each in (1, 2, 3, 4)))
    account: Any = {
        "accountant": Accountant([EVENT]),
        "odometer": Odometer(),
        "filter": Filter(lw.AdditionOnly("1"), 2),
    }[kind]
    if kind != "accountant":
        account.add(EVENT)
    name = "cost" if kind == "accountant" else "total"
    monkeypatch.setattr(type(account), name, property(lambda _: held))
    html = account._repr_html_()
    told = dict(zip(cells(html, "th", "row"), cells(html, "td"), strict=True))
    assert {each: told[each] for each in WAYS} == {each: str(getattr(held, way)) for each, way in WAYS.items()}
    assert Page(html).all("caption")[0].text.startswith("1 release")
    if kind == "filter":
        assert (told["spent"], told["cap"]) == (str(account.spent), "2")


def test_the_row_in_bold_is_the_one_that_is_recommended() -> None:
    visits = lw.visits("v.parquet", person="who", place="where", time="when")
    query = lw.count_visitors(
        visits, lw.places("p.parquet", place="where"), start="2026-01-01T00:00", end="2026-01-01T01:00"
    )
    compared = lw.compare(query, lw.AdditionOnly("1"), lw.Decide(safe_at_most=2))
    html = compared._repr_html_()
    bold = [("<strong>" in row) for row in re.findall("<tr>.*?</tr>", html)[1:]]
    chosen = [chosen for chosen, _ in table_of(plan_report(compared))[1]]
    assert bold == chosen
    assert sum(chosen) == 1
