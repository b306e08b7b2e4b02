# SPDX-License-Identifier: Apache-2.0
"""The third step: from when to when."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from fastapi import APIRouter, Request, Response

from leeward.desk._desk import Desk
from leeward.desk._drafts import Draft
from leeward.desk._steps import after, shown
from leeward.desk._views import page, see
from leeward.errors import LeewardError, SpecError
from leeward.query import Window, moment

LENGTHS: Final = {
    "": "one window",
    "30min": "half an hour each",
    "1h": "an hour each",
    "1d": "a day each",
    "7d": "a week each",
}
"""Into how long windows the time may be cut, in words."""


def routes(desk: Desk) -> APIRouter:
    """Return the step."""
    router = APIRouter()

    def step(request: Request, draft: Draft, typed: Mapping[str, str], refused: str = "") -> Response:
        window = draft.sections.get("window", {})
        chosen = {key: str(window.get(key, "")) for key in ("start", "end", "every")} | dict(typed)
        lengths = LENGTHS | ({chosen["every"]: chosen["every"]} if chosen["every"] not in LENGTHS else {})
        return page(
            request,
            "window",
            422 if refused else 200,
            **shown(draft, "window"),
            chosen=chosen,
            lengths=lengths,
            refused=refused,
        )

    @router.get("/drafts/{name}/window")
    def ask(request: Request, name: str) -> Response:
        return step(request, desk.drafts.read(name), {})

    @router.post("/drafts/{name}/window")
    def answer(request: Request, name: str) -> Response:
        draft, form = desk.drafts.read(name), request.state.form
        try:
            made = draft.with_section("window", span(form))
            shown(made, "window")
            made.check_so_far()
            desk.drafts.save(made)
        except LeewardError as error:
            return step(request, draft, form, str(error))
        return see(after(draft, "window"))

    return router


def span(form: Mapping[str, str]) -> dict[str, str]:
    """Return ``[window]`` as a form answers it.

    Raises:
        SpecError: an end is missing or is no time, or the window is empty.
    """
    ends = {key: form.get(key, "").strip() for key in ("start", "end")}
    for key, title in (("start", "The start"), ("end", "The end")):
        if not ends[key]:
            raise SpecError(title, "it is not given", "Give a day and a time")
    Window(*(moment(key, text) for key, text in ends.items()))
    every = form.get("every", "").strip()
    return ends | ({"every": every} if every else {})
