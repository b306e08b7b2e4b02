# SPDX-License-Identifier: Apache-2.0
"""The first step of a question about a table: whose rows they are, and whether there is a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request, Response

from leeward.desk._columns import column, offered_times, times
from leeward.desk._desk import Desk
from leeward.desk._drafts import Draft
from leeward.desk._look import looked_at
from leeward.desk._steps import after, shown
from leeward.desk._views import page, see
from leeward.errors import LeewardError
from leeward.query._source import EACH_ROW
from leeward.tables._detected import Detected
from leeward.tables._guess import WHO, likely, writing_of


def routes(desk: Desk) -> APIRouter:
    """Return the step."""
    router = APIRouter()

    def step(request: Request, draft: Draft, typed: Mapping[str, str], refused: str = "") -> Response:
        path, data = shown(draft, "table"), draft.sections["data"]
        seen = looked_at(desk, desk.table(draft, "data", "table"), data.get("visits_table", ""))
        chosen = _offered(seen["found"], data) | dict(typed)
        seen["refused"] = seen["refused"] or refused
        return page(request, "rows", 422 if refused else 200, **seen, **path, chosen=chosen, each_row=EACH_ROW)

    @router.get("/drafts/{name}/table")
    def ask(request: Request, name: str) -> Response:
        return step(request, desk.drafts.read(name), {})

    @router.post("/drafts/{name}/table")
    def answer(request: Request, name: str) -> Response:
        draft, form = desk.drafts.read(name), request.state.form
        shown(draft, "table")
        try:
            data = answered(draft.sections["data"], desk.private(draft), form)
            made = draft.with_section("data", data)
            made = made if "time" in data else made.without("window")
            desk.drafts.save(made)
        except LeewardError as error:
            return step(request, draft, form, str(error))
        return see(after(made, "table"))

    return router


def answered(data: Mapping[str, Any], found: Detected, form: Mapping[str, str]) -> dict[str, Any]:
    """Return ``[data]`` as a form answers it.

    Raises:
        LeewardError: an answer is missing, or cannot be.
    """
    kept = {key: data[key] for key in ("table", "visits_table", "decimal") if key in data} | writing_of(found)
    who = form.get("person", "")
    kept["person"] = who if who == EACH_ROW else column(who, found, "who")
    return kept | (times(found, form) if form.get("time") else {})


def _offered(found: Detected | None, data: Mapping[str, Any]) -> dict[str, str]:
    """What is chosen before anybody chooses: what was answered before, or else who the columns are likely to name."""
    if found is None:
        return {}
    person = data.get("person") or likely([one.name for one in found.columns], WHO) or ""
    return {"person": person, **offered_times(found, data), "time": data.get("time", "")}
