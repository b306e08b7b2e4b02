"""The table of a comparison, cell by cell: each error is that of its own plan, formatted here once more."""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal
from typing import Any

import pytest
from tests.planner.test_answer_compare import TOWNS, asked

import leeward as lw
from leeward.planner import Scenario, answer_report
from leeward.planner._accuracy import NumberAccuracy, RankAccuracy
from leeward.planner._answer_cells import cells_of
from leeward.planner._answer_report import name_report


def up(number: float) -> str:
    """The number to three digits, never less, as `f"{…:,}"` writes large ones."""
    rounded = Decimal(number).normalize(Context(prec=3, rounding=ROUND_CEILING))
    return f"{int(rounded)}" if rounded == rounded.to_integral_value() else f"{rounded.normalize():f}"


QUESTIONS: dict[str, tuple[Any, Any]] = {
    "sum": (asked("sum"), None),
    "sums of groups": (asked("sum", by="g", groups=["a", "b"]), None),
    "mean": (asked("mean"), None),
    "median": (asked("median"), None),
    "quartiles": (asked("percentile", p=["25", "75"]), None),
    "groups that nobody has listed": (TOWNS, "1e-6"),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_each_error_in_the_table_is_that_of_its_plan(question: str) -> None:
    query, delta = QUESTIONS[question]
    report = answer_report(lw.compare(query, lw.UnboundedDP("1/2"), **({"delta": delta} if delta else {})))
    (headings, rows), _ = cells_of(report)
    at = [number for number, heading in enumerate(headings) if "95%" in heading or "half" in heading]
    assert len(rows) == len(report.shown) > 1
    marked = 0
    for row, option in zip(rows, report.shown, strict=True):
        told: Any = option.accuracy
        if option.useless is not None:
            marked += 1
            expected = ["useless"] * len(at)
        elif question == "mean":
            expected = [up(each.within_95_percent) for each in told.by_number[1:]]
        elif delta:
            expected = [f"{n:,}" for n in (told.half_shown_from, told.mostly_shown_from, told.within_95_percent)]
        else:
            ranks = hasattr(told, "points")
            both = (told.within_95_percent, told.all_within_95_percent)
            expected = [f"{number:,} people" if ranks else up(number) for number in both][: len(at)]
        assert [row[number] for number in at] == expected
    assert (marked > 0) == (question in {"median", "quartiles"})


def test_a_name_is_told_with_how_often_it_is_right_and_how_far_off_it_is() -> None:
    query = lw.select(asked("histogram", by="g", groups=["a", "b"], column=None, lower=None, upper=None), "busiest")
    report = name_report(lw.compare(query, lw.UnboundedDP("1/10"), scenario=Scenario(counts={9: 1, 2: 1})))
    (headings, rows), _ = cells_of(report)
    assert headings[-2:] == ["right", "off\nby"]
    for row, option in zip(rows, report.shown, strict=True):
        assert option.expected is not None
        right, gap = option.expected.right, option.expected.mean_gap
        assert abs(float(row[-2].rstrip("%")) / 100 - right) < 0.006
        assert abs(float(row[-1]) - gap) < 0.01 * gap
        assert abs(right - gap) > 0.1, "else the one could stand for the other"


def test_the_three_errors_of_a_number_are_told_as_themselves() -> None:
    assert NumberAccuracy(mean_absolute=1.0, within_95_percent=2.0, all_within_95_percent=3.0).lines() == [
        "mean error: 1",
        "off by at most, with probability 95 %: 2",
        "all answers together, with probability 95 %: 3",
    ]


def test_the_three_errors_of_a_rank_are_told_as_themselves() -> None:
    of = {"points": 101, "within_50_percent": 1, "within_95_percent": 2, "within_99_percent": 3}
    told = RankAccuracy(counted="people", **of, all_within_95_percent=4).lines()
    assert [line for line in told if "all answers" in line] == [
        "of all answers together, with probability 95 %: at most 4"
    ]
    assert told[0].endswith("with probability 95 %: at most 2")
