# SPDX-License-Identifier: Apache-2.0
"""A step that a form answers: its page is shown, sent, and shown again with what is wrong; or the next step follows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from fastapi import APIRouter, Request, Response

from leeward.desk._desk import Desk
from leeward.desk._drafts import Draft
from leeward.desk._steps import after, shown
from leeward.desk._views import page, see
from leeward.errors import LeewardError

Shows: TypeAlias = Callable[[Draft, Mapping[str, str], str], tuple[str, dict[str, Any]]]
"""Returns the template of a page, and what it shows, from the draft, from what is typed (in a form that is refused, or the
address), and from why it is refused, which is empty where it is not."""


def form_step(desk: Desk, which: str, shows: Shows, answered: Callable[[Draft, Mapping[str, str]], Draft]) -> APIRouter:
    """Return a step.

    Args:
        desk: whose it is.
        which: its name in addresses.
        shows: see `Shows`.
        answered: returns the draft as a form answers it; a refusal of it is shown on the page.
    """
    router = APIRouter()

    def step(request: Request, draft: Draft, typed: Mapping[str, str], refused: str = "") -> Response:
        path = shown(draft, which)
        template, more = shows(draft, typed, refused)
        return page(request, template, 422 if refused else 200, **path, **{"refused": refused} | more)

    @router.get(f"/drafts/{{name}}/{which}")
    def ask(request: Request, name: str) -> Response:
        return step(request, desk.drafts.read(name), dict(request.query_params))

    @router.post(f"/drafts/{{name}}/{which}")
    def answer(request: Request, name: str) -> Response:
        form, is_saved = request.state.form, False
        while not is_saved:  # of a draft that was changed meanwhile the same is answered again
            draft = desk.drafts.read(name)
            shown(draft, which)  # refuses what comes too early
            try:
                made = answered(draft, form)
                is_saved = desk.drafts.save(made, draft)
            except LeewardError as error:
                return step(request, draft, form, str(error))
        return see(after(made, which))

    return router
