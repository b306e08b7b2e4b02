# SPDX-License-Identifier: Apache-2.0
"""``leeward check``: what a release would count and look like, for the curator alone, before anything is paid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from leeward.cli._output import AcceptUseless, SpecFile, facts, print_json, print_parts, progress_shown, say, table

if TYPE_CHECKING:
    from leeward.session._facts import Checked


def check(
    spec: SpecFile,
    accept_useless: AcceptUseless = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print everything as JSON, for the curator only too.")
    ] = False,
) -> None:
    """Say what a release would count, and why not more, before it is paid. For the curator's terminal only.

    Reads the spec, the data, the public list and the ledger. Charges nothing and writes nothing. Says how many rows would
    count and why others would not, which listed places match, what the answer will look like, and whether the release
    would be refused: then it exits with 2.

    **Examples**

    * `leeward check spec.toml`
    * `leeward check spec.toml --json`
    """
    from leeward.session._check import check_planned, refused_together, sources_of, total
    from leeward.session._together import naming
    from leeward.spec import read_questions
    from leeward.spec._questions import planned, useless_accepted

    read = read_questions(spec)
    plans, budget = planned(read), next(iter(read.values())).ledger()
    accepted = useless_accepted(read, every=accept_useless)
    found: dict[str, Checked] = {}
    opens_in: str | None = None
    with sources_of(plans) as sources:
        for name, asked in plans.items():
            with naming(name), progress_shown(as_json) as progress:
                found[name] = check_planned(
                    asked,
                    budget,
                    accept_useless=name in accepted,
                    progress=progress,
                    sources=sources,
                    opens_in=opens_in,
                )
                opens_in = found[name].standing.counted_in
    refusals = [f"{name}: {said}" if name else said for name, one in found.items() for said in one.refusals]
    refusals += refused_together(list(found.values()), budget)
    if as_json:
        from leeward.cli._checked import checked

        documents = [checked(one, budget, name).to_dict() for name, one in found.items()]
        print_json(documents if len(documents) > 1 else documents[0])
    else:
        from leeward.session._facts import FOR_CURATOR

        say(FOR_CURATOR)
        for name, one in found.items():
            if name:
                say(f"\n{name}\n{'=' * len(name)}")
            _print(one)
        if len(found) > 1:
            say(f"\n{len(found)} questions at a total price of {total(list(found.values()))}.")
        say("\nNothing was charged or written.")
        if not refusals:
            say(f"Next, once all is as it should be: leeward release {spec} --out release")
    for refusal in refusals:
        say(f"leeward: a release would be refused. {refusal}", err=True)
    if refusals:
        raise typer.Exit(2)


def _print(found: Checked) -> None:
    print_parts("", facts(found.facts(ends=True), no_wrap=True))
    say(f"\n{found.of_stand_in}")
    shown = table(*found.stand_in.column_names, padding=(0, 2))
    for row in found.begins():
        shown.add_row(*row.values())
    print_parts(shown)
