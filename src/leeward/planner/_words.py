# SPDX-License-Identifier: Apache-2.0
"""What a plan report says in words: shared by the terminal and the page."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING

from leeward._plain import short_percent
from leeward.planner._people import a, at_most_people, empty, people, places
from leeward.planner._recommend import share
from leeward.planner._report import AskedPart, DecidingOption, OptionPart
from leeward.planner._report_parts import NotionPart
from leeward.query._group_names import columns_named
from leeward.query._statistic import Noun

if TYPE_CHECKING:
    from leeward.planner._answer_report import AnswerOptionPart, NameOptionPart

_MOST_ODDS = 6
"""Odds by how many people are left out, that are shown; the document has more."""

_LONGEST = 12
"""Characters of an exact number in a table; the page's own data has all of them."""


def each_place(count: int, noun: Noun = "place") -> str:
    """Say of which places, or groups, a question is: of the one that is listed, or of each of them."""
    return f"the one public {noun}" if count == 1 else f"each of {count:,} public {noun}s"


def label(notion: NotionPart) -> str:
    """Return a notion's name; a graded one with its two prices."""
    if notion.presence is None or notion.absence is None:
        return notion.name
    return f"{notion.name} {short(notion.presence)}:{short(notion.absence)}"


def name(option: OptionPart | AnswerOptionPart | NameOptionPart) -> str:
    """Return an option's notion and mechanism."""
    return f"{label(option.notion)}, {option.mechanism}"


def head(asked: AskedPart) -> Iterable[tuple[str, str]]:
    """Say what is asked, as terms and their values."""
    left, many = asked.budget.left, asked.many
    where = f"public {asked.noun}s" if asked.places is None else each_place(asked.places, asked.noun)
    several = f", {asked.releases} releases" if asked.releases > 1 else ""
    if asked.noun != "place":
        column = "" if asked.column is None else f" of '{asked.column}'"
        by = "" if asked.by is None else f" by {columns_named(asked.by)}"
        yield "question", f"{many} {'above' if asked.noun == 'level' else 'in'} {where}{column}{by}"
        if asked.releases > 1 and asked.window is None:
            yield "releases", str(asked.releases)
    else:
        yield "question", f"distinct people at {where}; {_bound(asked)}"
    if asked.window is not None:
        yield "window", f"{asked.window.start} to {asked.window.end}{several}"
    if asked.safe_at_most is not None:
        yield "decide", f"safe: {at_most_people(asked.safe_at_most, many)}{_of_whom(asked)}"
    if asked.dangerous_at_least is not None:
        yield "decide", f"dangerous: at least {people(asked.dangerous_at_least, many)}{_of_whom(asked)}"
    yield "asked for", f"{label(asked.notion)} at {epsilon(asked.notion.epsilon)}"
    yield "budget", f"counted in {asked.budget.notion}" + ("" if left is None else f"; {_left(left)}")
    if asked.answered:
        yield "stored", _stored(asked)
    if asked.counts:
        yield (
            "counts",
            ", ".join(f"{n:,} with {people(count, many)}" for count, n in asked.counts.items()) + " (as given)",
        )


def _left(left: str) -> str:
    """Say what is left of a budget, and of one that is used up what may still be had."""
    if left != "0":
        return f"{short(left)} left"
    return "nothing left: only stored answers, which are free; `leeward budget set-cap` raises the cap"


def _stored(asked: AskedPart) -> str:
    """Say how many releases, as written, are answered already."""
    if asked.releases == 1:
        return "as written, the answer is stored already: to release it again is free"
    return f"as written, {asked.answered:,} of {asked.releases:,} releases are answered already, and free"


def if_left_out(shown: Iterable[DecidingOption], asked: AskedPart) -> Iterable[str]:
    """Say how often a place with nobody is called safe of everyone, by how many people are left out at most."""
    for option in shown:
        if odds := option.safe_if_left_out[:_MOST_ODDS]:
            k = option.places_per_person
            chances = ", ".join(short_percent(float(chance)) for chance in odds)
            numbers = ", ".join(map(str, range(len(odds))))
            yield (
                f"{label(option.notion)}, {option.mechanism}, each counted at {places(k or 1)} at most: {a(asked.noun)}"
                f" {empty(asked.noun, asked.many)} is called safe with {chances} if at most {numbers} of those there are"
                " left out at any one place"
            )


def _of_whom(asked: AskedPart) -> str:
    if asked.about == "everyone":
        return " of all who were there"
    return " among those counted" if asked.if_more not in {None, "refuse"} else ""


def _bound(asked: AskedPart) -> str:
    bound = asked.places_per_person
    each = "no bound on the places of one person" if bound is None else f"one person counts at {places(bound)} at most"
    return each if asked.if_more in {None, "refuse"} else f"{each} (the {asked.if_more} kept)"


def leaks(shown: Iterable[OptionPart | AnswerOptionPart]) -> Iterable[tuple[str, str]]:
    """Say of each notion, in one sentence, what it protects and what it does not."""
    for names, protects, not_protected in sides(shown):
        lost = f"Leaks: {not_protected}." if not_protected else "Leaks nothing beyond doubt about anybody."
        yield names, f"protects {protects}. {lost}"


def sides(shown: Iterable[OptionPart | AnswerOptionPart]) -> Iterable[tuple[str, str, str | None]]:
    """Say of each notion what it protects and what it does not; notions that promise the same share an entry."""
    alike: dict[tuple[str, str | None], dict[str, None]] = {}
    for option in shown:
        alike.setdefault((option.protects, option.does_not_protect), {})[label(option.notion)] = None
    yield from ((", ".join(names), *both) for both, names in alike.items())


def refused(options: Iterable[OptionPart | AnswerOptionPart | NameOptionPart]) -> Iterable[tuple[str, str]]:
    """Say what is refused, and why; rows refused for the same reason share an entry."""
    reasons: dict[str, list[str]] = {}
    for option in options:
        if option.refused:
            reasons.setdefault(option.refused, []).append(name(option))
    for reason, names in reasons.items():
        yield names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more", f"refused: {reason}"


def useless(options: Iterable[AnswerOptionPart]) -> Iterable[tuple[str, str]]:
    """Say what would be released only where it is asked for once more, and why: of each mechanism the first."""
    found: dict[str, list[AnswerOptionPart]] = {}
    for option in options:
        if option.useless:
            found.setdefault(option.mechanism, []).append(option)
    for alike in found.values():
        more = f", and {len(alike) - 1} more of this mechanism" if len(alike) > 1 else ""
        yield name(alike[0]) + more, f"says next to nothing: {alike[0].useless}"


def notes(options: Iterable[OptionPart]) -> Iterable[tuple[str, str]]:
    """Say what else must be known of some options."""
    return ((name(option), option.note) for option in options if option.note)


def not_composed(options: Iterable[DecidingOption]) -> Iterable[str]:
    """Say why the ε at δ of several releases is left out where it is; the price, which adds up, never is."""
    reasons = dict.fromkeys(each.composed.not_composed for each in options if each.composed is not None)
    return (f"No ε at δ is given: {why}. The price is exact." for why in reasons if why)


def short(exact: str) -> str:
    """Write an exact number shortly: 227/100 as 2.27, 1/3 as it is, and one of more characters rounded, as ≈0.333333."""
    try:
        value = Fraction(exact)
        rounded = f"{float(value):g}"
    except (ValueError, OverflowError):
        return exact
    if Fraction(rounded) == value:
        return rounded
    return exact if len(exact) <= _LONGEST else f"≈{rounded}"


def wished(option: DecidingOption, asked: AskedPart) -> str:
    """Say which share of which places is to be called safe; of a mechanism that stops, of those that are reached."""
    reached = " that it reaches" if option.mechanism in ("sanitized", "adaptive") else ""
    return f"{share(asked.wish.probability)} of the {asked.noun}s{reached} with {people(asked.wish.count, asked.many)}"


def epsilon(exact: str) -> str:
    """Write an ε shortly: ε = 2.27, or ε ≈ 0.333333."""
    said = short(exact)
    return f"ε ≈ {said[1:]}" if said.startswith("≈") else f"ε = {said}"
