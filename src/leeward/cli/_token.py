# SPDX-License-Identifier: Apache-2.0
"""``leeward token``: which analysts may ask a service, and how much each may spend."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from leeward.cli._output import AsJson, print_json, print_parts, say, table, wrote
from leeward.errors import InputError, nearest

token = typer.Typer(no_args_is_help=True, help="Create, list and revoke the tokens by which analysts ask a service.")

Config = Annotated[Path, typer.Option("--config", "-c", help="The configuration of the service, a TOML file.")]
Name = Annotated[str, typer.Argument(help="The analyst.", metavar="NAME")]
CONFIG = Path("service.toml")


@token.command()
def create(
    name: Name,
    cap: Annotated[
        list[str] | None,
        typer.Option("--cap", help="The most to be spent of a data set, DATA_SET=AMOUNT; give one for each."),
    ] = None,
    config: Config = CONFIG,
) -> None:
    """Create the token of an analyst and print it: it is shown once, and kept as a digest only.

    An analyst may ask the data sets that have a cap, and no others. The caps need not add up to the data set's own, which
    holds for all analysts together. A broker, whom the configuration names under [perturb.NAME], needs no cap.

    **Examples**

    * `leeward token create ann --cap town=2 --cap census=1/2`
    """
    from leeward.exact._real import exact
    from leeward.service._offers import read_offers

    offers = read_offers(config)
    caps = dict[str, Fraction]()
    for given in cap or ():
        data_set, is_given, amount = given.partition("=")
        if not is_given or data_set in caps:
            raise InputError(f"--cap {given}", "it is not DATA_SET=AMOUNT, once for each", "Write, say, --cap town=2")
        if data_set not in offers.data_sets:
            raise InputError(f"--cap {given}", "no such data set is offered", nearest(data_set, offers.data_sets))
        found = exact(amount).rational
        if found is None or found <= 0:
            raise InputError(f"--cap {given}", "it is not a finite amount above 0", "Write, say, --cap town=2")
        caps[data_set] = found
    made = offers.tokens.create(name, caps, is_broker=bool(offers.of_broker(name)))
    wrote(config)
    say(f"The token of {name}, which is shown this once:", err=True)
    say(made)


@token.command("list")
def list_(
    config: Config = CONFIG,
    as_json: AsJson = False,
) -> None:
    """List who may ask, how much, and what they have spent; no token is shown.

    **Examples**

    * `leeward token list --config service.toml`
    """
    from leeward.cli._tokens import listed
    from leeward.service._offers import read_offers

    known = listed(read_offers(config))
    if as_json:
        print_json(known.to_dict())
        return
    columns = ("analyst", "data_set", "cap", "spent", "created", "revoked")
    made = table(padding=(0, 1))
    for column in columns:
        made.add_column(column, overflow="fold")
    for row in known.analysts:
        made.add_row(*(getattr(row, column) or "" for column in columns))
    if known.analysts or not known.brokers:
        print_parts(made)
    for broker in known.brokers:
        say(f"{broker.name} may send positions of people to '{broker.perturb}', as a trusted broker.")


@token.command()
def revoke(name: Name, config: Config = CONFIG) -> None:
    """End the token of an analyst, at once; what they spent stays spent, under their name.

    **Examples**

    * `leeward token revoke ann`
    """
    from leeward.service._offers import read_offers

    read_offers(config).tokens.revoke(name)
    wrote(config)
    say(f"The token of {name} works no more.")
