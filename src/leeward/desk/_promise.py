# SPDX-License-Identifier: Apache-2.0
"""What must never be wrong, and so who is protected from what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, get_args

from fastapi import APIRouter

from leeward.desk._desk import Desk
from leeward.desk._drafts import Draft
from leeward.desk._form_step import form_step
from leeward.errors import SpecError
from leeward.query._source import EACH_ROW
from leeward.spec._first_question import NOTIONS, Never, Side, decided, promises, protected


@dataclass(frozen=True)
class Choice:
    """An answer to what must never be wrong.

    Attributes:
        never: the answer.
        title: what it is called.
        said: what it means.
        notion: the notion under which it is.
    """

    never: str
    title: str
    said: str
    notion: str


TITLES: Final[Mapping[Never | Side, str]] = {
    "safe": "“Safe” is never wrong",
    "dangerous": "“Dangerous” is never wrong",
    "neither": "Neither word is certain: people come first",
    "low": "An answer is never too low",
    "high": "An answer is never too high",
    "close": "No side is certain: people come first",
}


def routes(desk: Desk) -> APIRouter:
    def shows(draft: Draft, typed: Mapping[str, str], _: str) -> tuple[str, dict[str, Any]]:
        decide, may_be = draft.sections.get("decide", {}), choices(draft)
        people = decide.get("safe_at_most", decide.get("dangerous_at_least", 2))
        never = may_be[0].never if len(may_be) == 1 else promise_of(draft)
        chosen = {"never": never, "people": str(people)} | dict(typed)
        return "promise", {"choices": may_be, "decisions": get_args(Never), "chosen": chosen, "by_row": by_row(draft)}

    return form_step(desk, "promise", shows, promised)


def by_row(draft: Draft) -> bool:
    """Whether each row of the table of a draft is protected by itself."""
    return bool(draft.sections["data"]["person"] == EACH_ROW)


def choices(draft: Draft) -> list[Choice]:
    """Return what may be promised never to be wrong of the question of a draft."""
    may_be: Any = promises(draft.sections.get("query", {}), by_row=by_row(draft))
    return [Choice(never, TITLES[never], said, NOTIONS[never]) for never, said in may_be.items()]


def promised(draft: Draft, form: Mapping[str, str]) -> Draft:
    """Return a draft with ``[protect]`` and ``[decide]`` as a form answers them.

    Raises:
        SpecError: an answer is missing, or cannot be.
    """
    given, people = form.get("never", ""), form.get("people", "").strip()
    if given not in promises(draft.sections.get("query", {})):
        raise SpecError("What must never be wrong", "it is not chosen", "Choose one of the answers")
    never: Any = given
    epsilon = draft.sections.get("protect", {}).get("epsilon")
    protect = protected(never, epsilon or "1", visits=draft.of_visits)
    made = draft.with_section("protect", {key: value for key, value in protect.items() if epsilon or key != "epsilon"})
    if never not in get_args(Never):
        return made.without("decide")
    return made.with_section("decide", decided(never, people))


def promise_of(draft: Draft) -> str:
    """Return what must never be wrong, as it was answered; empty where it was not."""
    notion = draft.sections.get("protect", {}).get("notion")
    answers = get_args(Never) if "decide" in draft.sections else get_args(Side)
    return next((each for each in answers if NOTIONS[each] == notion), "")
