# SPDX-License-Identifier: Apache-2.0
"""The first step of a draft, be it about visits or about a table: which columns of the private table say what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from fastapi import APIRouter, Request, Response

from leeward.desk._desk import Desk
from leeward.desk._drafts import Draft
from leeward.desk._look import looked_at
from leeward.desk._steps import after, shown
from leeward.desk._views import page, see
from leeward.errors import LeewardError
from leeward.tables._detected import Detected

Answered: TypeAlias = Callable[[Mapping[str, Any], Detected, Mapping[str, str]], dict[str, Any]]
"""Returns ``[data]`` as a form answers it, from what it was, what the table is, and the form."""

Offered: TypeAlias = Callable[[Detected, Mapping[str, Any]], dict[str, str]]
"""Returns what is chosen before anybody chooses, from what the table is, and ``[data]``."""


def first_step(desk: Desk, about: str, template: str, answered: Answered, offered: Offered, **more: Any) -> APIRouter:
    """Return the step.

    Args:
        desk: whose it is.
        about: ``visits`` or ``table``: its name in addresses, and the key of ``[data]`` that names the private table.
        template: its page.
        answered: see `Answered`.
        offered: see `Offered`.
        more: what else the page shows.
    """
    router = APIRouter()

    def step(request: Request, draft: Draft, typed: Mapping[str, str], refused: str = "") -> Response:
        path, data = shown(draft, about), draft.sections["data"]
        seen = looked_at(desk, desk.table(draft, "data", about), data.get("visits_table", ""))
        chosen = ({} if seen["found"] is None else offered(seen["found"], data)) | dict(typed)
        seen["refused"] = seen["refused"] or refused
        return page(request, template, 422 if refused else 200, **seen, **path, **more, chosen=chosen)

    @router.get(f"/drafts/{{name}}/{about}")
    def ask(request: Request, name: str) -> Response:
        return step(request, desk.drafts.read(name), {})

    @router.post(f"/drafts/{{name}}/{about}")
    def answer(request: Request, name: str) -> Response:
        draft, form = desk.drafts.read(name), request.state.form
        shown(draft, about)
        try:
            data = answered(draft.sections["data"], desk.private(draft), form)
            made = draft.with_section("data", data)
            made = made if "time" in data else made.without("window")
            desk.drafts.save(made)
        except LeewardError as error:
            return step(request, draft, form, str(error))
        return see(after(made, about))

    return router
