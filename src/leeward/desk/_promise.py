# SPDX-License-Identifier: Apache-2.0
"""The fourth step: what must never be wrong, and so who is protected from what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from fastapi import APIRouter, Request, Response

from leeward.desk._desk import Desk
from leeward.desk._drafts import Draft
from leeward.desk._steps import shown
from leeward.desk._views import page, see
from leeward.errors import LeewardError, SpecError
from leeward.spec._draft import NOTIONS, Never, decided, protected


def routes(desk: Desk) -> APIRouter:
    """Return the step."""
    router = APIRouter()

    def step(request: Request, draft: Draft, typed: Mapping[str, str], refused: str = "") -> Response:
        chosen = _before(draft) | dict(typed)
        return page(
            request, "promise", 422 if refused else 200, **shown(draft, "promise"), chosen=chosen, refused=refused
        )

    @router.get("/drafts/{name}/promise")
    def ask(request: Request, name: str) -> Response:
        return step(request, desk.drafts.read(name), {})

    @router.post("/drafts/{name}/promise")
    def answer(request: Request, name: str) -> Response:
        draft, form = desk.drafts.read(name), request.state.form
        try:
            desk.drafts.save(promised(draft, form))
        except LeewardError as error:
            return step(request, draft, form, str(error))
        return see(f"/drafts/{name}/strength")

    return router


def promised(draft: Draft, form: Mapping[str, str]) -> Draft:
    """Return a draft with ``[protect]`` and ``[decide]`` as a form answers them.

    Raises:
        SpecError: an answer is missing, or cannot be.
    """
    given, people = form.get("never", ""), form.get("people", "").strip()
    if given not in get_args(Never):
        raise SpecError("What must never be wrong", "it is not chosen", "Choose one of the three")
    if not people.isdecimal() or len(people) > 9:
        raise SpecError(f"'{people}' people", "it is not a number of people", "Give one, such as 2")
    never: Any = given
    epsilon = draft.sections.get("protect", {}).get("epsilon")
    protect = {key: value for key, value in protected(never, epsilon or "1").items() if epsilon or key != "epsilon"}
    return draft.with_section("protect", protect).with_section("decide", decided(never, int(people)))


def _before(draft: Draft) -> dict[str, str]:
    protect, decide = draft.sections.get("protect", {}), draft.sections.get("decide", {})
    never = next((each for each, notion in NOTIONS.items() if notion == protect.get("notion")), "")
    people = decide.get("safe_at_most", decide.get("dangerous_at_least", 2))
    return {"never": never, "people": str(people)}
