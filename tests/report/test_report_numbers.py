"""The report of a statistic says and draws what was published, escapes what is public, and asks nothing of the network."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.report.conftest import FakeRelease, statement
from tests.report.pages import Page, visit

from leeward.errors import InputError
from leeward.report import _number_figures as number_figures
from leeward.report import places_map, report_html, write_report
from leeward.report._number_figures import answers_figure
from leeward.report._numbers import errors, lead, plain, stated

NASTY = ["<script>document.title='owned'</script>", "</script><img src=x onerror=alert(1)>", "}}{{ 7*7 }}"]


def numbers(answers: dict[str, Any], kind: str = "mean", groups: Any = (), **changes: Any) -> FakeRelease:
    """A release of made-up answers; `changes` replace parts of the query or, if named ``accuracy`` or ``parts``, others."""
    made = statement(0)
    made.pop("sensitivity"), made.pop("decision")
    made["accuracy"] = changes.pop(
        "accuracy", {"mean_absolute": 1.5, "within_95_percent": 4.25, "all_within_95_percent": 6.5}
    )
    parts = changes.pop("parts", [])
    made["query"] = {
        "kind": kind,
        "text": "The mean of everybody's 'age'",
        "answers": len(next(iter(answers.values()))),
        "column": "age",
        "p": None,
        "combine": "refuse",
        "by": "income" if groups else None,
        "groups": list(groups),
        "lower": "0",
        "upper": "100",
        "step": "1/2",
        "people": None,
        "keep": {},
        **changes,
    }
    made["mechanism"] = {
        "name": "geometric",
        "text": "Each answer gets noise",
        "parts": parts,
        "lower": None,
        "upper": None,
    }
    made["not_guaranteed"] = ["numbers are clamped to 0 … 100"]
    table = pa.table(answers)
    return FakeRelease(table, table, made)


@pytest.fixture
def single() -> FakeRelease:
    return numbers({"group": ["all"], "value": [38.5]}, people=1000)


@pytest.fixture
def grouped() -> FakeRelease:
    return numbers(
        {
            "group": NASTY,
            "value": [36.5, 44.0, -1.0],
            "people": [900, 12_000, -3],
            "within_95_percent": [0.5, 0.25, 100.0],
        },
        groups=NASTY,
        accuracy={"counted": "people", "by_number": [{"number": 100, "within_95_percent": 39.456}]},
    )


@pytest.fixture
def histogram() -> FakeRelease:
    ends = {"group": ["a"] * 3 + ["b"] * 3, "from": [0, 1, 2] * 2, "to": [1, 2, 3] * 2}
    return numbers({**ends, "count": [5, -2, 7, 1, 0, 12_345]}, "histogram", ["a", "b"], step="1", upper="3")


def test_one_answer_is_large_and_has_its_error(single: FakeRelease) -> None:
    page = Page(report_html(single))
    assert page.all("h1")[0].text == "The mean of ‘age’ is about 38.5"
    (large,) = [e for e in page.elements if e.attributes.get("class") == "single"]
    assert large.tag == "p"
    assert "38.5" in [e.text for e in page.all("b")]
    assert "± 4.25" in [e.text for e in page.all("span")]
    assert "The exact answer is within 4.25, with probability at least 95 %." in page.text()
    assert not any(e.attributes.get("id") == "plot-answers" for e in page.elements)
    assert "1,000 people with a number" in page.text()
    assert "clamped to 0 to 100, rounded half up to steps of 0.5" in page.text()


def test_groups_are_points_with_their_errors(grouped: FakeRelease) -> None:
    page = Page(report_html(grouped))
    assert page.all("h1")[0].text == "The mean of ‘age’ in 3 groups: from −1 to 44"
    (points,) = page.data("figure-answers")["data"]
    assert points["x"] == [36.5, 44.0, -1.0]
    assert points["error_x"]["array"] == [0.5, 0.25, 100.0]
    # no mean of numbers from 0 to 100 is below 0, whatever the noisy one is
    assert points["error_x"]["arrayminus"] == [0.5, 0.25, 0.0]
    assert "each on its own, and end where no true answer lies." in page.text()
    assert "39.5" in page.text()  # the error by the number of people
    assert [e.text for e in page.all("th")][-4:] == ["income", "Mean", "People (noisy)", "Within, 95 %"]
    assert page.data("rows")[1] == [NASTY[1], "44", "12000", "0.25"]


def test_groups_with_one_answer_are_told_in_one() -> None:
    page = Page(report_html(numbers({"group": ["a", "b"], "value": [40, 40]}, groups=["a", "b"])))
    assert page.all("h1")[0].text == "The mean of ‘age’ in 2 groups: about 40 in each"


def test_names_of_groups_stay_names(grouped: FakeRelease) -> None:
    page = Page(report_html(grouped))
    assert set(NASTY) <= {e.text for e in page.all("td")}
    assert not page.all("img")
    figure = page.data("figure-answers")
    shown = [*figure["layout"]["yaxis"]["ticktext"], *figure["data"][0]["customdata"]]
    assert not any("<" in text for text in shown)


def test_bars_have_lines_as_long_as_the_stated_error(histogram: FakeRelease) -> None:
    page = Page(report_html(histogram))
    assert page.all("h1")[0].text == "People by ‘age’ in 3 intervals, in 2 groups"
    one, two = page.data("figure-answers")["data"]
    assert (one["name"], one["x"], one["y"]) == ("a", [0.5, 1.5, 2.5], [5, -2, 7])
    assert two["y"] == [1, 0, 12_345]
    assert one["error_y"]["array"] == [4.25] * 3
    assert one["error_y"]["arrayminus"] == [4.25, 0, 4.25]
    assert two["error_y"]["arrayminus"] == [1, 0, 4.25]
    low, high = page.data("figure-answers")["layout"]["yaxis"]["range"]
    assert low < -2
    assert high > 12_345 + 4.25
    assert "all 6 are within 6.5 with that probability" in page.text()


@pytest.mark.parametrize(
    ("up", "down", "above", "below"),
    [("1", "inf", [0, 0], [4.25, 0]), ("inf", "1", [4.25, 4.25], [0, 0]), ("1", "1", [4.25, 4.25], [4.25, 0])],
)
@pytest.mark.parametrize("kind", ["histogram", "count", "sum"])
def test_no_line_reaches_where_one_sided_noise_leaves_no_true_answer(
    kind: str, up: str, down: str, above: list[float], below: list[float]
) -> None:
    """Where noise only adds, no true answer is above a published one; where it only takes away, none is below."""
    part = [{"rate_up": up, "rate_down": down, "step": "1"}]
    values = [7, -2]
    if kind == "histogram":
        made = numbers({"from": [0, 1], "to": [1, 2], "count": values}, kind, parts=part)
    elif kind == "count":
        asked = {"column": None, "lower": None, "upper": None, "step": None, "parts": part}
        made = numbers({"group": ["a", "b"], "count": values}, "histogram", ["a", "b"], **asked)
    else:
        made = numbers({"group": ["a", "b"], "value": values}, kind, ["a", "b"], parts=part)
    page = Page(report_html(made))
    drawn = page.data("figure-answers")["data"][0]
    lines = drawn["error_y" if kind == "histogram" else "error_x"]
    assert lines["array"] == above
    # no count is below 0; a sum may be
    assert lines["arrayminus"] == (below if kind != "sum" else [4.25, 4.25] if any(below) else [0, 0])
    ended = "and end where no true answer lies." in page.text()
    assert ended == (kind != "sum" or "inf" in (up, down))


def test_lines_give_way_where_there_are_many_bars_and_groups_where_there_are_many() -> None:
    many = {"from": list(range(200)), "to": list(range(1, 201)), "count": [1] * 200}
    (bars,) = answers_figure(numbers(many, "histogram")).data
    assert not bars.error_y.visible
    names = [f"g{i}" for i in range(250)]
    groups = numbers({"group": names, "value": [1] * 250}, groups=names)
    (points,) = answers_figure(groups).data
    assert not points.error_x.visible
    assert len(points.x) == number_figures.MOST_GROUPS
    assert "The first 100 of 250 groups are drawn." in Page(report_html(groups)).text()


def test_groups_are_counted_by_bars() -> None:
    result = numbers(
        {"group": ["a", "b"], "count": [5, 7]}, "histogram", ["a", "b"], column=None, lower=None, upper=None
    )
    (bars,) = answers_figure(result).data
    assert (bars.type, bars.orientation, list(bars.x)) == ("bar", "h", [5, 7])
    page = Page(report_html(result))
    assert page.all("h1")[0].text == "People in 2 groups by ‘income’"
    assert "Numbers" not in [e.text for e in page.all("dt")]


def test_the_statement_is_carried_and_spoken(histogram: FakeRelease) -> None:
    page = Page(report_html(histogram))
    assert page.data("release.json") == histogram.statement.to_dict()
    assert json.loads(page.all("pre")[0].text) == histogram.statement.to_dict()
    for part in ("assumptions", "theorems", "guaranteed"):
        assert all(each in page.text() for each in histogram.told[part])
    assert "Numbers are clamped to 0 … 100." in page.text()
    ids = [e.attributes["id"] for e in page.elements if "id" in e.attributes]
    assert len(ids) == len(set(ids))
    assert {e.attributes["aria-labelledby"] for e in page.all("section")} <= set(ids)


def test_a_seeded_release_is_marked_unfit(single: FakeRelease) -> None:
    assert "Not fit for release" not in Page(report_html(single)).text()
    single.told["fit_for_release"] = False
    assert "Not fit for release" in Page(report_html(single)).text()


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"kind": "percentile", "p": "50"}, "The median of ‘age’ is about 38.5"),
        ({"kind": "percentile", "p": "0"}, "The least value of ‘age’ is about 38.5"),
        ({"kind": "percentile", "p": "181/2"}, "The 90.5 % point of ‘age’ is about 38.5"),
        ({"kind": "sum", "by": "income", "groups": ["low"]}, "The sum of ‘age’ in ‘low’ is about 38.5"),
    ],
)
def test_headlines(query: dict[str, Any], said: str, single: FakeRelease) -> None:
    single.told["query"] |= query
    assert Page(report_html(single)).all("h1")[0].text == said


@pytest.mark.parametrize(("how", "said"), [("sum", "the sum"), ("min", "the least"), ("refuse", None), (None, None)])
def test_how_a_person_s_rows_are_combined_is_said(how: str | None, said: str | None, single: FakeRelease) -> None:
    single.told["query"] |= {"combine": how, "keep": {"state": ["in", "out"]}}
    text = Page(report_html(single)).text()
    assert ("A person with several rows" in text) == (said is not None)
    assert said is None or f"counts once, with {said} of their numbers" in text
    assert "state = in or out" in text


@pytest.mark.parametrize(
    ("number", "written"),
    [(3, "3"), (-3, "−3"), (12345.0, "12,345"), (0.1, "0.1"), (1234.5678, "1,234.5678"), (2**60, f"{2**60:,}")],
)
def test_numbers_are_written_as_they_are(number: float, written: str) -> None:
    assert plain(number) == written


def test_a_statistic_has_no_map(single: FakeRelease) -> None:
    with pytest.raises(InputError, match="coordinates"):
        places_map(single)


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["grouped", "histogram"])
def test_a_browser_draws_it_and_is_asked_for_nothing(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    result = request.getfixturevalue(name)
    seen = visit(write_report(result, tmp_path / "report.html"), tmp_path / "browser")
    points = [e for e in seen.page.elements if "point" in e.attributes.get("class", "").split()]
    assert len(points) == result.answers.num_rows
    assert seen.page.by_id("found").text == f"{result.answers.num_rows} answers"
    assert seen.console == []
    assert seen.requests == []
    assert "owned" not in seen.page.all("title")[0].text


def test_visitors_keep_their_own_page(make_release: Callable[..., Any]) -> None:
    page = Page(report_html(make_release(["safe", "obscure"])))
    assert page.by_id("plot-curve")
    assert page.by_id("state")
    assert not any(e.attributes.get("id") == "plot-answers" for e in page.elements)


def test_the_error_of_each_answer_and_of_all_are_told_apart_and_rounded_up() -> None:
    accuracy = {"mean_absolute": 1.0, "within_95_percent": 1.2341, "all_within_95_percent": 2.3451}
    said = lead(numbers({"value": [1, 2]}, accuracy=accuracy))
    assert said == (
        "Each answer is within 1.24 of the exact one with probability at least 95 %; all 2 are within 2.35 with that"
        " probability."
    )
    means = {"value": [1, 2], "within_95_percent": [0.5, 1000.25]}
    said = lead(numbers(means, accuracy={"counted": "people", "by_number": []}))
    assert said == "Each answer is within 1,001 of the exact one, or nearer, with probability at least 95 %."


def test_a_mean_error_reads_as_plans_and_the_desk_tell_it() -> None:
    accuracy = {"mean_absolute": 99.5001, "within_95_percent": 297.98, "all_within_95_percent": 400.0}
    result = numbers({"value": [1, 2]}, accuracy=accuracy)
    assert (errors(result.statement)) == [("± 298", "95 % error"), ("99.6", "mean error")]


@pytest.mark.parametrize(("rows", "error"), [(80, 4.25), (81, 4.25), (200, 4.25), (3, 0.0)])
@pytest.mark.parametrize("kind", ["groups", "intervals", "means"])
def test_the_caption_speaks_of_lines_where_lines_are_drawn(rows: int, error: float, kind: str) -> None:
    names = [f"g{i}" for i in range(rows)]
    accuracy = {"mean_absolute": 1.5, "within_95_percent": error, "all_within_95_percent": error}
    if kind == "intervals":
        ends = {"from": list(range(rows)), "to": list(range(1, rows + 1)), "count": [1] * rows}
        result = numbers(ends, "histogram", accuracy=accuracy)
    elif kind == "groups":
        result = numbers({"group": names, "count": [1] * rows}, "histogram", names, accuracy=accuracy)
    else:
        means = {"group": names, "value": [1] * rows, "within_95_percent": [error] * rows}
        result = numbers(means, groups=names, accuracy={"counted": "people", "by_number": []})
    (drawn,) = answers_figure(result).data
    lines = (drawn.error_y if kind == "intervals" else drawn.error_x).visible
    (caption,) = [e.text for e in Page(report_html(result)).all("figcaption")]
    assert lines == (rows <= 80 and error > 0) == ("lines reach" in caption)
    assert lines or "the error that is kept with probability 95 % is said above, not drawn." in caption


@pytest.mark.sweep
def test_a_column_of_the_table_s_own_heading_is_one_like_any_other(tmp_path: Path) -> None:
    """Groups by a column that is called as the states of places are: no marks, and all of it is searched."""
    result = numbers({"group": ["safe", "blue"], "value": [1, 2]}, groups=["safe", "blue"], by="Said to be")
    path = write_report(result, tmp_path / "report.html")
    page = path.read_text().replace('id="find" autocomplete', 'id="find" value="saf" autocomplete')
    path.write_text(page)
    seen = visit(path, tmp_path / "browser").page
    assert seen.by_id("found").text == "1 answer"
    assert not any("mark" in e.attributes.get("class", "").split() for e in seen.elements)


def test_every_table_scrolls_by_itself(grouped: FakeRelease, make_release: Callable[..., Any]) -> None:
    """So that no page is wider than a telephone."""
    for result in (grouped, make_release(["safe", "obscure"])):
        page = Page(report_html(result))
        tables = [i for i, e in enumerate(page.elements) if e.tag == "table"]
        assert len(tables) == 2
        assert [page.elements[i - 1].attributes.get("class") for i in tables] == ["scroll"] * 2


# ---- percentiles by rank: the error is a number of people


def by_rank(answers: dict[str, Any], k: int, counted: str = "people", groups: Any = ()) -> FakeRelease:
    made = numbers(answers, "percentile", groups, p="50")
    made.told["mechanism"] = {
        "name": "rank", "text": "A point is named", "rate": "1", "points": 101, "lower": "0", "step": "1",
    }  # fmt: skip
    within = {
        "within_50_percent": 0,
        "within_95_percent": k,
        "within_99_percent": k + 1,
        "all_within_95_percent": k + 9,
    }
    made.told["accuracy"] = {"counted": counted, "points": 101, **within}
    return made


@pytest.mark.parametrize(("down", "drawn"), [("inf", True), ("1", False)])
def test_counts_that_are_never_too_low_have_a_curve_of_certain_bounds(down: str, drawn: bool) -> None:
    made = numbers({"from": [0, 1, 2], "to": [1, 2, 3], "count": [5, 0, 2]}, "histogram")
    made.told["mechanism"] |= {"name": "geometric", "parts": [{"rate_up": "1", "rate_down": down, "step": "1"}]}
    lines = [trace for trace in answers_figure(made).data if trace.type == "scatter"]
    assert [(tuple(line.x), tuple(line.y)) for line in lines] == ([((0, 1, 2, 3), (7, 2, 2, 2))] if drawn else [])
    # between two ends it is as high as at the lower: no more have a number from 1/2 on than from 0 on
    assert all(line.line.shape == "hv" for line in lines)
    said = "the line is how many at most have a number from there on, which is certain of those counted"
    assert (said in Page(report_html(made)).text()) == drawn


def test_a_curve_is_certain_of_people_as_they_are_counted() -> None:
    """Whose least number counts may have a larger one: "certain of those counted" was false."""
    made = numbers({"from": [0, 1], "to": [1, 2], "count": [5, 0]}, "histogram", combine="min")
    made.told["mechanism"] |= {"name": "geometric", "parts": [{"rate_up": "1", "rate_down": "inf", "step": "1"}]}
    said = "which is certain of people who are each counted once with the least of their numbers"
    assert said in Page(report_html(made)).text()


def test_each_group_has_a_curve_of_certain_bounds_of_its_own() -> None:
    ends = {"group": ["f", "f", "m", "m"], "from": [0, 1, 0, 1], "to": [1, 2, 1, 2], "count": [5, 1, 2, 4]}
    made = numbers(ends, "histogram", ["f", "m"])
    made.told["mechanism"] |= {"name": "geometric", "parts": [{"rate_up": "1", "rate_down": "inf", "step": "1"}]}
    lines = [trace for trace in answers_figure(made).data if trace.type == "scatter"]
    assert [(line.name, tuple(line.x), tuple(line.y)) for line in lines] == [
        ("f, at most, from here on", (0, 1, 2), (6, 1, 1)),
        ("m, at most, from here on", (0, 1, 2), (6, 4, 4)),
    ]
    said = "lines are how many of their group at most have a number from there on, which is certain of those counted"
    assert said in Page(report_html(made)).text()


def test_a_histogram_of_two_numbers_is_a_map_of_cells() -> None:
    cut = [
        {"column": "age", "lower": "0", "upper": "2", "step": "1"},
        {"column": "pay", "lower": "0", "upper": "3/2", "step": "1/2"},
    ]
    cells = [(a, b) for a in ("0 to 1", "1 to 2") for b in ("0 to 0.5", "0.5 to 1", "1 to 1.5")]
    answers = {"age": [a for a, _ in cells], "pay": [b for _, b in cells], "count": [1, 2, 3, 4, 5, -6]}
    made = numbers(answers, "histogram", cells, column=None, by=["age", "pay"], intervals=cut, lower=None)
    (cells_drawn,) = answers_figure(made).data
    assert (tuple(cells_drawn.x), tuple(cells_drawn.y)) == ((0, 1, 2), (0, 0.5, 1, 1.5))
    assert [list(row) for row in cells_drawn.z] == [[1, 4], [2, 5], [3, -6]]
    assert cells_drawn.zmin == -6
    page = Page(report_html(made)).text()
    assert "Each cell is a noisy count, the darker the larger" in page
    assert "0 to 1.5, in intervals of 0.5" in page


def several(groups: Any, answers: dict[str, Any]) -> FakeRelease:
    made = by_rank(answers, 7, groups=groups)
    made.told["query"] |= {"p": ["0", "50", "100"], "answers": len(answers["value"])}
    return made


def test_several_percentiles_of_one_group_are_all_in_the_headline() -> None:
    page = Page(report_html(several((), {"group": ["all"] * 3, "percentile": [0, 50, 100], "value": [17, 38, 90]})))
    assert page.all("h1")[0].text == (
        "Of ‘age’ the least value is about 17, the median is about 38 and the greatest value is about 90"
    )
    text = page.text()
    assert (
        "At most 7 people have a number between an answer and the exact percentile, with probability at least 95 %"
        in text
    )
    assert "Points are the answers, from the smallest percentile to the largest" in text
    assert "Per cent" in text


def test_several_percentiles_of_groups_are_a_line_each() -> None:
    answers = {"group": ["f"] * 3 + ["m"] * 3, "percentile": [0, 50, 100] * 2, "value": [17, 38, 90, 18, 40, 80]}
    made = several(("f", "m"), answers)
    assert Page(report_html(made)).all("h1")[0].text == (
        "The least value, median and greatest value of ‘age’ in 2 groups: from 17 to 90"
    )
    figure = answers_figure(made)
    assert [tuple(line.x) for line in figure.data] == [(17, 38, 90), (18, 40, 80)]
    assert [tuple(line.y) for line in figure.data] == [(0, 0, 0), (1, 1, 1)]
    assert figure.data[1].customdata[2] == "m, 100 %: 80"
    alike = several((), {"group": ["all"] * 3, "percentile": [0, 50, 100], "value": [40, 40, 45]})
    assert tuple(answers_figure(alike).data[0].text) == ("0 %, 50 %", "", "100 %")
    assert figure.layout.yaxis.ticktext == ("f", "m")


@pytest.mark.parametrize(
    ("k", "counted", "said", "figure"),
    [
        (7, "rows", "At most 7 rows have a number between it and the exact median", "7 rows"),
        (1, "rows", "At most one row has a number between it and the exact median", "1 row"),
        (0, "rows", "No row has a number between it and the exact median", "0 rows"),
        (1_234, "people", "At most 1,234 people have a number between it and the exact median", "1,234 people"),
        (1, "people", "At most one person has a number between it and the exact median", "1 person"),
        (0, "people", "No person has a number between it and the exact median", "0 people"),
    ],
)
def test_an_error_in_rank_is_a_number_of_people(k: int, counted: str, said: str, figure: str) -> None:
    result = by_rank({"value": [40]}, k, counted)
    text = Page(report_html(result)).text()
    assert f"{said}, with probability at least 95 %." in text
    assert errors(stated(result)) == [(figure, "95 % error in rank")]
    assert figure in text
    assert "±" not in text, "it is no amount of what is asked about"


def test_several_answers_by_rank_are_drawn_without_lines() -> None:
    result = by_rank({"group": ["low", "high"], "value": [30, 44]}, 7, groups=["low", "high"])
    text = Page(report_html(result)).text()
    assert "between an answer and the exact median of its group" in text
    assert "with 16 that is so of all 2 together" in text
    assert "their errors are numbers of people, and are said above" in text
    (drawn,) = answers_figure(result).data
    assert list(drawn.x) == [30, 44]
    assert not drawn.error_x.visible
