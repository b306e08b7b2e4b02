# SPDX-License-Identifier: Apache-2.0
"""What stands before an application: each request is let through or refused, and each answer has the same headers."""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any, ClassVar, Final

from fastapi import Response
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Receive, Scope, Send

HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""What each answer carries: it is kept by nobody, framed by nobody, and taken for nothing but what it is."""

SILENT: Final[Any] = dict.fromkeys(("tracing", "metrics", "logs", "operation_spans", "auto_configure"), False)
"""Else FastAPI hands addresses, and exceptions with what they hold, to whatever collector the environment names."""

Refuse = Callable[[int, str], Response]
"""Makes the answer to what is refused, of a status and a message."""


def same(given: str, secret: str) -> bool:
    """Whether a text is the secret, in a time that does not tell how much of it is."""
    return secrets.compare_digest(given.encode(), secret.encode())


async def body(receive: Receive, most: int) -> bytes | None:
    """Return the body of a request; None of one that is longer than so many bytes, or that broke off."""
    held, more = b"", True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            return None
        held, more = held + message.get("body", b""), message.get("more_body", False)
        if len(held) > most:
            return None
    return held


class Guard(ABC):
    """An ASGI application around another one.

    Args:
        app: the application.
        refuse: makes the answer to what is refused.
        tell: called with what fails unforeseen.
    """

    NAME: ClassVar[str]
    """What it guards, in words."""
    HEADERS: ClassVar[Mapping[str, str]]
    """What each answer carries, where it does not say otherwise itself."""
    DEFECT: ClassVar[str]
    """What is answered where something fails unforeseen."""

    def __init__(self, app: ASGIApp, refuse: Refuse, tell: Callable[[str], object]) -> None:
        self._app, self._refuse, self._tell = app, refuse, tell

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return  # a connection that is not one of requests and answers is closed
        begun = False

        async def sent(message: MutableMapping[str, Any]) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                given = MutableHeaders(scope=message)
                for name, value in self.HEADERS.items():
                    given.setdefault(name, value)
            await send(message)

        try:
            answer = self._answer(scope)
            read = receive if answer is not None else await self._read(scope, receive)
            if isinstance(read, Response):
                answer, read = read, receive
            await (answer or self._app)(scope, read, sent)
        except Exception as error:
            # the traceback may hold rows: it goes nowhere
            self._tell(f"leeward: the {self.NAME} met an unexpected {type(error).__name__}; please report it.")
            if not begun:
                await self._refuse(500, self.DEFECT)(scope, receive, sent)

    @abstractmethod
    def _answer(self, scope: Scope) -> Response | None:
        """Return the answer to what does not come so far as the application, by its headers."""

    @abstractmethod
    async def _read(self, scope: Scope, receive: Receive) -> Response | Receive:
        """Read what was sent; return the answer to what does not come so far, or where the application reads from."""
