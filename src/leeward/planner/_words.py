"""What a told comparison says in words: shared by the terminal and the page."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from leeward.planner._recommend import people


def each_place(count: int) -> str:
    """Say of which places a question is: of the one that is listed, or of each of them."""
    return "the one public place" if count == 1 else f"each of {count:,} public places"


def label(option: dict[str, Any]) -> str:
    """Return a notion's name; a graded one with its two prices."""
    notion = option["notion"]
    rates = f" {short(notion['presence'])}:{short(notion['absence'])}" if "presence" in notion else ""
    return f"{notion['name']}{rates}"


def head(asked: dict[str, Any]) -> Iterable[tuple[str, str]]:
    """Say what is asked, as terms and their values."""
    window, budget, bound = asked["window"], asked["budget"], asked["places_per_person"]
    each = "no bound on the places of one person" if bound is None else f"one person counts at {_places(bound)} at most"
    more = "" if asked["if_more"] in {None, "refuse"} else f" (the {asked['if_more']} kept)"
    yield "question", f"distinct people at {each_place(asked['places'])}; {each}{more}"
    yield (
        "window",
        f"{window['start']} to {window['end']}" + (f", {asked['releases']} releases" if asked["releases"] > 1 else ""),
    )
    for name, said in (("safe_at_most", "safe: at most {}"), ("dangerous_at_least", "dangerous: at least {}")):
        if asked[name] is not None:
            yield "decide", said.format(people(asked[name]))
    yield "asked for", f"{label(asked)} at ε = {short(asked['notion']['epsilon'])}"
    left = "" if budget["left"] is None else f"; {short(budget['left'])} left"
    yield "budget", f"kept in {budget['notion']}{left}"
    if asked["counts"]:
        yield "counts", ", ".join(f"{n:,} with {people(int(c))}" for c, n in asked["counts"].items()) + " (as given)"


def sides(shown: Iterable[dict[str, Any]]) -> Iterable[tuple[str, str]]:
    """Say of each notion what it protects and what it leaks; notions that promise the same share an entry."""
    alike: dict[str, list[str]] = {}
    for option in shown:
        leaks = f"Leaks: {option['leaks']}." if option["leaks"] else "Leaks nothing beyond doubt about anybody."
        names = alike.setdefault(f"protects {option['protects']}. {leaks}", [])
        if label(option) not in names:
            names.append(label(option))
    yield from ((", ".join(names), told) for told, names in alike.items())


def refused(options: Iterable[dict[str, Any]]) -> Iterable[tuple[str, str]]:
    """Say what is refused, and why; rows refused for the same reason share an entry."""
    reasons: dict[str, list[str]] = {}
    for option in options:
        if option["refused"]:
            reasons.setdefault(option["refused"], []).append(f"{label(option)}, {option['mechanism']}")
    for reason, names in reasons.items():
        yield names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more", f"refused: {reason}"


def short(exact: str) -> str:
    """Write an exact number shortly: 227/100 as 2.27."""
    try:
        value = Fraction(exact)
    except ValueError:
        return exact
    return f"{float(value):g}" if Fraction(f"{float(value):g}") == value else exact


def _places(number: int) -> str:
    return "1 place" if number == 1 else f"{number} places"
