# SPDX-License-Identifier: Apache-2.0
"""``leeward demo``: the main job on a city that does not exist."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from leeward.cli._output import AsJson, Quiet, say


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Directory for the release.")] = Path("demo-out"),
    city: Annotated[Path, typer.Option("--city", help="Directory for the synthetic data, spec and ledger.")] = Path(
        "demo-city"
    ),
    seed: Annotated[int, typer.Option("--seed", help="Another city; the noise is never seeded.")] = 1,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Make a synthetic city and publish which of its 5,835 places are safe at 6 p.m.

    The city has the size of the one in Takagi et al.: 10,338 people. Its spec is written beside it, for you to change.

    **Examples**

    * `leeward demo && leeward release demo-city/spec.toml --dry-run`
    """
    from leeward.cli._release import publish
    from leeward.demo._city import write_city
    from leeward.spec import read_spec

    spec = read_spec(write_city(city, seed))
    budget = replace(spec.ledger(), new=True)  # these people do not exist, in whatever city they are
    publish({"": spec.plans()}, budget, out, quiet=quiet, as_json=as_json)
    if not quiet and not as_json:
        say(f"The city, its spec and its budget are in {city}: try leeward release {city / 'spec.toml'} --dry-run")
