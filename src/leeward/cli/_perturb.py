# SPDX-License-Identifier: Apache-2.0
"""``leeward perturb``: a table whose locations, or readings, are moved by exact noise."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from leeward._plain import counted
from leeward.cli._opening import may_open
from leeward.cli._output import AsJson, Quiet, SpecFile, facts, print_json, print_parts, progress_shown, say, wrote
from leeward.errors import SpecError, noted


def perturb(
    spec: SpecFile,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The file to write; made whole or not at all.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what is promised and what the noise does. Reads no data.")
    ] = False,
    attack: Annotated[
        Path | None,
        typer.Option(
            "--attack",
            metavar="FILE",
            help="Attack FILE, which this spec wrote, as its [attacker], and print what that finds. For your eyes alone.",
        ),
    ] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
    yes: Annotated[
        bool,
        typer.Option("--yes", "-y", help="Open new stores of budgets and of reports without asking, if none is there."),
    ] = False,
    new_budget: Annotated[
        bool, typer.Option("--new-budget", help="Open a new store although the other is there, or its file is empty.")
    ] = False,
) -> None:
    """Add noise to each location or meter reading of a table: `kind = "location"` or `"series"` in [perturb] of the spec.

    Writes FILE and its privacy statement, FILE.release.json. Every run draws new noise, and costs its price again.

    Examples:
        leeward perturb spec.toml --dry-run

        leeward perturb spec.toml --out reports.parquet

        leeward perturb spec.toml --attack reports.parquet
    """
    from leeward.local import read_job

    job = read_job(spec)
    if dry_run:
        if as_json:
            print_json(job.statement().to_dict())
        elif not quiet:
            print_parts(facts(job.facts(), no_wrap=True))
            say("\nNothing was read, drawn or charged.")
        return
    if attack is not None:
        if out is not None or as_json:
            raise SpecError(
                "--attack beside --out or --json",
                "it looks at a file that was written before, and what it finds depends on the data",
                "Give it alone",
            )
        for note in job.attack(attack):
            say(f"Note: {note}.", err=True)
        return
    if out is None:
        raise SpecError(
            "No --out", "the perturbed table needs a file to be written to", "Give --out FILE, or --dry-run"
        )
    opens = job.opens()
    if opens is not None:
        may_open(opens, yes=yes, new=new_budget)
    with progress_shown(quiet) as progress, noted(lambda: "" if opens is None else opens.made()):
        written = job.run(out, progress, new=new_budget or opens is not None)
        for file in written.files:
            wrote(file)
    if not quiet:
        if opens is not None:
            say(opens.made(), err=True)
        for note in written.notes:
            say(f"Note: {note}.", err=True)
    if as_json:
        print_json(written.public().to_dict())
    elif not quiet:
        say(f"{counted(written.rows, 'row')} perturbed.")
        for file in written.files:
            say(f"Written: {file}")
