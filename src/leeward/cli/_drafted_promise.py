# SPDX-License-Identifier: Apache-2.0
"""What must never be wrong, in a first spec, and what that is worth before anything is charged."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from leeward.cli._asked import answer, choice, tell
from leeward.errors import SpecError
from leeward.spec._first_question import decided, promises

if TYPE_CHECKING:
    from leeward.spec._first_question import Never, Side


def never_wrong(given: str | None, query: Mapping[str, Any], *, by_row: bool) -> Never | Side:
    """Return what must never be wrong, of what can be certain of this question; see `promises`."""
    words = promises(query, by_row=by_row)
    return cast("Never | Side", choice("--never", given, words, assumed=len(words) == 1))


def decision(never: Never | Side, people: int | None) -> dict[str, Any]:
    """Return the keys of ``[decide]``: so many are safe still, or dangerous already; none where nothing is decided."""
    if never not in ("safe", "dangerous", "neither"):
        if people is not None:
            raise SpecError(f"--people with --never {never}", "nothing is called safe or dangerous", "Leave it out")
        return {}
    alarming = never == "dangerous"
    what = "from how many people on is it dangerous" if alarming else "up to how many people is it safe"

    said = None if people is None else str(people)
    many = answer(what, "--people", said, "50" if alarming else "2", lambda text: decided(never, text))
    return decided(never, many)


def drafted_plan(sections: Mapping[str, Mapping[str, Any]], folder: Path) -> Any:
    """Return the plan of a draft; what no price would make possible is refused.

    Raises:
        LeewardError: it is.
    """
    from leeward.spec import check_spec

    return check_spec({name: dict(keys) for name, keys in sections.items()}, folder=folder).plans()[0]


def odds(sections: Mapping[str, Mapping[str, Any]], folder: Path) -> list[str]:
    """Return what is known of the answers before anything is charged; what check and release would refuse is refused.

    Raises:
        LeewardError: it is.
    """
    from leeward.planner._useless import refuse_useless
    from leeward.query._statistic import Statistic
    from leeward.spec._draft import odds_of

    made = drafted_plan(sections, folder)
    refuse_useless(made, made.query.cells if isinstance(made.query, Statistic) else None)
    found = odds_of(made)
    tell("\n".join(f"   {line}" for line in found))
    return found
