# SPDX-License-Identifier: Apache-2.0
"""The application of the desk: its pages, behind its guard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from leeward._web._guard import SILENT
from leeward.desk import (
    _check,
    _compare,
    _home,
    _places,
    _promise,
    _question,
    _release,
    _releases,
    _running,
    _strength,
    _table,
    _visits,
    _window,
)
from leeward.desk._desk import Desk
from leeward.desk._guard import Entrance, Guard
from leeward.desk._views import refusal, static
from leeward.errors import LeewardError


def pages(desk: Desk, secret: str) -> FastAPI:
    """Return the pages, without a guard around them."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False, telemetry=SILENT)
    app.state.secret = secret
    held = static()

    @app.get("/assets/{name}")
    def assets(name: str) -> Response:
        if name not in held:
            return refusal(404, _NOTHING)
        text, kind = held[name]
        return Response(text, media_type=kind)

    steps = (_visits, _places, _table, _question, _window, _promise, _strength, _check, _release)
    for part in (_home, *steps, _compare, _running, _releases):
        app.include_router(part.routes(desk))
    app.add_exception_handler(LeewardError, _refused)
    app.add_exception_handler(Exception, _defect)
    app.add_exception_handler(HTTPException, _missing)
    app.add_exception_handler(RequestValidationError, _missing)
    return app


def guarded(desk: Desk, entrance: Entrance, authority: str, tell: Callable[[str], object]) -> ASGIApp:
    """Return the desk as an ASGI application.

    Args:
        desk: what its pages show.
        entrance: who is let in.
        authority: the host and the port that it is at.
        tell: called with what fails unforeseen.
    """
    return Guard(pages(desk, entrance.form), entrance, authority, refusal, tell)


async def _refused(_: Request, error: Any) -> Response:
    return refusal(422, " ".join([str(error), *getattr(error, "__notes__", ())]))


async def _defect(_: Request, __: Exception) -> Response:
    return refusal(500, Guard.DEFECT)  # the guard tells of it


async def _missing(_: Request, error: Any) -> Response:
    return refusal(getattr(error, "status_code", 404), _NOTHING)


_NOTHING = "There is no such page. What the desk has is linked from its first page."
