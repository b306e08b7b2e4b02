# SPDX-License-Identifier: Apache-2.0
"""The statement of a release of one name: the busiest place or group, or the quietest."""

from __future__ import annotations

from leeward._plain import counted
from leeward._statement import NumberQuery, SelectionMechanism, SelectionQuery, SelectionStatement, VisitorQuery
from leeward.planner._accuracy import SelectionAccuracy
from leeward.planner._selection_plan import SelectionPlan
from leeward.query import CountVisitors, Selection
from leeward.query._group_names import columns_named
from leeward.session._statement._heading import Frame, stated
from leeward.session._statement._numbers import numbers_asked, numbers_assumed, numbers_left_out, numbers_placed
from leeward.session._statement._visitors import cells, visitors_asked, visitors_assumed, visitors_left_out
from leeward.session._statement._windows import during

_THEOREM = (
    "Ding, Kifer, Saghaian, Steinke, Wang, Xiao, Zhang, The Permute-and-Flip Mechanism is Identical to Report-Noisy-Max with"
    " Exponential Noise; and, for a directed distance: where a step raises no count by more than r and lowers none by more"
    " than f, the chance of each name changes by a factor of at most e^(rate·(r + f)), however many counts it moves. No step"
    " of the notion costs less than rate·(r + f)."
)


@stated.register
def selection_statement(plan: SelectionPlan, places: int, frame: Frame) -> SelectionStatement:
    """Return the statement of a release of one name."""
    query, accuracy, counts = plan.query, plan.accuracy(places), plan.query.counts
    of: VisitorQuery | NumberQuery
    if isinstance(counts, CountVisitors):
        of, assumed = visitors_asked(counts, places), visitors_assumed(counts)
    else:
        of, assumed = numbers_asked(counts, places), numbers_assumed(counts)
    return SelectionStatement(
        **frame.around(
            assumed=assumed,
            theorems=[_THEOREM],
            guaranteed=_guaranteed(plan, accuracy),
            not_guaranteed=_not_guaranteed(plan),
        ),
        query=SelectionQuery(kind=query.which, text=_question(query, places), noun=query.noun, options=places, of=of),
        mechanism=SelectionMechanism(text=_mechanism(query, str(plan.mechanism.rate)), rate=str(plan.mechanism.rate)),
        accuracy=accuracy,
    )


def _question(query: Selection, places: int) -> str:
    counts, most = query.counts, "the most" if query.which == "busiest" else "the fewest"
    if isinstance(counts, CountVisitors):
        listed = f"{counted(places, 'public place')}{cells(counts.places)}"
        return f"Which of {listed} had {most} distinct people {during(counts)}"
    when = f", {during(counts)}" if counts.window is not None else ""
    if counts.column is None:
        return (
            f"Which of {counted(places, 'public group')} by {columns_named(counts.by)} has {most} {counts.many}{when}"
        )
    of = f", of {counted(len(counts.groups), 'public group')} by {columns_named(counts.by)}," if counts.groups else ""
    return f"Which of {counted(places, 'public interval')} of '{counts.column}'{of} has {most} {counts.many}{when}"


def _mechanism(query: Selection, rate: str) -> str:
    busiest = query.which == "busiest"
    far, than = ("fewer", "most") if busiest else ("more", "fewest")
    got, then = ("got", "largest") if busiest else ("lost", "smallest")
    return (
        f"Each {query.noun} is accepted with probability e^(−{rate}·d), where d is how many {far} {query.many} it has than"
        f" the one with the {than}, and one of the accepted is named, each as likely: as if every count {got} exponential"
        f" noise of rate {rate}, and the {then} were named. No count is published"
    )


def _guaranteed(plan: SelectionPlan, accuracy: SelectionAccuracy) -> list[str]:
    query = plan.query
    of_whom = f", {query.counted_how}," if query.counted_how else " among those counted"
    far, than = ("fewer", "most") if query.which == "busiest" else ("more", "fewest")
    verb = "had" if isinstance(query.counts, CountVisitors) else "has"
    bounds = accuracy.within_50_percent, accuracy.within_95_percent, accuracy.within_99_percent
    return [
        f"With probability at least {chance} %, whatever the counts are, the named {query.noun} {verb}"
        f" {f'at most {k:,}' if k else 'no'} {far} {query.many}{of_whom} than the {query.noun} with the {than}"
        for chance, k in zip((50, 95, 99), bounds, strict=True)
    ]


def _not_guaranteed(plan: SelectionPlan) -> list[str]:
    query, counts = plan.query, plan.query.counts
    found = [
        f"The named {query.noun} need not be the {query.which}; nor is anything said of how many {query.many} it has, or of"
        f" any other {query.noun}",
        f"One {query.noun} is always named: where all have as many {query.many}, each is as likely",
    ]
    if isinstance(counts, CountVisitors):
        return [*found, *visitors_left_out(counts)]
    return [*found, *numbers_placed(counts, plan.notion), *numbers_left_out(counts)]
