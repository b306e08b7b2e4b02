# SPDX-License-Identifier: Apache-2.0
"""The application of the service: its addresses, and one form of refusal.

What an answer takes depends on how many rows a table has. So what comes of the table, an answer or the refusal that there is
none, is given at a whole multiple of a public number of seconds (`leeward.service._answering` stores an answer at such a
moment, and here it is given at once; here a refusal waits for one). What is refused by public facts, and stored answers, are
given at once.
"""

from __future__ import annotations

from asyncio import Semaphore, sleep
from collections.abc import Callable, Iterable
from typing import Annotated, Any, Final

from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.security import HTTPBearer
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from leeward._web._guard import SILENT
from leeward.errors import LeewardError, code_of
from leeward.service._answering import Answering, NoDataSetError, NoTokenError, Ticks, UnansweredError, UnavailableError
from leeward.service._brokering import Brokering
from leeward.service._brokers import FOR_BROKERS
from leeward.service._documents import (
    MOST_POSITIONS,
    Answered,
    Asked,
    DataSets,
    ForBrokers,
    Planned,
    Positions,
    Refused,
    Releases,
    Reports,
)
from leeward.service._guard import Guard
from leeward.service._tokens import Issued
from leeward.version import __version__

MOST_AT_ONCE: Final = 4
"""So many tables are read at once by a process; other questions wait for their turn, and hold nothing of the ledger."""

_REFUSALS: Final[dict[int | str, dict[str, Any]]] = {
    400: {"model": Refused, "description": "Sent to another name than those of the service."},
    401: {"model": Refused, "description": "No token, or none that works."},
    404: {"model": Refused, "description": "No such address, or nothing of that name that you may ask or send to."},
    422: {"model": Refused, "description": "Refused by public facts; nothing is charged."},
    503: {"model": Refused, "description": "There is no answer."},
}
_OF_BODIES: Final[dict[int | str, dict[str, Any]]] = {
    413: {"model": Refused, "description": "Longer than any question."},
    415: {"model": Refused, "description": "Not sent as JSON."},
}
_CODES: Final = {
    400: "host",
    401: "token",
    404: "address",
    405: "method",
    413: "size",
    415: "type",
    422: "request",
    500: "defect",
}


def routes(answering: Answering) -> FastAPI:
    """Return the addresses, without a guard before them."""
    app = FastAPI(
        title="Leeward",
        version=__version__,
        description="Questions about a curator's data, answered under differential privacy.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry=SILENT,
        dependencies=[Depends(HTTPBearer(auto_error=False))],
        responses=_REFUSALS,
    )

    drawing = Semaphore(MOST_AT_ONCE)

    @app.get("/data-sets", summary="What you may ask, and spend")
    def data_sets(who: Who) -> DataSets:
        return answering.data_sets(who)

    @app.get("/releases", summary="What was charged to you")
    def releases(who: Who) -> Releases:
        return answering.releases(who)

    @app.post("/plan", responses=_OF_BODIES, summary="The price and the privacy statement of a question; free")
    def plan(who: Who, asked: Asked) -> Planned:
        return answering.plan(who, asked)

    @app.post("/release", responses=_OF_BODIES, summary="The answer to a question; charged once")
    async def release(who: Who, asked: Asked) -> Answered:
        ticks = Ticks(answering.offers.seconds)
        ready = await run_in_threadpool(answering.ready, who, asked)
        if ready.stored is not None:
            return await run_in_threadpool(answering.stored, ready)
        try:
            async with drawing:
                # meanwhile others may have asked the same, or spent what was left: then no table need be opened
                ready = await run_in_threadpool(answering.ready, who, asked)
                if ready.stored is None:
                    return await run_in_threadpool(answering.drawn, ready, ticks)
            await sleep(ticks.left())
            return await run_in_threadpool(answering.stored, ready)
        except Exception:
            await sleep(ticks.left())
            raise

    if answering.offers.perturb:
        _for_brokers(app, Brokering(answering))
    app.add_exception_handler(LeewardError, _refused)
    app.add_exception_handler(Exception, _defect)
    app.add_exception_handler(HTTPException, _missing)
    app.add_exception_handler(RequestValidationError, _malformed)
    return app


def _for_brokers(app: FastAPI, brokering: Brokering) -> None:
    """Add the addresses of trusted brokers; a service that offers them nothing has none."""

    @app.get("/perturb", summary="How positions are perturbed that you may send, as a trusted broker")
    def perturbs(who: Who) -> ForBrokers:
        return brokering.offered(who)

    @app.post(
        "/perturb/{name}",
        summary="Reports of true positions, each charged to its id; for trusted brokers only",
        description=FOR_BROKERS,
    )
    def perturb(who: Who, name: str, sent: Positions) -> Reports:
        return brokering.reports(who, name, sent.positions)


def guarded(answering: Answering, hosts: Iterable[str], tell: Callable[[str], object]) -> ASGIApp:
    """Return the service as an ASGI application.

    Args:
        answering: answers questions.
        hosts: the names and ports that it is at.
        tell: called with what fails unforeseen.
    """
    return Guard(routes(answering), answering.offers.tokens, hosts, refusal, tell)


def refusal(status: int, message: str, code: str = "") -> Response:
    """Return the answer that says why there is none."""
    said = Refused(code=code or _CODES.get(status, "unavailable"), message=message).model_dump()
    return JSONResponse(said, status, headers={"WWW-Authenticate": "Bearer"} if status == 401 else None)


def _who(request: Request) -> Issued:
    found: Issued = request.state.analyst
    return found


Who = Annotated[Issued, Depends(_who)]


async def _refused(_: Request, error: Any) -> Response:
    if isinstance(error, NoTokenError):
        return refusal(401, Guard.NO_TOKEN)
    status = {NoDataSetError: 404, UnansweredError: 503, UnavailableError: 503}.get(type(error), 422)
    return refusal(status, str(error), code_of(error))


async def _defect(_: Request, __: Exception) -> Response:
    return refusal(500, Guard.DEFECT)  # the guard tells of it


async def _missing(request: Request, error: Any) -> Response:
    status = getattr(error, "status_code", 404)
    said = {
        404: "There is no such address. See GET /openapi.json.",
        405: "This address answers another method. See GET /openapi.json.",
    }
    if status in said:
        return refusal(status, said[status])
    return await _malformed(request, error)  # it is JSON that cannot be read


async def _malformed(request: Request, _: Any) -> Response:
    return refusal(422, _POSITIONS if request.url.path.startswith("/perturb/") else _FORM, "request")


_FORM: Final = (
    'A question is a JSON object with "data_set", a text; "spec", an object; and, where it is meant, "accept_useless", true'
    " or false. It has no other keys."
)

_POSITIONS: Final = (
    f'What is sent is a JSON object with "positions", a list of 1 to {MOST_POSITIONS} objects: each with "id", a text or a'
    ' whole number; "latitude" and "longitude", numbers of degrees; and, where the curator asks for it, "time", a text. It'
    " has no other keys."
)
