# SPDX-License-Identifier: Apache-2.0
"""The comparison of other promises and mechanisms for the question of a draft; a look aside from the path."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from leeward.desk._desk import Desk
from leeward.desk._releases import REPORT_HEADERS
from leeward.desk._steps import shown
from leeward.desk._views import page, refusal
from leeward.planner import PlanReport
from leeward.planner._answer_cells import cells_of
from leeward.planner._side_by_side import AnyReport
from leeward.planner._words import refused
from leeward.report._plan import plan_html, table_of
from leeward.spec._compared import compared


def routes(desk: Desk) -> APIRouter:
    router = APIRouter()

    @router.get("/drafts/{name}/compare")
    def show(request: Request, name: str) -> Response:
        draft = desk.drafts.read(name)
        shown(draft, "check")  # a whole spec is compared
        path = shown(draft, "strength")
        report = compared(draft.spec())
        headings, rows, advice = _table(report)
        return page(
            request,
            "compare",
            **path,
            headings=[heading.replace("\n", " ") for heading in headings],
            rows=rows,
            advice=advice,
            refused=list(refused(report.options)),
            curves=isinstance(report, PlanReport),
        )

    @router.get("/drafts/{name}/plan.html")
    def plan(name: str) -> Response:
        draft = desk.drafts.read(name)
        shown(draft, "check")
        report = compared(draft.spec())
        if not isinstance(report, PlanReport):
            return refusal(404, "There are pictures of decisions alone, and here nothing is decided.")
        return HTMLResponse(plan_html(report), headers=REPORT_HEADERS)

    return router


def _table(report: AnyReport) -> tuple[list[str], list[list[str]], list[str]]:
    """Return the headings, the rows, and what speaks for which."""
    if isinstance(report, PlanReport):
        (headings, marked), said = table_of(report), report.recommendation
        return (
            headings,
            [cells for _, cells in marked],
            [one for one in (said.reason, said.plain_dp, said.whom, *said.cautions) if one],
        )
    cells, advice = cells_of(report)
    return *cells, advice
