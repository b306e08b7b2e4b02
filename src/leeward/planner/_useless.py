# SPDX-License-Identifier: Apache-2.0
"""What a release would say at best: refused before anything is charged where that is practically nothing.

Only public things are looked at: the plan, and how long the public list is. So a refusal says nothing about the data, and
the same question is refused for every table.
"""

from __future__ import annotations

from fractions import Fraction

from leeward._plain import counted, listed, probability
from leeward.errors import LowUtilityError
from leeward.mechanism import ThresholdRule
from leeward.notion._metric import Manhattan
from leeward.planner._accuracy import MeanAccuracy
from leeward.planner._number_plan import EXAMPLES, NumberPlan
from leeward.planner._people import a, empty, nobody
from leeward.planner._plan import Plan
from leeward.planner._rank_plan import RankPlan
from leeward.planner._selection_plan import AnyPlan, SelectionPlan
from leeward.planner._unlisted_plan import MORE_THAN_LIVE, UnlistedPlan
from leeward.query import CountVisitors
from leeward.query._numeric import Percentile

_ACCEPT = (
    "if it is what you want, go on with accept_useless=True (in a spec accept_useless = true, of its query; or"
    " --accept-useless)"
)


def refuse_useless(made: AnyPlan, places: int | None, *, stops_before: int = 0) -> None:
    """Refuse a release whose noise would be larger than the range it is about, or that would say next to nothing.

    * A number: its 95 % error is at least as large as its whole public range. For a mean or spread over a private number of
      people, also if it is about 100,000 of them. Sums over a private number of people, and counts, have no public range.
    * A percentile by rank: so many people may stand between it and the exact one that every grid point would do, with the
      publicly known number of people, or else with 100,000.
    * Places, or groups: even if nobody were anywhere, a smaller share of them than the plan's ``useful_from`` would be
      called safe: because noise hides that they are empty, or because the mechanism that stops would not reach them.
    * A name: only one is listed, so it is known already.
    * Groups that nobody has listed: even one with ten thousand million people would be shown less than every second time.
    * A bound of more places a person than are listed. Nobody can be counted at more than all of them, so with m listed
      places the counts move by at most min(k, m) where a person counts at most k times: noise for k > m is wasted.

    Args:
        made: the plan; of a later round of a monitor, with the stops that are left.
        places: how many places are listed (of a number: how many groups); None if that is not known.
        stops_before: how many stops earlier rounds of a monitor gave.
    """
    match made:
        case NumberPlan():
            _refuse_number(made)
        case RankPlan():
            _refuse_rank(made)
        case SelectionPlan():
            _refuse_name(made, places)
        case UnlistedPlan():
            _refuse_unlisted(made)
        case Plan():
            _refuse_decisions(made, places, stops_before)


def _refuse_decisions(made: Plan, places: int | None, stops_before: int) -> None:
    k = made.query.places_per_person if isinstance(made.query, CountVisitors) else None
    if places is not None and k is not None and k > places and not made.mechanism.each_alone:
        guesses = (
            f", and no more than {counted(places, 'guess', 'guesses')} in left_out" if made.about == "everyone" else ""
        )
        raise LowUtilityError(
            f"places_per_person = {k} with a list of {counted(places, 'place')}",
            f"nobody can be at more places than are listed, and the noise is made for {k}",
            f"Give places_per_person = {places} or less{guesses}, which promises the same of everybody; {_ACCEPT}",
        )
    if (safe := made.sanitizer) is None:
        return
    chance = safe.probability(0)
    if chance < made.useful_from:
        _refuse_chance(made, safe, float(chance))
    reached = None if places is None else made.expected_answered_if_empty(places)
    if places is not None and reached is not None and float(chance) * reached < made.useful_from * places:
        _refuse_reach(made, reached, places, stops_before)


_FEWER = {"place": ", or lower places_per_person", "level": ", or ask fewer levels"}
"""What makes the noise smaller where each of a person's counts is paid for."""


def _refuse_chance(made: Plan, safe: ThresholdRule, chance: float) -> None:
    noun = made.query.noun
    error = "" if safe.never_wrong else f" with error_at_most = {safe.error_at_most}"
    raise LowUtilityError(
        f"safe_at_most = {safe.bound}{error} under {made.notion.name} at epsilon = {made.notion.epsilon}",
        f"even {a(noun)} {empty(noun, made.query.many)} would be called safe with probability"
        f" {probability(chance, 2)} only, below useful_from = {_written(made.useful_from)}",
        (
            "Raise epsilon or safe_at_most"
            + (_FEWER.get(noun, "") if (made.query.most_counts or 1) > 1 and made.mechanism.stop_after is None else "")
            + (", or guess left_out for several k: left_out = [3, 2, 1]" if made.left_out else "")
            if safe.never_wrong
            else "Raise epsilon, safe_at_most or error_at_most, or choose"
            f" {'presence or ' if noun == 'place' else ''}addition-only, under which 'safe' can be promised never to be"
            " wrong"
        )
        + f"; {_ACCEPT}",
    )


def _refuse_reach(made: Plan, reached: float, places: int, before: int) -> None:
    forgotten = made.query.most_counts is None
    many = f"{places:,} {made.query.noun}s before it stops, even if {nobody(made.query.noun, made.query.many)}"
    if before:
        raise LowUtilityError(
            f"A later round of a monitor, with {made.mechanism.stop_after} of its stops left after {before}",
            f"it would answer about {reached:.0f} of {many}: those called safe are a smaller share than useful_from ="
            f" {_written(made.useful_from)}",
            "Let the monitor end here, or begin another with a larger stop_after, which pays anew for the windows that it"
            f" asks again; {_ACCEPT}",
        )
    raise LowUtilityError(
        f"The {made.mechanism.name} mechanism" + (" (places_per_person is missing)" if forgotten else ""),
        f"it would answer about {reached:.0f} of {many}: those called safe are a smaller share than useful_from ="
        f" {_written(made.useful_from)}",
        (
            "Give places_per_person (and if_more), and every place is answered at the price of one stop; or raise"
            if forgotten
            else f"Use the geometric mechanism, which answers every {made.query.noun}; or raise"
        )
        + f" stop_after or epsilon; {_ACCEPT}",
    )


def _refuse_number(made: NumberPlan) -> None:
    query, accuracy = made.query, made.accuracy()
    width = None if query.numeric is None else query.numeric.most_apart
    if width is None:
        return
    if isinstance(accuracy, MeanAccuracy):
        most = accuracy.by_number[-1]
        error, where = most.within_95_percent, f" even with {most.number:,} {accuracy.counted}"
    else:
        error, where = accuracy.within_95_percent, ""
    others = list[str]()  # of which none is refused in turn
    if not made.notion.all_records:
        others += ['take it by its rank (mechanism = "rank")'] if isinstance(query.numeric, Percentile) else []
        others.append("ask a histogram")
    if made.notion.name != Manhattan.name:
        others.append(f"choose a notion of closeness such as {Manhattan.name}")
    if error >= float(width) > 0:
        raise LowUtilityError(
            f"The {query.kind} of '{query.column}' under {made.notion.name} at epsilon = {made.notion.epsilon}",
            f"its 95 % error would be as large as can be{where}: its whole public range is {float(width):g}",
            f"{listed(['Raise epsilon', *others], 'or')}; {_ACCEPT}",
        )


def _refuse_rank(made: RankPlan) -> None:
    query, accuracy = made.query, made.accuracy()
    people, k = query.people or EXAMPLES[-1], accuracy.within_95_percent
    if made.points > 1 and any(k >= one.most_between(people) for one in made.percentiles):
        raise LowUtilityError(
            f"The {query.kind} of '{query.column}' by rank under {made.notion.name} at epsilon = {made.notion.epsilon}",
            f"up to {k:,} {accuracy.counted} may stand between it and the exact one, and of"
            f"{'' if query.people else ' as many as'} {people:,} no more than that do, whatever the answer",
            f"Raise epsilon, or ask with a larger step or narrower bounds; {_ACCEPT}",
        )


def _refuse_name(made: SelectionPlan, places: int | None) -> None:
    if places == 1:
        query = made.query
        raise LowUtilityError(
            f"The {query.which} {query.noun} of a list of one",
            "its name is known before it is asked, and would be paid for",
            f"List all that may be named; {_ACCEPT}",
        )


def _refuse_unlisted(made: UnlistedPlan) -> None:
    if (half := made.people_for("1/2")) > MORE_THAN_LIVE:
        raise LowUtilityError(
            f"Groups by '{made.query.by}' under {made.notion.name} at epsilon = {made.notion.epsilon}",
            f"a group is shown every second time only with {half:,} {made.query.many}, more than live on Earth",
            f"Raise epsilon or delta, or lower groups_per_person; {_ACCEPT}",
        )


def _written(share: Fraction) -> str:
    """A share as it is mostly written: the default as a decimal."""
    return str(float(share)) if Fraction(str(float(share))) == share else str(share)
