# SPDX-License-Identifier: Apache-2.0
"""The page of work that takes long: what it is doing, how to end it, and what it came to."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from leeward.desk._check import LOOK
from leeward.desk._desk import Desk
from leeward.desk._release import Made
from leeward.desk._views import page, refusal, see

_GONE = (
    "This work is not known: the desk was started anew since. What it released, if anything, is under “Budget and releases”;"
    " asking the same again gives the stored answer and costs nothing more."
)


def routes(desk: Desk) -> APIRouter:
    router = APIRouter()

    @router.get("/jobs/{number}")
    def show(request: Request, number: int) -> Response:
        job = desk.jobs.get(number)
        if job is None:
            return refusal(404, _GONE)
        if not job.runs and not job.refused:
            made = job.found
            return see(f"/releases/{made.folder}" if isinstance(made, Made) else f"/drafts/{job.about}/check")
        back = f"/drafts/{job.about}/{'check' if job.what == LOOK else 'release'}"
        return page(request, "job", job=job, back=back)

    @router.post("/jobs/{number}/cancel")
    def cancel(number: int) -> Response:
        job = desk.jobs.get(number)
        if job is None:
            return refusal(404, _GONE)
        job.cancel()
        return see(f"/jobs/{number}")

    return router
