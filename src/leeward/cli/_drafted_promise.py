# SPDX-License-Identifier: Apache-2.0
"""What must never be wrong, in a first spec, and what that is worth before anything is charged."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from leeward._plain import plain
from leeward.cli._asked import answer, choice, tell
from leeward.errors import SpecError

if TYPE_CHECKING:
    from leeward.spec._draft import Never, Side

_DECIDED: Final = {
    "safe": "{a} that is called safe (few of the people counted {there}) is never wrong",
    "dangerous": "{a} that is called dangerous (many of the people counted {there}) is never wrong",
    "neither": "each may be wrong once in a hundred times, and that somebody is not counted is protected as well",
}
_PUBLISHED: Final = {
    "low": "an answer that is published is never too low",
    "high": "an answer that is published is never too high",
    "close": "it may be too low or too high, and that somebody is not counted is protected as well",
}
_WHERE: Final = {
    "visitors": {"a": "a place", "there": "were there"},
    "count": {"a": "a group", "there": "are in it"},
    "histogram": {"a": "an interval", "there": "have a number in it"},
    "above": {"a": "a level", "there": "have a number above it"},
}


def never_wrong(given: str | None, query: Mapping[str, Any]) -> Never | Side:
    """Return what must never be wrong, of what can be certain of this question.

    Args:
        given: what ``--never`` says.
        query: the keys of ``[query]``; none for visitors.
    """
    kind = query.get("kind", "visitors")
    words = {never: said.format(**_WHERE[kind]) for never, said in _DECIDED.items()} if kind in _WHERE else {}
    if kind == "count" and "by" not in query:
        words = {}
    if kind in ("count", "histogram") or (kind == "sum" and _from_zero(query["lower"])):
        words |= _PUBLISHED  # of other numbers no side is certain under any of these notions
    if not words:
        words = {"close": _PUBLISHED["close"]}
    return cast("Never | Side", choice("--never", given, words, assumed=len(words) == 1))


def _from_zero(lower: str) -> bool:
    """Whether who comes, of a sum, never makes it smaller."""
    from leeward.query._public_values import rational

    return rational(lower, "lower") >= 0


def decision(never: Never | Side, people: int | None) -> dict[str, Any]:
    """Return the keys of ``[decide]``: so many are safe still, or dangerous already; none where nothing is decided."""
    from leeward.spec._draft import decided

    if never not in ("safe", "dangerous", "neither"):
        if people is not None:
            raise SpecError(f"--people with --never {never}", "nothing is called safe or dangerous", "Leave it out")
        return {}
    alarming = never == "dangerous"
    what = "from how many people on is it dangerous" if alarming else "up to how many people is it safe"

    def check(text: str) -> None:
        if not text.isdecimal() or len(text) > 9:
            raise SpecError(f"--people {plain(text)}", "it is not a number of people", "Give one, such as 2")

    many = answer(what, "--people", None if people is None else str(people), "50" if alarming else "2", check)
    return decided(never, int(many))


def odds(sections: Mapping[str, Mapping[str, Any]], folder: Path) -> list[str]:
    """Return what is known of the answers before anything is charged; what check and release would refuse is refused.

    Raises:
        LeewardError: it is.
    """
    from leeward.planner._useless import refuse_useless
    from leeward.query._statistic import Statistic
    from leeward.spec import check_spec
    from leeward.spec._draft import odds_of

    made: Any = check_spec({name: dict(keys) for name, keys in sections.items()}, folder=folder).plans()[0]
    refuse_useless(made, made.query.cells if isinstance(made.query, Statistic) else None)
    found = odds_of(made)
    tell("\n".join(f"   {line}" for line in found))
    return found
