# SPDX-License-Identifier: Apache-2.0
"""A port of this machine, and an application at it until its process is ended."""

from __future__ import annotations

import gc
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any, Final

from leeward._optional import optional
from leeward.errors import InputError

LOOPBACK = "127.0.0.1"
"""The only address that is listened at: nobody reaches it from another machine."""

_WAITING: Final = 128
"""So many connections wait until the application is there."""


@contextmanager
def listening(port: int) -> Iterator[tuple[socket.socket, str]]:
    """Listen at a port; yields the socket, and the host and port that it is at.

    Args:
        port: the port on this machine; 0 for any that is free.

    Raises:
        InputError: it is taken.
    """
    with closing(socket.socket()) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((LOOPBACK, port))
            # before its address is told: whoever opens it at once waits; and until then another program may bind it too
            listener.listen(_WAITING)
        except OSError as error:
            raise InputError(
                f"The port {port}", f"it cannot be used: {error.strerror}", "Name another with --port"
            ) from None
        yield listener, f"{LOOPBACK}:{listener.getsockname()[1]}"


_CYCLES: Final = (2_000, 10, 10)
"""When cycles of objects are looked for: a command does so rarely, because it ends soon, and a server does not."""


_PATIENCE: Final = 20
"""So many seconds may requests that were begun take to their end, once an end is asked for. One of which the rest is never
sent, or whose answer is never read, would else keep the process for ever; what is at work in a thread ends as it would."""


def run(app: Any, listener: socket.socket, what: str) -> None:
    """Answer requests until the process is interrupted. Nothing of a request is logged.

    What a terminal sends when it is closed ends it as SIGTERM does, unless the program means something else by it.

    Args:
        app: an ASGI application.
        listener: from `listening`.
        what: what it is, as the first words of a message.

    Raises:
        InputError: the extra ``desk`` is not installed.
        KeyboardInterrupt: how it is meant to end.
    """
    uvicorn = optional("uvicorn", what)
    config = uvicorn.Config(
        app,
        log_level="critical",  # what fails is told by the guard; uvicorn would print tracebacks, of what is cut short too
        access_log=False,
        server_header=False,
        lifespan="off",
        ws="none",
        proxy_headers=False,
        timeout_graceful_shutdown=_PATIENCE,
    )
    with held_back():
        config.load()
    before = gc.get_threshold()
    gc.freeze()  # what was loaded stays
    gc.set_threshold(*_CYCLES)
    try:
        server = uvicorn.Server(config)
        with _hanging_up_ends(server):
            server.run(sockets=[listener])
    finally:
        gc.unfreeze()  # or DuckDB tells the terminal, line by line, what was never let go
        gc.set_threshold(*before)


@contextmanager
def held_back() -> Iterator[None]:
    """Let what asks for an end come behind the block: a library that meets it while it is made ready may swallow it."""
    is_main = threading.current_thread() is threading.main_thread()
    ending = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if is_main else ()
    before = {each: does for each in ending if callable(does := signal.getsignal(each))}
    came = list[int]()
    for each in before:
        signal.signal(each, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for each, does in before.items():
            signal.signal(each, does)
    if came:
        signal.raise_signal(came[0])


@contextmanager
def _hanging_up_ends(server: Any) -> Iterator[None]:
    """Let SIGHUP end a server as SIGTERM does, where both are meant alike; ignored, as under nohup, it stays ignored.

    An exception, as it is else, leaves the loop at once: answers are cut short, and threads left that keep the process.
    """
    meant = signal.getsignal(signal.SIGHUP)
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or meant == signal.SIG_IGN or meant != signal.getsignal(signal.SIGTERM):
        yield
        return
    signal.signal(signal.SIGHUP, lambda _, frame: server.handle_exit(signal.SIGTERM, frame))
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, meant)
