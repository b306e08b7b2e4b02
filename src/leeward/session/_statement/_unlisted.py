# SPDX-License-Identifier: Apache-2.0
"""The statement of a release of groups that nobody has listed."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal

from leeward._plain import counted, listed, own_decimals
from leeward._statement import UNPROTECTED, DeltaStated, UnlistedMechanism, UnlistedQuery, UnlistedStatement
from leeward.exact._weight import Weight
from leeward.planner._accuracy import UnlistedAccuracy
from leeward.planner._people import at_most_people, people
from leeward.planner._unlisted_plan import UnlistedPlan
from leeward.query._unlisted_groups import LONGEST, UnlistedGroups
from leeward.session._statement._heading import Frame, stated
from leeward.session._statement._numbers import whose_rows
from leeward.session._statement._windows import during, shown_twice, window_stated

_THEOREM = (
    "Leeward, docs/guide/unlisted: a group with nobody in it is never shown and needs no noise, so what is drawn for the"
    " groups that occur has the law of a draw for all groups there could be; of one count that changes by 1 the chance of"
    " every set of answers changes by a factor of at most e^rate, but for the probability of the farthest noise; and of the"
    " counts that one step of the notion changes, each is drawn on its own."
)

_TWO_SIDED = (
    "Desfontaines, Voss, Gipson, Mandayam, Differentially Private Partition Selection (2022): for one count and noise both"
    " ways, no mechanism shows more."
)


@stated.register
def unlisted_statement(plan: UnlistedPlan, places: int, frame: Frame) -> UnlistedStatement:
    """Return the statement of a release of groups that nobody has listed."""
    query, accuracy = plan.query, plan.accuracy()
    both_ways = not plan.mechanism.line.rise.is_infinite and not plan.mechanism.line.fall.is_infinite
    return UnlistedStatement(
        **frame.around(
            assumed=_assumed(query),
            theorems=[_THEOREM, *([_TWO_SIDED] if both_ways else [])],
            guaranteed=_guaranteed(plan, accuracy),
            not_guaranteed=_not_guaranteed(plan, accuracy),
        ),
        query=_asked(query),
        mechanism=UnlistedMechanism(
            text=_mechanism(plan, accuracy),
            rate_up=str(plan.mechanism.line.fall),
            rate_down=str(plan.mechanism.line.rise),
            reach=plan.mechanism.reach,
            threshold=plan.mechanism.threshold,
        ),
        delta=_delta(plan),
        accuracy=accuracy,
    )


def _asked(query: UnlistedGroups) -> UnlistedQuery:
    when = f", {during(query)}" if query.window is not None else ""
    return UnlistedQuery(
        text=f"Which groups by '{query.by}' there are, and how many {query.many} are in each{when}",
        by=query.by,
        groups_per_person=None if query.of_rows else query.groups_per_person,
        if_more=None if query.of_rows else query.if_more,
        most_groups=query.most_groups,
        longest_name=LONGEST,
        keep={column: tuple(allowed) for column, allowed in query.records.keep.items()},
        window=window_stated(query),
    )


def _mechanism(plan: UnlistedPlan, accuracy: UnlistedAccuracy) -> str:
    made, reach = plan.mechanism, plan.mechanism.reach
    if reach is None:
        noise = f"never positive, of rate {made.line.rise} downwards"
    elif made.line.rise.is_infinite:
        noise = f"never negative, of rate {made.line.fall} upwards, and cut off at {reach:,}"
    else:
        noise = f"of rate {made.line.fall} both ways, and cut off at {reach:,}"
    return (
        f"The count of each group that occurs gets exact geometric noise, {noise}, drawn for each group on its own. A group"
        f" is shown, with its noisy count, if that is at least {accuracy.shown_from:,}; of all others nothing is said, not"
        f" even how many there are. If more than {plan.query.most_groups:,} are shown, those with the greatest noisy counts"
        " are published. The greatest comes first, and equal ones are in the order of their names"
    )


def _delta(plan: UnlistedPlan) -> DeltaStated:
    needed, one = plan.exact_delta, plan.mechanism.chance_shown(1)
    who = "row" if plan.query.of_rows else "person"
    if not plan.delta:
        text = "None is needed: what is promised holds for every answer"
    else:
        text = (
            f"With probability at most {_upwards(needed, 4)} an answer is drawn for which ε does not hold for a"
            f" {who}: it may show that the {who} is in the data. Over all releases about the same data these probabilities"
            f" add up. A group with one {who} in it is shown with probability {_upwards(one, 4)} at"
            " most"
        )
    return DeltaStated(
        promised=str(plan.delta),
        needed=_upwards(needed, 6),
        of_one_group=_upwards(one, 6),
        text=text,
    )


@own_decimals()
def _upwards(chance: Weight, digits: int) -> str:
    """Write an exact probability in so many digits, never less than it is."""
    most = Decimal(chance.bounds()[1])
    if not most:
        return "0"
    return f"{most.quantize(Decimal(1).scaleb(most.adjusted() - digits + 1), ROUND_CEILING):.{digits}g}"


def _assumed(query: UnlistedGroups) -> list[str]:
    found = [whose_rows(of_rows=query.of_rows)]
    if query.if_more == "refuse" and not query.of_rows:
        found.append(
            f"Nobody is in more than {counted(query.groups_per_person, 'group')}: that was checked on the data, and is"
            f" {UNPROTECTED}"
        )
    bounds = "the bounds and the window" if query.window is not None else "and the bounds"
    found.append(f"The column of the groups, its type, {bounds} were chosen without looking at the data")
    return found


def _guaranteed(plan: UnlistedPlan, accuracy: UnlistedAccuracy) -> list[str]:
    made, query, found = plan.mechanism, plan.query, []
    many, reach, most = query.many, made.reach, query.most_groups
    someone = "a row" if query.of_rows else "somebody"
    found.append(f"A group that is shown is there: {someone} that counts is in it")
    if reach is None:
        found.append(f"A count is never above the exact one, and within {accuracy.within_95_percent:,} of it with 95 %")
    elif made.line.rise.is_infinite:
        found.append(f"A count is never below the exact one, and at most {reach:,} above it")
        found.append(
            f"Where fewer than {most:,} groups are shown, every other group has {at_most_people(reach, many)}; where"
            f" {most:,} are, at most as many as the least count that is shown"
        )
    else:
        found.append(f"A count is within {reach:,} of the exact one")
        found.append(
            f"Where fewer than {most:,} groups are shown, every other group has {at_most_people(2 * reach, many)}; where"
            f" {most:,} are, at most {reach:,} more than the least count that is shown"
        )
    found.append(
        f"A group with {people(accuracy.half_shown_from, many)} reaches the threshold with probability at least 50 %, one"
        f" with {accuracy.mostly_shown_from:,} with at least 95 %"
        + ("" if accuracy.always_shown_from is None else f", and one with {accuracy.always_shown_from:,} always")
    )
    return found


def _not_guaranteed(plan: UnlistedPlan, accuracy: UnlistedAccuracy) -> list[str]:
    query = plan.query
    found = [
        "That a group is not shown does not mean that it is not there: nothing is said of groups that are not shown, and not"
        " how many there are"
    ]
    if accuracy.off_by_at_most is not None:
        found.append(
            f"Counts of groups with few {query.many} are shown only when their noise is large: the fewer, the further off"
        )
    if query.truncates:
        found.append(
            f"Someone in more than {counted(query.groups_per_person, 'group')} counts only in {query.kept}: the counts are"
            " about these"
        )
    lacking = [*([] if query.of_rows else ["a person"]), "a group"]
    lacking += [] if query.window is None else ["a time that can be compared with the window"]
    left_out = [f"without {listed(lacking, 'or')}"]
    left_out += [f"with a group of more than {LONGEST} bytes, or of more than 63 bits"]
    left_out += ["outside the window"] if query.window is not None else []
    left_out += ["removed by the filter"] if query.records.keep else []
    found.append(f"Rows {listed(left_out, 'or')} are not counted")
    return [*found, *shown_twice(query)]
