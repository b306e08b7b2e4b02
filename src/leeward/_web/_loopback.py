# SPDX-License-Identifier: Apache-2.0
"""A port of this machine, and an application at it until its process is ended."""

from __future__ import annotations

import gc
import socket
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


def run(app: Any, listener: socket.socket, what: str) -> None:
    """Answer requests until the process is interrupted. Nothing of a request is logged.

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
        log_level="error",
        access_log=False,
        server_header=False,
        lifespan="off",
        ws="none",
        proxy_headers=False,
    )
    before = gc.get_threshold()
    gc.freeze()  # what was loaded stays
    gc.set_threshold(*_CYCLES)
    try:
        uvicorn.Server(config).run(sockets=[listener])
    finally:
        gc.unfreeze()  # or DuckDB tells the terminal, line by line, what was never let go
        gc.set_threshold(*before)
