# SPDX-License-Identifier: Apache-2.0
"""Spark Connect: a Spark that runs elsewhere, and is spoken to through a client without Java.

A spec says where it is, ``sc://host:port``, and no more: who asks, and a token, are in the variable ``SPARK_REMOTE``, which
is Spark's own, or in ``SPARK_CONNECT_AUTHENTICATE_TOKEN``. What ``SPARK_REMOTE`` says is used for the place that it names
and for no other, so that no token goes to a server that it was not made for. No message shows more than host and port.

A session of ours has a channel of its own, beside that of the caller, and is closed when it is done with.
"""

from __future__ import annotations

import copy
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

from leeward._optional import NotInstalledError, optional
from leeward.errors import EngineError, SpecError

PORT: Final = 15002
"""Of a server of Spark Connect, where nothing else is said."""

VARIABLE: Final = "SPARK_REMOTE"

_VERSION: Final = "4.0."
"""Of the Sparks that are asked: what a query means in another was not tried."""

_WHERE: Final = re.compile(r"(?i)sc://(?P<host>[a-z0-9.-]+)(?::(?P<port>\d{1,5}))?(?:/?(?P<rest>;.*)?|/)")
_SSL: Final = re.compile(r"(?i);use_ssl=(true|false)")
_RETRIES: Final = {"max_retries": 6, "max_backoff": 4000}
"""Of a call that did not arrive: for some twelve seconds. Spark's own are ten minutes, after which nobody waits any more."""


def is_remote(session: Any) -> bool:
    """Whether a session is one of Spark Connect."""
    return type(session).__module__.startswith("pyspark.sql.connect.")


def shown_remote(remote: str) -> str:
    """Return what may be shown of an address: host and port."""
    host, port, _ = _parts(remote) or ("?", PORT, "")
    return f"sc://{host}:{port}"


def check_remote(remote: str) -> None:
    """Refuse what is no address of Spark Connect, or says more than where it is.

    Raises:
        SpecError: it is none; the message does not repeat it.
    """
    found = _parts(remote)
    if found is None or (found[2] and _SSL.fullmatch(found[2]) is None):
        raise SpecError(
            "The setting remote of spark",
            "it is no address of Spark Connect, or holds more than host, port and use_ssl; it is not repeated here",
            'Write remote = "sc://host:15002", or "sc://host:15002/;use_ssl=true". Users and tokens stand in the variable'
            f" {VARIABLE}, which Spark reads: sc://host:15002/;token=…",
        )


@contextmanager
def session_at(remote: str) -> Iterator[Any]:
    """Open a session of the Spark at an address, checked before.

    Raises:
        EngineError: it is not reached, lets nobody in, or is not Spark 4.0; or the environment names another.
        NotInstalledError: the client is not installed.
    """
    with _closing(_imported(), _address(remote), shown_remote(remote)) as made:
        yield made


@contextmanager
def session_beside(theirs: Any) -> Iterator[Any]:
    """Open a session of ours beside one of a caller: by the same way, and another.

    Raises:
        EngineError: it is not reached any more, or is not Spark 4.0.
    """
    builder = copy.copy(theirs.client._builder)
    builder._params = {key: value for key, value in builder._params.items() if key != builder.PARAM_SESSION_ID}
    with _closing(_imported(), builder, "Spark Connect", theirs.client._user_id) as made:
        if made.session_id == theirs.session_id:
            raise EngineError(
                "A session of Spark Connect whose channel names its session",
                "ours would be yours, and its settings too",
                "Leave the session out of what makes the channel",
            )
        yield made


@contextmanager
def active(session: Any) -> Iterator[None]:
    """Make a session of Spark Connect the active one of this thread: what is checkpointed becomes the active session's."""
    held = type(session)._active_session
    before = getattr(held, "session", None)
    held.session = session
    try:
        yield
    finally:
        held.session = before


@contextmanager
def _closing(sql: Any, connection: Any, shown: str, user: str | None = None) -> Iterator[Any]:
    errors, retries = optional("pyspark.errors", shown), optional("pyspark.sql.connect.client.retries", shown)
    made = sql.SparkSession(connection, user)
    # that would end the threads that all clients of this process share, under the queries of a caller too; and a session
    # calls it once more when it is forgotten, in whichever thread that is, also in one of those, where it can never end
    made.client.close = _nothing
    try:
        made.client.set_retry_policies([retries.DefaultPolicy(**_RETRIES)])
        try:
            version = made.version
        except errors.PySparkException:
            raise EngineError(
                f"The Spark at {shown}",
                "nobody answers there, or it lets nobody in without a token, or asks for another",
                f"Check the address, whether the server runs, and the token in the variable {VARIABLE}. Nothing was read",
            ) from None
        try:
            if not version.startswith(_VERSION):
                raise EngineError(
                    f"The Spark at {shown}, version {version}",
                    "what a query means was tried in Spark 4.0 alone",
                    "Use a server of Spark 4.0. Nothing was read",
                )
            yield made
        finally:  # not stop(), which would end a server that the caller started on this machine
            hurry(made)
            with suppress(errors.PySparkException):
                made.client.release_session()
    finally:
        made.client._channel.close()
        made.client._closed = True


def hurry(session: Any) -> None:
    """Have a session that is about to end wait for nobody: what is left to say is said once more, and then no more."""
    retries = optional("pyspark.sql.connect.client.retries", "Spark Connect")
    session.client.set_retry_policies([retries.DefaultPolicy(max_retries=1)])


def _nothing() -> None:
    """What is done in place of closing a client: nothing."""


def _imported() -> Any:
    try:
        return optional("pyspark.sql.connect.session", 'engine = "spark" with Spark Connect', "spark-connect")
    except ImportError:  # Spark is there, and its client lacks a library: pyspark says which in a class of its own
        raise NotInstalledError(
            'engine = "spark" with Spark Connect',
            "its client needs libraries that are not installed",
            'Install all that is needed: pip install "leeward[spark]"; or "leeward[spark-connect]", without Java',
        ) from None


def _address(remote: str) -> str:
    """Return an address with what the environment says of it."""
    found, said = _parts(remote), os.environ.get(VARIABLE, "")
    assert found is not None
    host, port, ssl = found
    if not said:
        return f"sc://{host}:{port}/{ssl}"
    known = _parts(said)
    if known is None or known[:2] != (host, port):
        raise EngineError(
            f"The variable {VARIABLE} beside a spec with the Spark at sc://{host}:{port}",
            "it names another Spark than the spec, and what it says of users and tokens is for that one",
            "Name the same host and port in both, or take the variable away. Nothing was read",
        )
    rest = "".join(f";{part}" for part in known[2].split(";") if part and not part.lower().startswith("session_id="))
    if ssl:
        rest = re.sub(r"(?i);use_ssl=[^;]*", "", rest) + ssl
    return f"sc://{host}:{port}/{rest}"


def _parts(remote: str) -> tuple[str, int, str] | None:
    """Return host, port and parameters of an address; None if it is none."""
    found = _WHERE.fullmatch(remote)
    if found is None or not 0 < (port := int(found["port"] or PORT)) < 2**16:
        return None
    return found["host"].lower(), port, found["rest"] or ""
