# SPDX-License-Identifier: Apache-2.0
"""The steps of the path, in order: each has an address, and answers sections of the spec."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from leeward.desk._drafts import Draft
from leeward.errors import InputError


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
_WINDOW = (*_PLACES, ("window", ""))
_PROMISE = (*_WINDOW, ("protect", "notion"), ("decide", ""))
_WHOLE = (*_PROMISE, ("protect", "epsilon"), ("budget", ""))

STEPS: Final = (
    Step("visits", "The visits"),
    Step("places", "The places", _VISITS),
    Step("window", "The time", _PLACES),
    Step("promise", "The promise", _WINDOW),
    Step("strength", "Strength and budget", _PROMISE),
    Step("check", "A look at the data", _WHOLE),
    Step("release", "Release", _WHOLE),
)


def can_take(draft: Draft, step: Step) -> bool:
    """Whether a draft has what a step needs."""
    return all(section in draft.sections and (not key or key in draft.sections[section]) for section, key in step.needs)


def next_step(draft: Draft) -> str:
    """Return the name of the step that comes next in a draft: the last that it can take."""
    return [step.name for step in STEPS if can_take(draft, step)][-1] if not can_take(draft, STEPS[-1]) else "check"


def shown(draft: Draft, name: str) -> dict[str, Any]:
    """Return what the page of a step shows of the whole path.

    Raises:
        InputError: what comes before it is not answered yet.
    """
    (current,) = [step for step in STEPS if step.name == name]
    if not can_take(draft, current):
        raise InputError(f"“{current.title}” of this draft", "what comes before it is not answered yet", "Begin there")
    return {"draft": draft, "steps": [(step, can_take(draft, step)) for step in STEPS], "current": current}
