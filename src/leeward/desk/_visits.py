# SPDX-License-Identifier: Apache-2.0
"""The first step: which columns of the visits say who, where and when."""

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
from leeward.errors import LeewardError, SpecError
from leeward.tables._detected import Detected
from leeward.tables._guess import WHERE, WHO, likely, position, writing_of


def routes(desk: Desk) -> APIRouter:
    """Return the step."""
    router = APIRouter()

    def step(request: Request, draft: Draft, typed: Mapping[str, str], refused: str = "") -> Response:
        path, data = shown(draft, "visits"), draft.sections["data"]
        seen = looked_at(desk, desk.table(draft, "data", "visits"), data.get("visits_table", ""))
        chosen = _offered(seen["found"], data) | dict(typed)
        seen["refused"] = seen["refused"] or refused
        return page(request, "visits", 422 if refused else 200, **seen, **path, chosen=chosen)

    @router.get("/drafts/{name}/visits")
    def ask(request: Request, name: str) -> Response:
        return step(request, desk.drafts.read(name), {})

    @router.post("/drafts/{name}/visits")
    def answer(request: Request, name: str) -> Response:
        draft, form = desk.drafts.read(name), request.state.form
        shown(draft, "visits")
        try:
            found = desk.private(draft)
            desk.drafts.save(draft.with_section("data", answered(draft.sections["data"], found, form)))
        except LeewardError as error:
            return step(request, draft, form, str(error))
        return see(after(draft, "visits"))

    return router


def answered(data: Mapping[str, Any], found: Detected, form: Mapping[str, str]) -> dict[str, Any]:
    """Return ``[data]`` as a form answers it.

    Raises:
        LeewardError: an answer is missing, or cannot be.
    """
    kept = {key: data[key] for key in ("visits", "visits_table") if key in data} | writing_of(found)
    kept["person"] = column(form.get("person", ""), found, "who")
    if form.get("place"):
        kept["place"] = column(form["place"], found, "where")
    else:
        where = position(found)
        if not where:
            raise SpecError(
                "Positions by coordinates",
                "no columns of numbers are called latitude and longitude",
                "Choose the column that names the place",
            )
        kept |= where
    return kept | times(found, form)


def _offered(found: Detected | None, data: Mapping[str, Any]) -> dict[str, str]:
    """What is chosen before anybody chooses: what was answered before, or else what the columns are called."""
    if found is None:
        return {}
    names = [one.name for one in found.columns]
    fresh = "person" not in data
    return {
        "person": data.get("person") or likely(names, WHO) or "",
        "place": data.get("place") or (fresh and likely(names, WHERE)) or "",
        **offered_times(found, data),
    }
