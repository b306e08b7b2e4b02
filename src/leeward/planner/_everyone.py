# SPDX-License-Identifier: Apache-2.0
"""Whom *safe* is about: those counted, or everyone who was there; what is certain of everyone, for which k and split of ε.

Where a bound on places per person leaves people out, counts are too low at the places where they are left out. What is
certain of everyone needs a bound on how many these are (`leeward.mechanism.Everyone`), and part of ε pays for it. Where
nobody is left out (no bound, or one that is a fact of the world), decisions are about everyone at no price; and so is
*dangerous* alone, because whoever was counted was there.

Which k is best hangs on D, the most people left out at any place, which falls as k grows, while noise grows with k. Neither
promise depends on it: only odds do. So D is guessed from public knowledge, and the plan takes the k with the best odds for a
place with nobody.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias, get_args

from leeward._plain import echo
from leeward.distance import Line
from leeward.errors import InputError, NotPrivateError, SpecError, check_choice
from leeward.exact._real import inf, whole
from leeward.mechanism import Everyone
from leeward.mechanism._split import best_share
from leeward.notion import Notion
from leeward.query import CountVisitors
from leeward.query._left_out import MostLeftOut
from leeward.query._sensitivity import sensitivity

About = Literal["counted", "everyone"]
"""Whom decisions are about: those who are counted, or everyone who was there."""

LeftOut: TypeAlias = int | Sequence[int]
"""Public guesses of the most people left out at any place: one, or one for each k = 1, 2, …, of which the best is taken."""

_MOST_K = 100


def check_about(query: object, about: About, left_out: LeftOut, mechanism: str) -> dict[int, int]:
    """Return the guess of D for each k that may be taken; none where nobody is left out, or it does not matter."""
    check_choice(
        "about", about, get_args(About), "decisions are about those counted, or about everyone", error=SpecError
    )
    if not isinstance(query, CountVisitors):
        if (about, left_out) != ("counted", 0):
            raise SpecError(
                f'about = "{about}", left_out = {echo(left_out)} for {echo(getattr(query, "kind", query))}',
                "they are about visitors of places; how many people count in one group alone of several is not bounded",
                "Leave both out: the statement says among whom a group is safe",
            )
        return {}
    if not query.truncates:
        if left_out != 0:
            raise SpecError(
                f"left_out = {echo(left_out)} where nobody is left out",
                "no place loses people to a bound on places per person",
                "Leave it out; or, under another notion than one about single visits, give places_per_person and if_more ="
                ' "latest"',
            )
        return {}
    guesses = _guesses(query, left_out)
    if about == "everyone" and mechanism in ("sanitized", "adaptive"):
        raise SpecError(
            f'about = "everyone" with mechanism = "{mechanism}" and a bound on places per person',
            "this mechanism needs no bound, and without one nobody is left out",
            "Leave places_per_person and if_more out",
        )
    return guesses if about == "everyone" else {}


def _guesses(query: CountVisitors, left_out: LeftOut) -> dict[int, int]:
    k = query.places_per_person
    assert k is not None
    if not isinstance(left_out, Sequence) or isinstance(left_out, str | bytes):
        return {k: _guess(left_out)}
    if not 1 <= len(left_out) <= _MOST_K:
        raise InputError(
            f"left_out with {len(left_out)} guesses", "there is one for each k, from 1 on", "Give, say, [4, 2, 1]"
        )
    return {at: _guess(most) for at, most in enumerate(left_out, 1)}


def _guess(most: Any) -> int:
    return whole(most, "left_out", 0, says="it is not a number of people")


def everyone(
    query: CountVisitors, notion: Notion, safe_at_most: int, guesses: dict[int, int]
) -> tuple[CountVisitors, Everyone]:
    """Return the question and the mechanism with the best odds that a place with nobody is called safe."""
    made = [(k, bounding(replace(query, places_per_person=k), notion, safe_at_most, d)) for k, d in guesses.items()]
    k, best = min(made, key=lambda each: each[1].law.tail(safe_at_most + 1))
    return replace(query, places_per_person=k), best


def bounding(query: CountVisitors, notion: Notion, safe_at_most: int, guess: int) -> Everyone:
    """Return the mechanism for this k, with the best split of ε at a public guess of D."""
    left_out = sensitivity(notion, MostLeftOut(query)).line
    counts = sensitivity(notion, query).line
    share = best_share(counts.fall, left_out.fall, safe_at_most - guess)
    return Everyone(Line(inf, counts.fall * (1 - share)), left_out.fall * share, guess=guess)


def unbounded(query: CountVisitors) -> CountVisitors:
    """Return the question without a bound, of which nobody is left out."""
    return replace(query, places_per_person=None, if_more="refuse")


def admits(query: object, notion: Notion) -> bool:
    """Return whether something is certain of everyone under a notion, where a bound leaves people out."""
    if not isinstance(query, CountVisitors) or not query.truncates:
        return False
    try:
        sensitivity(notion, MostLeftOut(query))
        sensitivity(notion, query)
    except NotPrivateError:
        return False
    return True
