# SPDX-License-Identifier: Apache-2.0
"""``leeward desk``: the path from a table to a release on a page of the curator's own machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from leeward.cli._output import say


def desk(
    folder: Annotated[
        Path, typer.Argument(help="The folder of your tables; nothing outside it is read.", metavar="[FOLDER]")
    ] = Path("."),
    port: Annotated[
        int, typer.Option("--port", help="The port on this machine; by default one that is free.", min=0, max=65535)
    ] = 0,
) -> None:
    """Open a page on this machine that leads from a table of visits to a release, without a terminal.

    Prints an address that lets in one browser, once. Only this machine can reach it, and it sends nothing anywhere. Drafts
    and releases are kept in FOLDER/leeward-desk. Ends with Ctrl-C.

    **Examples**

    * `leeward desk`
    * `leeward desk city/ --port 8400`
    """
    from leeward.desk import serve

    serve(folder, port=port, tell=say)
