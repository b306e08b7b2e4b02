"""No error of an answer is said to be larger than its public range allows: by plans, comparisons, statements and reports."""

from __future__ import annotations

import itertools
import re
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.asking import statistic_by
from tests.report.pages import Page

import leeward as lw
from leeward.planner import Scenario
from leeward.planner._number_plan import NumberPlan
from leeward.planner._statistic_plan import plan_statistic
from leeward.query._ask_statistic import KindName
from leeward.report import report_html

MANY = 12
PEOPLE = pd.DataFrame({"who": range(MANY), "n": np.arange(MANY) % 11})
BOUNDS = {"column": "n", "lower": 0, "upper": 10}

RANGES: dict[str, tuple[int | None, int | None]] = {
    "sum": (None, 10 * MANY), "mean": (10, 10), "variance": (25, 25), "standard deviation": (5, 5),
    **dict.fromkeys(("median", "min", "max", "percentile"), (10, 10)),
    **dict.fromkeys(("count", "histogram", "above"), (None, None)),
}  # fmt: skip
"""How far two answers about numbers from 0 to 10 are apart at most: of a private number of people, and of twelve."""

MOST_BETWEEN = {"median": 6, "min": 11, "max": 11, "percentile": 9}
"""Of twelve people so many can have a number between two points: by rank."""

CASES = [
    (kind, people, by)
    for kind, (private, public) in RANGES.items()
    for people, most in ((None, private), (MANY, public))
    for by in (("geometric", "rank") if kind in MOST_BETWEEN else ("auto",))
    if most is not None and (by, people) != ("rank", None)  # how many people are between has no public bound then
]


def asked(kind: Any, people: int | None) -> Any:
    more = {"p": ["25", "75"]} if kind == "percentile" else {}
    return statistic_by(lw.records(PEOPLE, person="who"), kind, people=people, **BOUNDS, **more)


def numbers(before: str, text: str) -> list[float]:
    """The numbers that stand after some words."""
    return [float(one.replace(",", "")) for one in re.findall(rf"(?:{before}) ([\d,]*\d(?:\.\d+)?)", text)]


def test_every_kind_has_its_range() -> None:
    assert RANGES.keys() == {*get_args(KindName)}
    for kind, people, _ in CASES:
        assert asked(kind, people).numeric.most_apart == RANGES[kind][people is not None]
    assert asked("sum", None).numeric.most_apart is None


@pytest.mark.parametrize(("kind", "people", "by"), CASES)
def test_no_error_is_said_to_be_larger(kind: str, people: int | None, by: Any) -> None:
    """At an ε of 1/100,000 the noise alone is larger than every range, so that every error is cut to it."""
    notion: lw.Notion = lw.BoundedDP("1/100000") if people else lw.UnboundedDP("1/100000")
    query, most = asked(kind, people), MOST_BETWEEN[kind] if by == "rank" else RANGES[kind][people is not None]
    made = plan_statistic(query, notion, by)
    told = made.accuracy().model_dump()
    errors = [told[name] for name in told if "within" in name or name == "mean_absolute"]
    errors += [one["within_95_percent"] for one in told.get("by_number", ())]
    assert max(errors) == most
    if isinstance(made, NumberPlan):
        far = made.answers(np.full(6, 10**9), pa.table({"x": [0] * (6 // len(made.parts))}))
        assert "within_95_percent" not in far.column_names or max(far["within_95_percent"].to_pylist()) <= most
    assert {*numbers("95 %: at most|95 %:|people:", str(made))} == {most}


def test_nor_by_a_comparison_a_statement_or_a_report(tmp_path: Path) -> None:
    """Found in a report: a median of about 0 ± 8.99, of numbers from 0 to 3."""
    made = lw.plan(asked("median", None), lw.UnboundedDP("1"), mechanism="geometric")
    compared = lw.compare(made.query, made.notion, mechanism="geometric", scenario=Scenario(accept_useless=True))
    assert compared.options[0].nearness == "95 % within 10"
    done = lw.release(made, lw.Budget(tmp_path / "b.db", "d", "1"), accept_useless=True)
    assert numbers("within", " ".join(done.statement.guaranteed)) == [10]
    page = Page(report_html(done)).text()
    assert numbers("±", page)
    assert {*numbers("±|is within", page)} == {10}


@pytest.mark.parametrize("kind", [kind for kind in RANGES if kind not in {"count", "histogram", "above"}])
def test_nothing_published_is_further_from_the_exact_answer(kind: str) -> None:
    """Why it may be cut: whatever the noise is, both lie within the bounds."""
    made = plan_statistic(asked(kind, 2), lw.BoundedDP("1"), "geometric" if kind in MOST_BETWEEN else "auto")
    assert isinstance(made, NumberPlan)
    most = made.query.numeric.most_apart  # type: ignore[union-attr]
    assert most is not None
    one_key = pa.table({"x": [0] * max(1, len(made.query.ps))})
    noisy = [
        Fraction(value)
        for drawn in (-(10**9), -1, 0, 3, 10**9)
        for value in made.answers(np.full(len(one_key), drawn), one_key)["value"].to_pylist()
    ]
    exact = [made.query.numeric(table) for table in itertools.product(range(11), repeat=2)]  # type: ignore[misc]
    root = kind == "standard deviation"
    true = [float(answer) ** 0.5 if root else float(answer) for answer in exact]
    far = max(abs(float(value) - answer) for value in noisy for answer in true)
    assert far == pytest.approx(float(most))
