"""The statement of a release of a sum, mean, percentile or histogram."""

from __future__ import annotations

from typing import Any

from leeward.query.numeric import Mean, Percentile
from leeward.query.statistic import Statistic
from leeward.statement.base import SIDES, direction, heading, privacy_statement
from leeward.utility.number_plan import NumberPlan

_THEOREM = (
    "Chatzikokolakis, Andrés, Bordenabe, Palamidessi, Broadening the Scope of Differential Privacy Using Metrics, Fact 5 and"
    " Definition 6, for a directed line: an exact integer answer that moves at most as far as the notion's distance, plus"
    " geometric noise of that line, is private under the notion."
)


@privacy_statement.register
def number_statement(plan: NumberPlan, *, places: int, dataset: str, version: str) -> dict[str, Any]:
    """Return the statement of a release of a statistic; see `privacy_statement`."""
    query = plan.query
    return {
        **heading(plan.notion, plan.price, dataset, version),
        "query": {
            "kind": query.kind,
            "text": _question(query),
            "answers": places,
            "column": query.column,
            "by": query.by,
            "groups": list(query.groups),
            "lower": None if query.values is None else str(query.values.lower),
            "upper": None if query.values is None else str(query.values.upper),
            "step": None if query.values is None else str(query.values.step),
            "people": query.people,
            "keep": {column: list(allowed) for column, allowed in query.records.keep.items()},
        },
        "mechanism": {
            "name": "geometric",
            "text": _mechanism(plan),
            "parts": [
                {"rate_up": str(part.law.up), "rate_down": str(part.law.down), "step": str(part.step)}
                for part in plan.parts
            ],
            "lower": None
            if plan.scale.lower is None
            else float(plan.scale.origin + plan.scale.unit * plan.scale.lower),
            "upper": None
            if plan.scale.upper is None
            else float(plan.scale.origin + plan.scale.unit * plan.scale.upper),
        },
        "accuracy": plan.accuracy(),
        "assumptions": _assumptions(query),
        "theorems": [_THEOREM, *([SIDES[plan.notion.name]] if plan.notion.name in SIDES else [])],
        "guaranteed": _guaranteed(plan),
        "not_guaranteed": _not_guaranteed(plan),
    }


def _question(query: Statistic) -> str:
    of = "of all people" if not query.groups else f"of each of {len(query.groups):,} public groups by '{query.by}'"
    if query.kind == "histogram":
        if query.values is None:
            return f"How many people are in each of {len(query.groups):,} public groups by '{query.by}'"
        return f"How many people {of} have a '{query.column}' in each of {query.bins:,} public intervals"
    numeric = query.numeric
    name: str = query.kind
    if isinstance(numeric, Percentile):
        name = {0: "least value", 50: "median", 100: "greatest value"}.get(int(numeric.p), f"{numeric.p} % point")
    return f"The {name} {of}: their '{query.column}'" if query.groups else f"The {name} of everybody's '{query.column}'"


def _mechanism(plan: NumberPlan) -> str:
    laws = [direction(part.law.up, part.law.down) for part in plan.parts]
    if len(laws) == 2:
        return (
            "Two exact integers a group get exact geometric noise: the sum of distances from the middle of the range, in"
            f" half steps ({laws[0]}), and the number of people ({laws[1]}); their quotient is published, clamped"
        )
    clamped = "" if plan.scale.lower is None else ", then clamped to the public bounds"
    grid = f"an integer on a public grid of step {plan.scale.unit}"
    return f"Each answer, {grid}, gets exact geometric noise, {laws[0]}{clamped}"


def _assumptions(query: Statistic) -> list[str]:
    found = []
    if query.records.person is None:
        found.append("Every row is about one person, and every person has at most one row: not checked")
    else:
        found.append("One person's rows all carry the same id, and different people carry different ids")
    if query.people is not None:
        found.append(
            f"That {query.people:,} people have a number is publicly known: it was checked, and is not protected"
        )
    found.append("The bounds, the grid and the groups were chosen without looking at the data")
    return found


def _guaranteed(plan: NumberPlan) -> list[str]:
    notion, found = plan.notion, []
    accuracy = plan.accuracy()
    if accuracy is not None:
        found.append(
            f"An answer is within {accuracy['within_95_percent']:g} of the exact one with probability at least 95 %"
            + (", before rounding" if isinstance(plan.query.numeric, Mean) else "")
        )
    found.append(
        f"Whatever one concludes from all that is published here: {notion.words.definition}, with ε = {notion.epsilon}"
    )
    return found


def _not_guaranteed(plan: NumberPlan) -> list[str]:
    query, found = plan.query, []
    if query.values is not None and query.kind != "histogram":
        found.append(
            f"Numbers are clamped to {query.values.lower} … {query.values.upper} and rounded half up to steps of"
            f" {query.values.step}: the answer is about these, and closeness is protected between these"
        )
    if query.kind == "histogram":
        found.append("Counts are not clamped: a noisy count may be negative, and small ones say little")
        if query.values is not None:
            found.append("Numbers beyond the bounds count in the first and last interval")
    found.append("Rows without a person or a number, in no listed group, or removed by the filter are not counted")
    if plan.notion.words.exposes:
        found.append(f"Not sheltered: {plan.notion.words.exposes}")
    return found
