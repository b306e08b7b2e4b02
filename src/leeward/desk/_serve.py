# SPDX-License-Identifier: Apache-2.0
"""The desk on a port of this machine, until its process is ended."""

from __future__ import annotations

import os
from collections.abc import Callable

from leeward._optional import optional
from leeward._web._loopback import held_back, listening, run
from leeward._web._told import if_heard


def serve(folder: str | os.PathLike[str], *, port: int = 0, tell: Callable[[str], object] = print) -> None:
    """Serve the desk over the files of a folder, until the process is interrupted.

    Args:
        folder: the folder; no file outside it is read.
        port: the port on this machine; 0 for any that is free.
        tell: called with the address, which lets in one browser, once; and with what fails unforeseen.

    Raises:
        InputError: the folder is not one, the port is taken, or the extra ``desk`` is not installed.
    """
    optional("fastapi", "The desk")
    optional("uvicorn", "The desk")
    from leeward.desk._app import guarded
    from leeward.desk._desk import Desk
    from leeward.desk._drafts import Drafts
    from leeward.desk._folder import Folder
    from leeward.desk._guard import Entrance
    from leeward.desk._jobs import Jobs

    files = Folder.of(folder)
    with listening(port) as (listener, authority):
        entrance, desk = Entrance(), Desk(files, Drafts(files), Jobs(if_heard(tell)))
        try:
            with held_back():
                app = guarded(desk, entrance, authority, if_heard(tell))
            tell(f"The desk over {files.root} is open, for one browser on this machine. Open this address:")
            tell(f"\n    http://{authority}/enter?token={entrance.token}\n")
            tell("The address works once. End the desk with Ctrl-C: drafts and releases stay.")
            run(app, listener, "The desk")
        except KeyboardInterrupt:  # how it is meant to end
            tell("The desk is closed. What it was at work on is ended; drafts and releases stay.")
        finally:
            desk.jobs.close()
