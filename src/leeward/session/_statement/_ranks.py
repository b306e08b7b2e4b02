# SPDX-License-Identifier: Apache-2.0
"""The statement of a release of a percentile by rank."""

from __future__ import annotations

from leeward._plain import decimal
from leeward._statement import NumberStatement, RankMechanism
from leeward.planner._accuracy import RankAccuracy
from leeward.planner._people import at_most_people
from leeward.planner._rank_plan import RankPlan
from leeward.query._statistic import Statistic
from leeward.session._statement._heading import Frame, stated
from leeward.session._statement._numbers import (
    IN_ORDER,
    numbers_asked,
    numbers_assumed,
    numbers_left_out,
    numbers_placed,
    numbers_rounded,
    point,
)

_THEOREM = (
    "McKenna, Sheldon, Permute-and-Flip: A New Mechanism for Differentially Private Selection; and, for a directed distance:"
    " where a step moves the rank errors of no two grid points of a group apart by more than s people, summed over all {},"
    " the chance of each answer changes by a factor of at most e^(rate·s). No step of the notion costs less than rate·s."
)


@stated.register
def rank_statement(plan: RankPlan, places: int, frame: Frame) -> NumberStatement:
    """Return the statement of a release of a percentile by rank."""
    query, accuracy, rate = plan.query, plan.accuracy(), str(plan.mechanism.rate)
    return NumberStatement(
        **frame.around(
            assumed=numbers_assumed(query),
            theorems=[_THEOREM.format("groups and percentiles" if query.ps else "groups")],
            guaranteed=_guaranteed(plan, accuracy),
            not_guaranteed=_not_guaranteed(plan),
        ),
        query=numbers_asked(query, places),
        mechanism=RankMechanism(
            text=_mechanism(plan, rate),
            rate=rate,
            points=plan.points,
            lower=str(plan.scale.origin),
            step=str(plan.scale.unit),
        ),
        accuracy=accuracy,
    )


def _mechanism(plan: RankPlan, rate: str) -> str:
    query = plan.query
    below, above = _shares(plan)
    each = "For each group, each" if len(query.groups) > 1 else "Each"
    if query.ps:
        each = f"For each{' group and' if len(query.groups) > 1 else ''} percentile p, with noise of its own, each"
    ordered = " The answers of a group are then put in ascending order." if query.ps else ""
    return (
        f"{each} of {plan.points:,} public grid points is accepted with probability e^(−{rate}·d), where d is how much"
        " larger its rank error is than the least one, and one of the accepted is published, each as likely. Its rank error"
        f" is the number of {query.many} below it less {below} % of all but one, or the number above it less"
        f" {above} % of all but one, whichever is larger.{ordered} No count is published"
    )


def _shares(plan: RankPlan) -> tuple[str, str]:
    """Write how many per cent lie below a percentile and above it."""
    share = plan.mechanism.p
    return ("p", "(100 − p)") if plan.query.ps else (decimal(share), decimal(100 - share))


def _guaranteed(plan: RankPlan, accuracy: RankAccuracy) -> list[str]:
    query = plan.query
    named = "percentile" if query.ps else point(query)
    exact, where = f"the exact {named}", " of its group" if len(query.groups) > 1 else ""
    together = f": all percentiles{where} keep that at once" if query.ps else ""
    one = "row has" if query.of_rows else "person has"
    have = "rows have" if query.of_rows else "people have"

    def between(k: int) -> str:
        return f"no {one}" if not k else f"at most 1 {one}" if k == 1 else f"at most {k:,} {have}"

    found = [
        f"With probability at least {chance} %, whatever the data are, {between(k)} a number strictly between an answer and"
        f" {exact}{where}{together}"
        for chance, k in (
            (50, accuracy.within_50_percent),
            (95, accuracy.within_95_percent),
            (99, accuracy.within_99_percent),
        )
    ]
    (below, above), more = _shares(plan), accuracy.within_95_percent + 1
    found.append(
        f"With probability at least 95 %, whatever the data are, at most {below} % of the {query.many}{where} and"
        f" {more:,} more have a number below an answer, and at most {above} % and {more:,} more one above it"
    )
    if len(query.groups) > 1:  # of one, all its percentiles keep that at once
        found.append(
            f"With probability at least 95 %, that is so of all {query.cells:,} answers together with"
            f" {accuracy.all_within_95_percent + 1:,} in place of {more:,}"
        )
    return [*found, *([IN_ORDER] if query.ps else [])]


def _not_guaranteed(plan: RankPlan) -> list[str]:
    query, values = plan.query, plan.query.values
    assert values is not None
    found = [
        f"Nothing is said of how far an answer is from the exact one as a number: where no {_one(query)} has a number for a"
        " long stretch, every point of the stretch has one rank",
        *plan.beyond(),
        numbers_rounded(values),
        *numbers_placed(query, plan.notion),
    ]
    if query.people is None:
        if few := max(one.most_people(plan.accuracy().within_95_percent) for one in plan.percentiles):
            of = " of one percentile or more" if query.ps else ""
            found.insert(
                1,
                f"Where {at_most_people(few, query.many)} {'has' if few == 1 else 'have'} a number, the 95 % say"
                f" nothing{of}: every grid point is so near",
            )
        who = f"no {_one(query)}" if query.of_rows else "nobody"
        before = ", before they are put in order" if query.ps else ""
        found.append(f"Where {who} has a number, each grid point is as likely to be the answer{before}")
    return [*found, *numbers_left_out(query)]


def _one(query: Statistic) -> str:
    return "row" if query.of_rows else "person"
