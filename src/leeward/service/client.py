# SPDX-License-Identifier: Apache-2.0
"""A client of the service `leeward serve`, in one file that needs nothing but Python 3.11 or later.

Copy it, or import it as ``leeward.service.client``::

    client = Client("https://data.example.org", token)
    client.data_sets()
    client.plan("town", "question.toml")["price"]
    client.release("town", "question.toml")["answers"]

It is made of `http.client`: a redirection is not followed and no proxy of the environment is used, so the token goes to the
address that was given, and nowhere else.
"""

from __future__ import annotations

import http.client
import json
import os
import ssl
import tomllib
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any
from urllib.parse import quote, urlsplit

CURATORS = ("data", "places", "budget")
"""The sections of a spec that are the curator's, and are not sent; the service refuses what else is no question's."""

_HERE = ("127.0.0.1", "localhost", "::1")


class RefusedError(Exception):
    """The service gave no answer.

    Args:
        status: of the answer.
        code: the kind of refusal.
        message: what was given, why it is refused, and what to do instead.
    """

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message


class Client:
    """Asks a service on behalf of one analyst.

    Args:
        url: the address of the service; ``https``, or ``http`` on this machine.
        token: what the curator gave you.
        timeout: seconds to wait for an answer.

    Raises:
        ValueError: the address is none, or would send the token unprotected; or the token is none.
    """

    def __init__(self, url: str, token: str, *, timeout: float = 600.0) -> None:
        token = token.strip()  # the end of a line of the file that it was read from
        if not token or not token.isascii() or not token.isprintable():
            # said here: what Python's own client says of a header that cannot be sent repeats the header
            raise ValueError("The token is one line of letters and digits: give what `leeward token create` printed")
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.path not in ("", "/"):
            raise ValueError("The address of a service is https://HOST, without a path")
        if parts.scheme == "http" and parts.hostname not in _HERE:
            raise ValueError("Without https the token could be read on its way: give https://HOST")
        self._parts, self._timeout = parts, timeout
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}

    def __repr__(self) -> str:
        return f"Client({self._parts.scheme}://{self._parts.hostname}, …)"

    def data_sets(self) -> list[dict[str, Any]]:
        """Return what you may ask, and spend."""
        found: list[dict[str, Any]] = self._send("GET", "/data-sets")["data_sets"]
        return found

    def plan(
        self, data_set: str, spec: str | os.PathLike[str] | Mapping[str, Any], *, accept_useless: bool = False
    ) -> dict[str, Any]:
        """Return the price and the privacy statement of a question. It is free.

        Args:
            data_set: the name of the data set.
            spec: a file of TOML, or sections as dicts; see `CURATORS`.
            accept_useless: whether an answer is meant that would say practically nothing.

        Raises:
            RefusedError: it is refused.
        """
        return self._send("POST", "/plan", _asked(data_set, spec, accept_useless))

    def release(
        self, data_set: str, spec: str | os.PathLike[str] | Mapping[str, Any], *, accept_useless: bool = False
    ) -> dict[str, Any]:
        """Return the answer to a question. It is charged once; asked again, the answer is the same and free.

        Args:
            data_set: see `plan`.
            spec: see `plan`.
            accept_useless: see `plan`.

        Raises:
            RefusedError: it is refused.
        """
        return self._send("POST", "/release", _asked(data_set, spec, accept_useless))

    def releases(self) -> list[dict[str, Any]]:
        """Return what was charged to you, the oldest first."""
        found: list[dict[str, Any]] = self._send("GET", "/releases")["releases"]
        return found

    def perturbs(self) -> dict[str, Any]:
        """Return how positions are perturbed that you may send, as a trusted broker."""
        return self._send("GET", "/perturb")

    def perturb(self, name: str, positions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any] | None]:
        """Return reports of true positions; each is charged to its id. For trusted brokers only.

        Args:
            name: of a way to perturb them; see `perturbs`.
            positions: each with ``id``, ``latitude``, ``longitude`` and, where it is asked for, ``time``; at most 64.

        Returns:
            One report a position, with ``latitude`` and ``longitude``; None where the budget of an id is spent.

        Raises:
            RefusedError: it is refused. Do not ask again of an answer that was lost: it is charged, and would be twice.
        """
        sent = {"positions": [dict(each) for each in positions]}
        found: list[dict[str, Any] | None] = self._send("POST", f"/perturb/{quote(name, safe='')}", sent)["reports"]
        return found

    def _send(self, method: str, path: str, asked: Mapping[str, Any] | None = None) -> dict[str, Any]:
        host, port = str(self._parts.hostname), self._parts.port
        connection = (
            http.client.HTTPSConnection(host, port, timeout=self._timeout, context=ssl.create_default_context())
            if self._parts.scheme == "https"
            else http.client.HTTPConnection(host, port, timeout=self._timeout)
        )
        body = None if asked is None else json.dumps(asked, default=_written).encode()
        headers = self._headers | ({} if body is None else {"Content-Type": "application/json"})
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            held = answer.read()
        finally:
            connection.close()
        try:
            found = json.loads(held)
        except ValueError:
            found = None
        if answer.status == 200 and isinstance(found, dict):
            return found
        said = found if isinstance(found, dict) else {}
        raise RefusedError(
            answer.status,
            str(said.get("code", "")),
            str(said.get("message", f"{path} was answered with {answer.status}, by something else than the service")),
        )


def _asked(data_set: str, spec: str | os.PathLike[str] | Mapping[str, Any], accept_useless: bool) -> dict[str, Any]:
    if isinstance(spec, Mapping):
        given = spec
    else:
        with open(spec, "rb") as file:
            given = tomllib.load(file)
    if isinstance(data := given.get("data"), Mapping) and "keep" in data:
        raise ValueError("A question filters rows by keep at its top, not in [data], which is not sent: move it there")
    sections = {section: keys for section, keys in given.items() if section not in CURATORS}
    return {"data_set": data_set, "spec": sections, "accept_useless": accept_useless}


def _written(value: Any) -> str:
    """Write a time of TOML as the text that it is in JSON."""
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"A {type(value).__name__} cannot be sent")
