# SPDX-License-Identifier: Apache-2.0
"""``leeward plan``: every notion and mechanism for a spec, side by side, before anything is spent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leeward._plain import counted
from leeward.cli._output import print_json, say, wrote
from leeward.errors import InputError, SpecError

if TYPE_CHECKING:
    from leeward.planner import Comparison
    from leeward.spec import Spec


def plan(
    spec: Annotated[Path, typer.Argument(help="The spec, a TOML file.", metavar="SPEC.toml")],
    counts: Annotated[
        str | None,
        typer.Option(
            "--counts",
            help='How many places hold how many people, public or assumed: "0:4101,1:214", or a CSV file (count,places).',
        ),
    ] = None,
    safe_at: Annotated[
        str, typer.Option("--safe-at", help='For "what ε, what t?": places with so many people, and how often safe.')
    ] = "0:0.9",
    releases: Annotated[
        int | None, typer.Option("--releases", help="How many such releases in all; by default one a window.")
    ] = None,
    delta: Annotated[str, typer.Option("--delta", help="δ at which their total is given.")] = "1e-6",
    error: Annotated[
        str, typer.Option("--assumed-error", help="α for notions that can be wrong, where the spec gives none.")
    ] = "0.001",
    html: Annotated[Path | None, typer.Option("--html", help="Also write a page with plots to this file.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but refusals.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Compare what could be released, and recommend. Reads the spec, the public list and the ledger, never the data.

    Examples:
        leeward plan spec.toml

        leeward plan spec.toml --counts "0:4101,1:214,2:11,3:2,4:2,5:1" --html plan.html

        leeward plan spec.toml --safe-at "2:0.5" --releases 10
    """
    from leeward.planner import plan_report
    from leeward.spec import read_spec

    count, chance = _wish(safe_at)
    compared = _compared(read_spec(spec), counts, releases, delta, error)
    report = plan_report(compared, count=count, probability=chance)
    if html is not None:
        from leeward.report._plan import write_plan

        wrote(write_plan(report, html))
    if as_json:
        print_json(report.to_dict())
    elif not quiet:
        from leeward.cli._plan_table import print_plan

        print_plan(report)
        if html is not None:
            say(f"\nThe page is at {html}")


def _wish(text: str) -> tuple[int, str]:
    count, colon, chance = text.partition(":")
    if not colon or not count.strip().isdecimal() or len(count.strip()) > 18:
        raise InputError(
            f"--safe-at {text}", "it is not a number of people with a probability", 'Write, say, --safe-at "0:0.9"'
        )
    return int(count), chance.strip()


def _compared(spec: Spec, counts: str | None, releases: int | None, delta: str, error: str) -> Comparison:
    from leeward.engine import read_places
    from leeward.errors import RefusedError
    from leeward.planner import Scenario, compare
    from leeward.planner._expected import read_counts
    from leeward.session._standing import standing

    if spec.query.kind != "visitors":
        raise SpecError(
            f'[query] kind = "{spec.query.kind}"',
            "notions and mechanisms are compared for counts of visitors",
            "Use `leeward release SPEC --dry-run`: it shows price and errors",
        )
    queries, notion = spec.queries(), spec.notion()
    windows = len(queries)
    if releases is not None and releases < windows:
        raise InputError(
            f"--releases {releases}",
            f"the spec has {counted(windows, 'window')}, one release each",
            f"Give at least {windows}, or leave it out",
        )
    keys = read_places(queries[0].places)
    try:
        plans = spec.visitor_plans()
    except RefusedError:  # which the comparison tells
        plans = []
    stands = standing(spec.ledger(), notion, plans, keys.digest())
    return compare(
        queries[0],
        notion,
        **spec.decide.model_dump(),
        **spec.publish.model_dump(),
        scenario=Scenario(
            places=len(keys),
            counts=None if counts is None else read_counts(counts),
            releases=windows if releases is None else releases,
            delta=delta,
            assumed_error=error,
            counted_in=stands.counted_in,
            left=stands.left,
            answered=sum(stands.answered),
        ),
    )
