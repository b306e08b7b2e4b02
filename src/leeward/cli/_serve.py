# SPDX-License-Identifier: Apache-2.0
"""``leeward serve``: several analysts ask about one curator's data, within what the curator signed off."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from leeward.cli._opening import Yes, may_open, opening
from leeward.cli._output import say
from leeward.errors import LedgerError


def serve(
    configuration: Annotated[
        Path, typer.Argument(help="What is offered, and to whom: a TOML file.", metavar="SERVICE.toml")
    ],
    port: Annotated[
        int, typer.Option("--port", help="The port on this machine; 0 for any that is free.", min=0, max=65535)
    ] = 8401,
    yes: Yes = False,
) -> None:
    """Answer the questions of analysts over HTTP, on this machine, behind a proxy of yours that speaks TLS.

    What may be asked, and how much it may cost, stands in the configuration; who may ask is said by `leeward token`. Opens
    each table once before it begins. Ends with Ctrl-C. Under [perturb.NAME] trusted brokers, and they only, send true
    positions to be perturbed.

    **Examples**

    * `leeward serve service.toml`
    * `leeward serve service.toml --port 8402 --yes`
    """
    from leeward.service import serve
    from leeward.service._offers import read_offers

    offers = read_offers(configuration)
    for data_set in offers.data_sets.values():
        opening(data_set.budget(), yes=yes, new=False)
    for offer in offers.perturb.values():
        if (opens := offer.job.opens()) is None:
            continue
        if opens.doubt is not None:
            raise LedgerError(
                f"This opens {opens}", opens.doubt, "Bring it back; if a new one is meant, remove the empty file"
            )
        may_open(opens, yes=yes, new=False)
        offer.job.open_budgets(new=True)
        say(opens.made(), err=True)
    serve(offers, port=port, tell=say)
