# SPDX-License-Identifier: Apache-2.0
"""The steps of the path, in order: each has an address, and answers sections of the spec."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from leeward.desk._drafts import Draft
from leeward.errors import InputError, LeewardError


@dataclass(frozen=True)
class Step:
    """A step.

    Attributes:
        name: its name in addresses.
        title: what it is called.
        needs: what the draft must have, as sections and keys of them, before it can be taken.
    """

    name: str
    title: str
    needs: tuple[tuple[str, str], ...] = ()


_VISITS = (("data", "person"), ("data", "time"))
_PLACES = (*_VISITS, ("places", ""))
_TABLE = (("data", "person"),)
_QUESTION = (*_TABLE, ("query", ""))
_WINDOW = Step("window", "The time", _PLACES)
_LAST = ("protect", "notion"), ("protect", "epsilon"), ("budget", "")


def _ending(needs: tuple[tuple[str, str], ...]) -> tuple[Step, ...]:
    """The steps from the promise on, with what they need."""
    return (
        Step("promise", "The promise", needs),
        Step("strength", "Strength and budget", (*needs, ("protect", "notion"))),
        Step("check", "A look at the data", (*needs, *_LAST)),
        Step("release", "Release", (*needs, *_LAST)),
    )


_OF_VISITS: Final = (
    Step("visits", "The visits"),
    Step("places", "The places", _VISITS),
    _WINDOW,
    *_ending((*_PLACES, ("window", ""))),
)
_BEFORE: Final = (Step("table", "The table"), Step("question", "The question", _TABLE))
_OF_ROWS: Final = (*_BEFORE, *_ending(_QUESTION))
_OF_TIMED_ROWS: Final = (*_BEFORE, replace(_WINDOW, needs=_QUESTION), *_ending((*_QUESTION, ("window", ""))))


def steps(draft: Draft) -> tuple[Step, ...]:
    """Return the steps of a draft: rows of a table whose times nobody named count whenever they are."""
    if draft.of_visits:
        return _OF_VISITS
    return _OF_TIMED_ROWS if "time" in draft.sections["data"] else _OF_ROWS


def can_take(draft: Draft, step: Step) -> bool:
    """Whether a draft has what a step needs."""
    return all(section in draft.sections and (not key or key in draft.sections[section]) for section, key in step.needs)


def next_step(draft: Draft) -> str:
    """Return the name of the step that comes next in a draft: the last that it can take, and a look before a release."""
    *_, last = (step.name for step in steps(draft) if can_take(draft, step))
    return "check" if last == "release" else last


def after(draft: Draft, name: str) -> str:
    """Return the address of the step after one."""
    names = [step.name for step in steps(draft)]
    return f"/drafts/{draft.name}/{names[names.index(name) + 1]}"


def is_ready(draft: Draft) -> bool:
    """Whether every section is answered, and they make a spec."""
    try:
        draft.spec()
    except LeewardError:
        return False
    return all(can_take(draft, step) for step in steps(draft))


def shown(draft: Draft, name: str) -> dict[str, Any]:
    """Return what the page of a step shows of the whole path.

    Raises:
        InputError: the draft has no such step, or what comes before it is not answered yet.
    """
    every = steps(draft)
    current = next((step for step in every if step.name == name), None)
    if current is None:
        raise InputError("This page", "it is not one of this draft", "Go on from the first page of the desk")
    if not can_take(draft, current):
        raise InputError(f"“{current.title}” of this draft", "what comes before it is not answered yet", "Begin there")
    return {"draft": draft, "steps": [(step, can_take(draft, step)) for step in every], "current": current}
