# SPDX-License-Identifier: Apache-2.0
"""One plan for every question that can be released: what it will do and cost, before any data is touched."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TypeVar, cast, get_args, overload

from leeward._plain import echo
from leeward._taught import taught
from leeward.errors import BoundExceededError, InputError, LeewardError
from leeward.exact._real import Exact
from leeward.notion import Notion
from leeward.planner._everyone import unbounded
from leeward.planner._number_plan import NumberPlan, plan_number
from leeward.planner._plan import Decide, Deciding, MechanismName, Plan, What, only_falls, plan_decisions
from leeward.planner._rank_plan import RankPlan, plan_rank
from leeward.planner._selection_plan import AnyPlan, SelectionPlan, plan_selection
from leeward.planner._statistic_plan import PercentileMechanism, plan_statistic
from leeward.planner._unlisted_plan import UnlistedPlan, delta_of, plan_unlisted
from leeward.query import CountVisitors, Selection
from leeward.query._selection import Counted
from leeward.query._sensitivity import sensitivity
from leeward.query._statistic import Statistic
from leeward.query._unlisted_groups import UnlistedGroups


@overload
def plan(
    query: Counted,
    notion: Notion,
    decide: Decide,
    *,
    what: What = "decisions",
    mechanism: MechanismName = "auto",
    stop_after: int | None = None,
) -> Plan: ...


@overload
def plan(query: Statistic, notion: Notion, *, mechanism: PercentileMechanism = "auto") -> NumberPlan | RankPlan: ...


@overload
def plan(query: Selection, notion: Notion) -> SelectionPlan: ...


@overload
def plan(query: UnlistedGroups, notion: Notion, *, delta: Exact | None = None) -> UnlistedPlan: ...


@taught
def plan(
    query: CountVisitors | Statistic | Selection | UnlistedGroups,
    notion: Notion,
    decide: Decide | None = None,
    *,
    what: What = "decisions",
    mechanism: MechanismName | PercentileMechanism = "auto",
    stop_after: int | None = None,
    delta: Exact | None = None,
) -> AnyPlan:
    """Plan a release: free, and private of nothing because it reads no data. `leeward.release` carries it out.

    Args:
        query: the question, from `leeward.count_visitors`; or a histogram from `leeward.statistic`, of which something is
            decided only where ``decide`` says what: its groups and intervals are then what places are below. Of other
            statistics, and from `leeward.select`, nothing else is given but the notion, and for a percentile ``mechanism``.
        notion: the privacy notion.
        decide: what is to be decided, such as ``Decide(safe_at_most=2)``.
        what: ``"decisions"``, or ``"counts"`` for the noisy counts too: post-processing, at no further price.
        mechanism: ``"geometric"`` answers every place and needs ``places_per_person`` (a person is in one group, so it
            needs no bound there); ``"sanitized"`` answers in the public order until ``stop_after`` places could not be
            called safe, and needs no bound; ``"adaptive"`` does so for the same price, and pays half for a count far above
            the threshold (`leeward.mechanism.AdaptiveSanitized`); ``"auto"`` takes one of the first two, the geometric one
            where it can. Of a percentile: ``"rank"`` names a grid point by its rank, ``"geometric"`` adds noise to the
            percentile itself, and ``"auto"`` takes the one with the smaller error, as far as public things tell
            (`leeward.planner._statistic_plan`).
        stop_after: c, for the mechanisms that stop (default 1); their price is c·ε, or n·ε where only n < c places are
            listed (`Plan.listing` tells it of n; `leeward.release` counts them itself). The sanitized one stops after c
            published counts; the adaptive one when less than ε of c·ε is left, so after c to 2c − 1 of them.
        delta: of groups that nobody has listed, from `leeward.unlisted_groups`: δ, the probability with which ε may not hold
            for a person; required there but under removal-only, and given nowhere else.

    Raises:
        InputError: an argument is malformed, or something is to be decided about a name, or a statistic that counts nobody.
        NotPrivateError: the notion does not protect such an answer.
    """
    how, counts = asked_to_decide(query, decide, what, mechanism, stop_after, delta)
    if counts is not None:
        return plan_decisions(counts, notion, how)
    if isinstance(query, Selection):
        return plan_selection(query, notion)
    if isinstance(query, UnlistedGroups):
        return plan_unlisted(query, notion, delta)
    assert isinstance(query, Statistic)
    return plan_statistic(query, notion, mechanism)  # type: ignore[arg-type]  # which refuses what is not its own


def asked_to_decide(
    query: object, decide: Decide | None, what: What, mechanism: str, stop_after: int | None, delta: object
) -> tuple[Deciding, Counted | None]:
    """Return what is given of decisions and how they are published; and the question of which something is decided.

    That is None where nothing is. The arguments are those of `leeward.plan`.
    """
    given = vars(Decide() if decide is None else decide)
    how = Deciding(**given, what=what, mechanism=mechanism, stop_after=stop_after)  # type: ignore[arg-type]  # it is checked
    if delta is not None and not isinstance(query, UnlistedGroups):
        raise InputError(
            f"delta = {echo(delta)}",
            "only groups that nobody has listed need one; all else is promised with a pure ε",
            "Leave it out",
        )
    if isinstance(query, CountVisitors) or (how.wanted and isinstance(query, Statistic) and query.counts_people):
        return how, query
    if not isinstance(query, Statistic | Selection | UnlistedGroups):
        raise InputError(
            f"A plan for a {type(query).__name__}",
            "it is not a question that can be released",
            "Give a question from count_visitors, statistic, select or unlisted_groups",
        )
    if how.wanted or (isinstance(query, Selection | UnlistedGroups) and how.mechanism != "auto"):
        names = {Selection: "a name", UnlistedGroups: "groups that nobody has listed"}
        of = names.get(type(query)) or f"a {getattr(query, 'kind', '')}"
        raise InputError(
            f"A decision about {of}", "decisions are about counts of people", "Give the question and the notion"
        )
    return how, None


Made = TypeVar("Made", bound=AnyPlan)


def refuse_what_is_no_plan(made: object) -> None:
    """Refuse to release anything but a plan, such as the question that one is made of.

    Raises:
        InputError: it is none.
    """
    if not isinstance(made, get_args(AnyPlan)):
        raise InputError(
            f"A release of a {type(made).__name__}", "a plan is what is released", "Give leeward.plan(query, notion, …)"
        )


def remade(made: Made) -> Made:
    """Return the plan of a plan's question and notion, made anew: it is this one that is carried out.

    Nothing of a given plan draws noise, because an object that somebody altered may hold less than its promise needs; and
    one that is seen to be altered is refused.
    """
    refuse_what_is_no_plan(made)
    if type(made) not in get_args(AnyPlan) or _content(made) != _content(again := _again(made)):
        raise InputError(
            "A plan that was altered by hand",
            "its noise, its decisions or what it publishes are not those of its question and notion",
            "Release what leeward.plan(query, notion, …) returns, as it is",
        )
    return cast(Made, again)


def _again(made: AnyPlan) -> AnyPlan:
    if isinstance(made, NumberPlan):
        return plan_number(made.query, made.notion)
    if isinstance(made, RankPlan):
        return plan_rank(made.query, made.notion)
    if isinstance(made, SelectionPlan):
        return plan_selection(made.query, made.notion)
    if isinstance(made, UnlistedPlan):
        return plan_unlisted(made.query, made.notion, made.delta or None)
    return plan_decisions(made.query, made.notion, made.how)


def _content(made: AnyPlan) -> tuple[object, ...]:
    """What a plan does; a mechanism of ours is all that its repr says."""
    parts = made.parts if isinstance(made, NumberPlan) else (made.mechanism,)
    said = [(type(part), repr(part)) for part in parts]
    if isinstance(made, Plan):
        return said, made.sensitivity, made.decisions
    return said, delta_of(made), made.scale if isinstance(made, NumberPlan) else None


@contextmanager
def advised_beyond_bound(made: AnyPlan) -> Iterator[None]:
    """Where people exceed ``places_per_person``, refuse with what to do under the notion of a plan."""
    try:
        yield
    except BoundExceededError as refused:
        if not isinstance(made.counted, CountVisitors):
            raise
        instead = _instead(made.counted, made.notion, named=isinstance(made, SelectionPlan))
        raise BoundExceededError(refused.given, refused.because, instead) from None


def _instead(query: CountVisitors, notion: Notion, *, named: bool) -> str:
    if named:  # alone, which needs no bound
        return "Leave places_per_person out: naming a place needs no bound"
    ways = ["Raise places_per_person"]
    with suppress(LeewardError):
        sensitivity(notion, replace(query, if_more="latest"))
        ways.append("choose which places to keep by if_more")
    if only_falls(unbounded(query), notion):
        ways.append('leave the bound out and use mechanism = "sanitized", which needs none')
    return ", or ".join(ways)
