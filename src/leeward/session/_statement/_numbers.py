# SPDX-License-Identifier: Apache-2.0
"""The statement of a release of a sum, mean, percentile or histogram."""

from __future__ import annotations

from leeward._plain import at_most, counted, decimal, listed
from leeward._statement import UNPROTECTED, CutStated, NoisePart, NumberMechanism, NumberQuery, NumberStatement
from leeward.notion import Notion
from leeward.notion._metric import BoundedChange
from leeward.notion._value_grid import ValueGrid
from leeward.planner._accuracy import MeanAccuracy
from leeward.planner._certain_curve import gives_curve, too_high
from leeward.planner._number_plan import NumberPlan
from leeward.planner._people import people
from leeward.query._group_names import columns_named
from leeward.query._numeric import Percentile
from leeward.query._percentiles import names_of
from leeward.query._records import HOW
from leeward.query._source import Allowed
from leeward.query._spread import Variance
from leeward.query._statistic import Statistic
from leeward.session._statement._heading import Frame, direction, exact_text, stated
from leeward.session._statement._windows import during, shown_twice, window_stated

IN_ORDER = "A larger percentile of a group never has a smaller answer"

_THEOREM = (
    "Chatzikokolakis, Andrés, Bordenabe, Palamidessi, Broadening the Scope of Differential Privacy Using Metrics, Fact 5 and"
    " Definition 6, for a directed line: an exact integer answer that moves at most as far as the notion's distance, plus"
    " geometric noise of that line, is private under the notion."
)


@stated.register
def number_statement(plan: NumberPlan, places: int, frame: Frame) -> NumberStatement:
    """Return the statement of a release of a statistic."""
    query = plan.query
    return NumberStatement(
        **frame.around(
            assumed=numbers_assumed(query),
            theorems=[_THEOREM],
            guaranteed=_guaranteed(plan),
            not_guaranteed=_not_guaranteed(plan),
            by_noise=True,
        ),
        query=numbers_asked(query, places),
        mechanism=_made(plan),
        accuracy=plan.accuracy(),
    )


def numbers_asked(query: Statistic, answers: int) -> NumberQuery:
    """Return which numbers are asked about, and how."""
    values = None if query.levels else query.values
    return NumberQuery(
        kind=query.kind,
        text=_question(query) + (f", {during(query)}" if query.window is not None else ""),
        answers=answers,
        column=query.column,
        p=_p(query),
        combine=None if query.records.person is None else query.records.combine,
        by=query.by,
        groups=tuple(query.groups),
        lower=exact_text(None if values is None else values.lower),
        upper=exact_text(None if values is None else values.upper),
        step=exact_text(None if values is None else values.step),
        people=query.people,
        keep={column: tuple(allowed) for column, allowed in query.records.keep.items()},
        levels=tuple(map(str, query.levels)) if query.levels else None,
        others=_others(query),
        window=window_stated(query),
        intervals=tuple(
            CutStated(column=column, lower=str(cut.lower), upper=str(cut.upper), step=str(cut.step))
            for column, cut in query.intervals
        ),
    )


def _others(query: Statistic) -> Allowed | None:
    last = query.groups[-1] if query.others else None
    return last[0] if isinstance(last, tuple) else last  # which stands in every column


def _p(query: Statistic) -> str | tuple[str, ...] | None:
    if not isinstance(query.numeric, Percentile):
        return None
    return tuple(map(str, query.ps)) or exact_text(query.numeric.p)


def _made(plan: NumberPlan) -> NumberMechanism:
    scale = plan.scale
    lower, upper = (
        None if end is None else float(scale.origin + scale.unit * end) for end in (scale.lower, scale.upper)
    )
    parts = tuple(
        NoisePart(rate_up=str(part.law.up), rate_down=str(part.law.down), step=str(part.step)) for part in plan.parts
    )
    return NumberMechanism(text=_mechanism(plan), parts=parts, lower=lower, upper=upper)


def _question(query: Statistic) -> str:
    others = ", and of all others" if query.others else ""
    groups = f"{counted(len(query.listed), 'public group')} by {columns_named(query.by)}{others}"
    if query.levels:
        of = f", in each of {groups}" if query.groups else ""
        levels = counted(len(query.levels), "public level")
        return f"How many {query.many} have a '{query.column}' above each of {levels}{of}"
    if query.kind == "histogram":
        if query.values is None:
            if not query.groups:
                return f"How many {query.many} there are"
            return f"How many {query.many} are in each of {groups}"
        of = f", in each of {groups}" if query.groups else ""
        return f"How many {query.many} have a '{query.column}' in each of {query.bins:,} public intervals{of}"
    name = point(query) if isinstance(query.numeric, Percentile) else str(query.kind)
    of = f"the '{query.column}' of all rows" if query.of_rows else f"everybody's '{query.column}'"
    return f"The {name} of {of}" + (f", in each of {groups}" if query.groups else "")


def point(query: Statistic) -> str:
    """Return what the percentiles of a question are called."""
    assert isinstance(query.numeric, Percentile)
    return listed(names_of(query.ps or (query.numeric.p,)))


def numbers_rounded(values: ValueGrid) -> str:
    """Say what is done to each number first."""
    return (
        f"Numbers are clamped to {decimal(values.lower)} … {decimal(values.upper)} and rounded half up to steps of"
        f" {decimal(values.step)}: the answer is about these"
    )


def _mechanism(plan: NumberPlan) -> str:
    laws, many = [direction(part.law.up, part.law.down) for part in plan.parts], plan.query.many
    if len(laws) == 2:
        return (
            "Two exact integers a group get exact geometric noise: the sum of distances from the middle of the range, in"
            f" half steps ({laws[0]}), and the number of {many} ({laws[1]}); their quotient is published, clamped"
        )
    if len(laws) == 3:
        return (
            "Three exact integers a group get exact geometric noise: the sum of distances from the middle of the range, in"
            f" half steps ({laws[0]}), the sum of their squares, each doubled and less the squared range in steps"
            f" ({laws[1]}), and the number of {many} ({laws[2]}); the {plan.query.kind} that follows is published, clamped"
        )
    clamped = "" if plan.scale.lower is None else ", then clamped to the public bounds"
    clamped += "; those of a group are put in ascending order" if plan.query.ps else ""
    grid = f"an integer on a public grid of step {decimal(plan.scale.unit)}"
    if isinstance(plan.query.numeric, Variance):
        root = "; its square root is published" if plan.query.numeric.root else ""
        return f"Each variance, {grid}, gets exact geometric noise, {laws[0]}{clamped}{root}"
    return f"Each answer, {grid}, gets exact geometric noise, {laws[0]}{clamped}"


def whose_rows(*, of_rows: bool) -> str:
    """Return what every answer about rows rests on: whose each of them is."""
    if not of_rows:
        return "One person's rows all carry the same id, and different people carry different ids"
    return (
        "Every row is a person of its own: the promise is about a single row, and whoever has several rows is protected"
        " for each of them alone, not for all of them together"
    )


def numbers_assumed(query: Statistic) -> list[str]:
    """Return what every answer about these numbers rests on."""
    found = [whose_rows(of_rows=query.of_rows)]
    if query.records.combine == "refuse" and not query.of_rows:
        found.append(f"Nobody has more than one row that counts: that was checked on the data, and is {UNPROTECTED}")
    if query.people is not None:
        having = f"{people(query.people, query.many)} {'has' if query.people == 1 else 'have'}"
        found.append(f"That {having} a number is publicly known: it was checked, and is {UNPROTECTED}")
    chosen = [
        *(["the levels"] if query.levels else ["the bounds", "the grid"] if query.values is not None else []),
        *(["the groups"] if query.groups else []),
        *(["the window"] if query.window is not None else []),
    ]
    if chosen:
        found.append(f"{listed(chosen, 'and').capitalize()} were chosen without looking at the data")
    return found


def _guaranteed(plan: NumberPlan) -> list[str]:
    query, accuracy, found = plan.query, plan.accuracy(), []
    if isinstance(accuracy, MeanAccuracy):
        many = accuracy.counted
        known = [f"{at_most(each.within_95_percent)} with {people(each.number, many)}" for each in accuracy.by_number]
        found.append(
            f"With probability at least 95 %, an answer is off by at most so much, by how many {many} it is about:"
            f" {', '.join(known)}"
        )
        number = plan.parts[-1].law
        if number.down.is_infinite or number.up.is_infinite:
            side, sign = ("below", "negative") if number.down.is_infinite else ("above", "positive")
            found.append(
                f"The number of {many} beside an answer is never {side} how many it is about: its noise is never {sign}"
            )
    else:
        one, every = at_most(accuracy.within_95_percent, 6), at_most(accuracy.all_within_95_percent, 6)
        within = f"An answer is within {one} of the exact one with probability at least 95 %"
        if query.cells > 1:
            within += f"; all {query.cells:,} are within {every} with that probability"
        found.append(within)
        if query.ps:
            found.append(IN_ORDER)
        law = plan.parts[0].law
        if law.down.is_infinite or law.up.is_infinite:
            side, sign = ("below", "negative") if law.down.is_infinite else ("above", "positive")
            found.append(f"No answer is {side} the exact one: the noise is never {sign}")
        if gives_curve(plan):
            found.append(_curve(plan))
    return found


def _curve(plan: NumberPlan) -> str:
    query, where = plan.query, " of its group" if plan.query.groups else ""
    how = query.counted_how or "among those counted"
    return (
        f"So it is certain of each interval that no more {query.many}{where} have a number from its lower end on,"
        f" {how}, than its count and those of the intervals above it{where} add up to: that sum is"
        f" too high by at most {too_high(plan, 1):,} at the highest interval and by at most"
        f" {too_high(plan, query.bins):,} at the lowest, each with probability at least 95 %"
    )


def _not_guaranteed(plan: NumberPlan) -> list[str]:
    query, found = plan.query, []
    values = query.values
    if values is not None and query.kind != "histogram":
        found.append(numbers_rounded(values))
    if query.kind == "histogram":
        negative = "" if plan.parts[0].law.down.is_infinite else "a noisy count may be negative, and "
        found.append(f"Counts are not clamped: {negative}small ones say little")
    found += numbers_placed(query, plan.notion)
    if query.numeric is not None and query.kind != "sum" and query.people is None:
        who = "no row" if query.of_rows else "nobody"
        found.append(f"Where {who} has a number, {decimal(query.numeric.answer([]))} stands in for the exact answer")
    return [*found, *numbers_left_out(query)]


def numbers_placed(query: Statistic, notion: Notion) -> list[str]:
    """Say in which interval or group somebody counts, and what is near under the notion."""
    values, found = query.values, []
    if query.kind == "histogram" and values is not None:
        found.append("Numbers beyond the bounds count in the first and last interval")
    found += [
        f"Numbers of '{column}' beyond {decimal(cut.lower)} … {decimal(cut.upper)} count in its first and last interval"
        for column, cut in query.intervals
    ]
    # asked of the steps, not of the class: several ε, and two promises of one output, have those of what they are made of
    if any(isinstance(change, BoundedChange) for change in notion.changes):
        found.append(
            "Closeness is measured between intervals: numbers in neighbouring intervals are one step apart, however near"
            if query.kind == "histogram"
            else "Closeness is measured between sums of each person's rounded numbers"
            if query.records.combine == "sum"
            else "Closeness is measured between rounded numbers: they may be up to one step further apart than the numbers"
            " were"
        )
        if len(query.groups) > 1:
            whose = "a row" if query.of_rows else "somebody"
            found.append(
                f"No two groups are nearer than others: which group {whose} is in is protected like the largest change of a"
                " number"
            )
    if query.records.person is not None and query.records.combine != "refuse":
        how = HOW[query.records.combine]
        among = ", in the first listed group they are in" if len(query.groups) > 1 else ""
        found.append(
            f"Someone with several rows counts once{among}"
            + (f", with {how} of their numbers" if values is not None else "")
            + (", clamped again" if query.records.combine == "sum" and values is not None else "")
        )
    return found


def numbers_left_out(query: Statistic) -> list[str]:
    """Say which rows do not count."""
    lacking = [*([] if query.of_rows else ["a person"]), *([] if query.values is None else ["a number"])]
    lacking += [] if query.window is None else ["a time that can be compared with the window"]
    left_out = [
        *([f"without {listed(lacking, 'or')}"] if lacking else []),
        *(["in no listed group"] if query.groups and not query.others else []),
        *(["outside the window"] if query.window is not None else []),
    ]
    left_out += ["removed by the filter"] if query.records.keep else []
    found = [f"Rows {listed(left_out, 'or')} are not counted"] if left_out else []
    if query.others:
        found.append(f"'{_others(query)}' is of all {query.many} in no listed group, also of those that have none")
    return [*found, *shown_twice(query)]
