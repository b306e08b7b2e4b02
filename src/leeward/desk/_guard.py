# SPDX-License-Identifier: Apache-2.0
"""Who gets a page of the desk: one browser, by pages of the desk only.

Any page that the curator's browser shows can send requests to this machine, and any program on it can connect. So each
request passes these, in this order, before any of our code sees it:

* **The host.** It names the loopback address and the port of the desk. A page whose own name was pointed at this machine
  (DNS rebinding) sends its own name. The port is compared too, which Starlette's TrustedHostMiddleware does not.
* **The site.** What a browser says to be a part of a page of somebody else's (``Sec-Fetch-Site``) gets nothing.
* **The cookie.** A token in the first address, which works once, is exchanged for it; no script can read it, and no other
  site has it sent (``HttpOnly``, ``SameSite=Strict``). Its name has the port: the ports of one host share their cookies.
* **The origin and the form's own secret.** A page of another port of this machine is of the same *site*, so that the cookie
  is sent with what it posts; its origin is another, and it cannot read the secret that each form of ours carries.

The answers are kept by nobody, framed by nobody, and load and run nothing that is not of the desk (see `HEADERS`).
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from typing import Final
from urllib.parse import parse_qs

from fastapi import Response
from starlette.datastructures import Headers, QueryParams
from starlette.types import ASGIApp, Receive, Scope

from leeward._web import _guard as web
from leeward._web._guard import body, same

HEADERS: Final = web.HEADERS | {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "Referrer-Policy": "same-origin",  # the origin of our own forms is sent; nothing is told to other sites
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
"""What each answer carries, where it does not say otherwise itself."""

MOST: Final = 1 << 16
"""Bytes of a form: more than any of ours has."""

FORM: Final = "application/x-www-form-urlencoded"


class Entrance:
    """What lets a browser in: a token that works once, and the secrets that it is exchanged for.

    Attributes:
        token: stands in the address that is printed.
        cookie: what the browser that was let in sends from then on.
        form: what each form of a page of ours sends.
    """

    def __init__(self) -> None:
        self.token, self.cookie, self.form = (secrets.token_urlsafe(32) for _ in range(3))
        self._is_open, self._lock = True, threading.Lock()

    def opens_with(self, token: str) -> bool:
        """Return whether a token lets its bearer in; it does once."""
        with self._lock:
            opens = self._is_open and same(token, self.token)
            self._is_open = self._is_open and not opens
        return opens


class Guard(web.Guard):
    """An ASGI application around that of the desk.

    Args:
        app: the application, whose requests have ``state.form``: the fields of a form that was sent.
        entrance: who is let in.
        authority: the host and the port that the desk is at.
        refuse: makes the answer to what is refused.
        tell: called with what fails unforeseen.
    """

    NAME, HEADERS = "desk", HEADERS
    DEFECT = (
        "Something went wrong that nobody foresaw. It is a defect of Leeward's: please report what you did. What was charged"
        " stands in the history of the budget."
    )

    def __init__(
        self,
        app: ASGIApp,
        entrance: Entrance,
        authority: str,
        refuse: web.Refuse,
        tell: Callable[[str], object],
    ) -> None:
        super().__init__(app, refuse, tell)
        self._entrance, self._authority = entrance, authority
        self._name = f"leeward-desk-{authority.rpartition(':')[2]}"

    def _answer(self, scope: Scope) -> Response | None:
        """Return the answer to what does not come so far as the desk."""
        headers, method = Headers(scope=scope), scope["method"]
        if headers.getlist("host") != [self._authority]:
            return self._refuse(400, f"This address is not the desk's. Open http://{self._authority}/ instead.")
        if method not in ("GET", "HEAD", "POST"):
            return self._refuse(405, "The desk shows pages and takes forms; it does nothing else.")
        is_part = headers.get("sec-fetch-mode", "navigate") != "navigate" or headers.get("sec-fetch-dest") in _FRAMES
        if is_part and headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return self._refuse(403, "A page of another site asked for this. The desk answers its own pages only.")
        if scope["path"] == "/enter" and method == "GET":
            return self._enter(QueryParams(scope["query_string"]).get("token", ""))
        if not same(_cookie(headers, self._name), self._entrance.cookie):
            return self._refuse(403, _OUTSIDE)
        scope.setdefault("state", {})["form"] = {}
        if method == "POST" and headers.getlist("origin") != [f"http://{self._authority}"]:
            return self._refuse(403, "This form was sent by a page that is not of the desk. Nothing was done.")
        return None

    def _enter(self, token: str) -> Response:
        if not self._entrance.opens_with(token):
            return self._refuse(403, _USED)
        answer = Response(status_code=303, headers={"Location": "/"})
        answer.set_cookie(self._name, self._entrance.cookie, httponly=True, samesite="strict", path="/")
        return answer

    async def _read(self, scope: Scope, receive: Receive) -> Response | Receive:
        """Read a form that was sent, for the desk; return the answer to one that does not come so far."""
        if scope["method"] != "POST":
            return receive
        if Headers(scope=scope).get("content-type", "").partition(";")[0].strip() != FORM:
            return self._refuse(415, "The desk takes the forms of its own pages. Nothing was done.")
        if (sent := await body(receive, MOST)) is None:
            return self._refuse(413, "This form is longer than any of the desk's. Nothing was done.")
        try:
            fields = parse_qs(sent.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=200)
        except ValueError:
            return self._refuse(400, "This form cannot be read. Nothing was done.")
        if not same(fields.pop("secret", [""])[-1], self._entrance.form):
            return self._refuse(403, "This form is not one that the desk gave out. Go back, reload, and send it again.")
        scope["state"]["form"] = {name: values[-1].replace("\r\n", "\n") for name, values in fields.items()}
        return receive


def _cookie(headers: Headers, name: str) -> str:
    """Return the value of a cookie; none where another has its name too, as one that a page of another port set."""
    parts = [part.strip().partition("=") for line in headers.getlist("cookie") for part in line.split(";")]
    found = [value for key, _, value in parts if key == name]
    return found[0] if len(found) == 1 else ""


_FRAMES = ("iframe", "frame", "embed", "object", "fencedframe")
_OUTSIDE = (
    "This browser was not let in. The desk shows rows of a private table, so it opens for one browser only: the one in"
    " which the address was opened that it printed when it was started. End it with Ctrl-C and start it again for another."
)
_USED = (
    "This address works once, and was used already, or it is not the one that was printed. If it was not you who used it,"
    " end the desk with Ctrl-C. Start it again for a new address."
)
