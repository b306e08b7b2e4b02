# SPDX-License-Identifier: Apache-2.0
"""Who gets an answer of the service: whoever sends the token of an analyst, to a name that the service has.

* **The host.** It is the address of the service, or a name that the curator lists because a proxy passes it on. A page
  whose name was pointed at this machine sends its own.
* **The token.** It stands in the header ``Authorization``, which no browser sends of its own accord: so no page of
  somebody else's can have anything sent in the name of an analyst. No token, a wrong one and a revoked one have one
  answer, and the token is asked for before anything else is said, also of which addresses there are.
* **The body.** It is JSON, and short.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Final

from fastapi import Response
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope

from leeward._web import _guard as web
from leeward._web._guard import body
from leeward.errors import LeewardError
from leeward.service._tokens import Issued, Tokens

MOST: Final = 1 << 18
"""Bytes of a question: more than a list of many values needs."""

JSON: Final = "application/json"


class Guard(web.Guard):
    """An ASGI application around that of the service.

    Args:
        app: the application, whose requests have ``state.analyst``: whose token was sent.
        tokens: who may ask.
        hosts: the names and ports that the service is at.
        refuse: makes the answer to what is refused.
        tell: called with what fails unforeseen.
    """

    NAME = "service"
    HEADERS = web.HEADERS | {"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'"}
    DEFECT = (
        "Something went wrong that nobody foresaw. It is a defect of Leeward's: please tell the curator. GET /releases lists"
        " what was charged."
    )

    NO_TOKEN: Final = "Send the token that the curator gave you: Authorization: Bearer TOKEN."
    """What is answered where none is sent, or none that works."""

    def __init__(
        self, app: ASGIApp, tokens: Tokens, hosts: Iterable[str], refuse: web.Refuse, tell: Callable[[str], object]
    ) -> None:
        super().__init__(app, refuse, tell)
        self._tokens, self._hosts = tokens, frozenset(host.lower() for host in hosts)

    def _answer(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        named = [host.lower() for host in headers.getlist("host")]
        if len(named) != 1 or named[0] not in self._hosts:
            return self._refuse(400, "This is not an address of the service.")
        if scope["method"] not in ("GET", "POST"):
            return self._refuse(405, "The service answers GET and POST, and nothing else.")
        try:
            analyst = self._bearer(headers)
        except LeewardError as error:
            self._tell(f"leeward: nobody can be let in: {error}")
            return self._refuse(503, "The service cannot answer now. Try later, or ask the curator.")
        if analyst is None:
            return self._refuse(401, self.NO_TOKEN)
        scope.setdefault("state", {})["analyst"] = analyst
        return None

    def _bearer(self, headers: Headers) -> Issued | None:
        sent = headers.getlist("authorization")
        scheme, _, token = sent[0].partition(" ") if len(sent) == 1 else ("", "", "")
        return self._tokens.bearer(token.strip()) if scheme.lower() == "bearer" else None

    async def _read(self, scope: Scope, receive: Receive) -> Response | Receive:
        if scope["method"] != "POST":
            return receive
        if Headers(scope=scope).get("content-type", "").partition(";")[0].strip().lower() != JSON:
            return self._refuse(415, f"A question is sent as {JSON}.")
        if (sent := await body(receive, MOST)) is None:
            return self._refuse(413, f"A question has {MOST:,} bytes at most.")
        if _is_ambiguous(sent):
            return self._refuse(422, "A key stands twice in one object of this question, and it may hold two things.")
        held = [sent]

        async def again() -> dict[str, Any]:
            return {"type": "http.request", "body": held.pop(), "more_body": False} if held else dict(await receive())

        return again


def _is_ambiguous(sent: bytes) -> bool:
    """Whether a key stands twice in one object: some readers take the first then, others the last."""
    found = False

    def noted(pairs: list[tuple[str, Any]]) -> None:
        nonlocal found
        found = found or len(dict(pairs)) < len(pairs)

    with suppress(ValueError, RecursionError):  # what is no JSON is refused by whoever reads it
        json.loads(sent, object_pairs_hook=noted)
    return found
