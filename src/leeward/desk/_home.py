# SPDX-License-Identifier: Apache-2.0
"""The first page, and the look into a table."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from leeward.desk._desk import Desk
from leeward.desk._look import looked_at
from leeward.desk._steps import is_ready, next_step
from leeward.desk._views import page, see
from leeward.errors import LeewardError
from leeward.tables._detected import detected
from leeward.tables._guess import writing_of


def routes(desk: Desk) -> APIRouter:
    router = APIRouter()

    @router.get("/")
    def home(request: Request) -> Response:
        drafts = []
        for name in desk.drafts.names():
            try:
                draft = desk.drafts.read(name)
            except LeewardError as refused:
                drafts.append((name, "", str(refused)))
            else:
                drafts.append((name, next_step(draft), "ready to release" if is_ready(draft) else "begun"))
        return page(request, "home", files=desk.files.files(), drafts=drafts, root=desk.files.root)

    @router.get("/look")
    def look(request: Request, file: str = "", sheet: str = "") -> Response:
        return page(request, "look", **looked_at(desk, file, sheet))

    @router.post("/drafts")
    def begin(request: Request) -> Response:
        form = request.state.form
        name, sheet = form.get("file", ""), form.get("sheet") or None
        about = "table" if form.get("about") == "table" else "visits"
        path = desk.files.file(name)
        data = ({} if sheet is None else {"visits_table": sheet}) | writing_of(detected(str(path), sheet))
        draft = desk.drafts.begin(path, about, data)
        return see(f"/drafts/{draft.name}/{next_step(draft)}")

    return router
