# SPDX-License-Identifier: Apache-2.0
"""The sixth step: a look at the data before anything is paid, for the curator only."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter, Request, Response

from leeward._private import Private
from leeward._progress import Progress
from leeward.desk._desk import Desk
from leeward.desk._drafts import Draft
from leeward.desk._steps import shown
from leeward.desk._views import page, see
from leeward.session._check import check_planned
from leeward.session._facts import FOR_CURATOR, Checked

LOOK: Final = "A look at the data"


class Looked(Private):
    """What a look found, and of which spec and tables."""

    __slots__ = ("found", "of")

    def __init__(self, found: Checked, of: str) -> None:
        self.found, self.of = found, of


def routes(desk: Desk) -> APIRouter:
    router = APIRouter()

    @router.get("/drafts/{name}/check")
    def ask(request: Request, name: str) -> Response:
        draft = desk.drafts.read(name)
        path = shown(draft, "check")
        return page(request, "check", **path, **_said(found(desk, draft)), about=FOR_CURATOR)

    @router.post("/drafts/{name}/check")
    def look(request: Request, name: str) -> Response:
        draft = desk.drafts.read(name)
        spec, of = draft.spec(), desk.state(draft)

        def work(progress: Progress) -> Looked:
            return Looked(check_planned(spec.plans(), spec.ledger(), accept_useless=True, progress=progress), of)

        return see(f"/jobs/{desk.jobs.start(LOOK, name, work, of=of).number}")

    return router


def found(desk: Desk, draft: Draft) -> Looked | None:
    """Return what the last look at a draft and its tables, as they now are, found; None where there was none."""
    last = desk.jobs.last(LOOK, draft.name)
    return last if isinstance(last, Looked) and last.of == desk.state(draft) else None


def _said(looked: Looked | None) -> dict[str, Any]:
    if looked is None:
        return {"facts": [], "refusals": [], "stand_in": [], "columns": [], "rows": 0}
    one = looked.found
    return {
        "facts": one.facts(ends=True),
        "refusals": one.refusals,
        "columns": one.stand_in.column_names,
        "stand_in": [list(row.values()) for row in one.begins()],
        "rows": one.answer_rows,
    }
