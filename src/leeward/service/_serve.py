# SPDX-License-Identifier: Apache-2.0
"""The service on a port of this machine, until its process is ended."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from leeward._optional import optional
from leeward._web._loopback import held_back, listening, run
from leeward._web._told import if_heard

if TYPE_CHECKING:
    from leeward.service._offers import DataSet, Offers


def serve(offers: Offers, *, port: int = 0, tell: Callable[[str], object] = print) -> None:
    """Serve what a curator offers, until the process is interrupted.

    Each data set, and each store of people's budgets, is opened once beforehand: what cannot be read, and budgets that
    would be refused, are found then.

    Args:
        offers: from `read_offers`.
        port: the port on this machine; 0 for any that is free.
        tell: called with the address, and with what only the curator may know.

    Raises:
        LeewardError: a data set, a store or the tokens cannot be read, or lie in the folder of a release; the port is taken;
            or the extra ``desk`` is not installed.
    """
    optional("fastapi", "The service")
    optional("uvicorn", "The service")
    from leeward.service._answering import Answering
    from leeward.service._app import guarded
    from leeward.session._before import kept_with, refuse_published

    issued = offers.tokens.read()
    refuse_published({"list of tokens": (offers.tokens.file, "it says who may ask, and how much")})
    for data_set in offers.data_sets.values():
        refuse_published(kept_with(data_set.budget()))
        tell(f"Looking at '{data_set.name}' …")
        look(data_set)
    for name in sorted({name for one in issued if one.revoked is None for name in one.caps} - set(offers.data_sets)):
        tell(f"A token is for the data set '{name}', which is not offered.")
    working = {one.name for one in issued if one.revoked is None}
    for offer in offers.perturb.values():
        tell(f"Looking at the budgets of '{offer.name}', for brokers …")
        offer.job.open_budgets(new=False)
        for name in sorted(offer.brokers - working):
            tell(f"'{name}' is a broker of '{offer.name}', and has no token.")
    answering = Answering(offers, if_heard(tell))
    answering.open_ledgers()
    with listening(port) as (listener, authority):
        with suppress(KeyboardInterrupt):  # how it is meant to end, where the signal was not ignored before
            local = f"localhost:{authority.rpartition(':')[2]}"
            with held_back():
                app = guarded(answering, [authority, local, *offers.hosts], if_heard(tell))
            tell(f"The service is at http://{authority}/, for this machine and for proxies on it. End it with Ctrl-C.")
            run(app, listener, "The service")
        tell("The service is ended. A question that it was at work on goes on when it is asked again.")


def look(data_set: DataSet) -> None:
    """Open a data set, and every column that may be asked about; nothing is counted.

    Raises:
        LeewardError: it cannot be read, or its budget has another cap or notion than the spec says, or none; or its content
            is not what was charged under its label, so that stored answers would not be about it.
    """
    from leeward.engine import open_data, read_keys
    from leeward.ledger import Ledger
    from leeward.ledger._balance import agree, fixed
    from leeward.session._standing import balance_of

    budget = data_set.budget()
    for probe in data_set.probes():
        (plan,) = probe.plans()
        ledger = Ledger.find(budget.ledger)
        account = None if ledger is None else ledger.account(budget.dataset, new=budget.new)
        counted_in = budget.counted_in(
            plan.notion, None if account is None else account.notion, rows=plan.counted.of_rows
        )
        if account is None:
            fixed(budget.exact_cap(), budget.dataset)
        else:
            agree(balance_of(account), budget.dataset, counted_in, budget.exact_cap(), budget.exact_cap_delta())
        with open_data(plan.counted, read_keys(plan.counted)) as table:
            if ledger is not None and account is not None:  # stored answers are given without a look at the table
                content = table.content(ledger.content_key())
                ledger.check_content(budget.dataset, budget.version, content, new=budget.new)
