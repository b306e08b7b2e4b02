# SPDX-License-Identifier: Apache-2.0
"""``leeward plan``: every notion and mechanism for a spec, side by side, before anything is spent."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leeward.cli._output import AsJson, Quiet, SpecFile, print_json, say, wrote
from leeward.errors import InputError, SpecError

if TYPE_CHECKING:
    from leeward.planner._side_by_side import AnyReport
    from leeward.spec import Spec

_WISH, _ERROR, _DELTA = "0:0.9", "0.001", "1e-6"


def plan(
    spec: SpecFile,
    counts: Annotated[
        str | None,
        typer.Option(
            "--counts",
            help='How many places hold how many people, public or assumed: "0:4101,1:214", or a CSV file (count,places).',
        ),
    ] = None,
    safe_at: Annotated[
        str, typer.Option("--safe-at", help='For "what ε, what t?": places with so many people, and how often safe.')
    ] = _WISH,
    releases: Annotated[
        int | None, typer.Option("--releases", help="How many such releases in all; by default one a window.")
    ] = None,
    delta: Annotated[str, typer.Option("--delta", help="δ at which their total is given.")] = _DELTA,
    error: Annotated[
        str, typer.Option("--assumed-error", help="α for notions that can be wrong, where the spec gives none.")
    ] = _ERROR,
    html: Annotated[Path | None, typer.Option("--html", help="Also write a page with plots to this file.")] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Compare what could be released, and recommend. Reads the spec, the public list and the ledger, never the data.

    Examples:
        leeward plan spec.toml

        leeward plan spec.toml --counts "0:4101,1:214,2:11,3:2,4:2,5:1" --html plan.html

        leeward plan spec.toml --safe-at "2:0.5" --releases 10
    """
    from leeward.cli._plan_table import print_compared
    from leeward.spec import read_questions
    from leeward.spec._compared import compared

    count, chance = _wish(safe_at)
    asked = read_questions(spec)
    given = {"--safe-at": safe_at != _WISH, "--assumed-error": error != _ERROR, "--html": html is not None}
    if len(asked) > 1:
        given |= {"--counts": counts is not None, "--releases": releases is not None, "--delta": delta != _DELTA}
        _print_several(asked, given, quiet, as_json)
        return
    (read,) = asked.values()
    if not read.decides:
        _refuse(
            given | {"--counts": counts is not None and not read.names},
            "where nothing is decided",
            "it is about places, or groups, that are called safe or dangerous",
            "Leave it out, or add [decide]",
        )
    report = compared(read, counts, releases, delta, error, (count, chance))
    if html is not None:
        from leeward.planner import PlanReport
        from leeward.report._plan import write_plan

        assert isinstance(report, PlanReport)
        wrote(write_plan(report, html))
    if as_json:
        print_json(report.to_dict())
    elif not quiet:
        print_compared(report)
        say("\nNothing was charged and no data was read.")
        if html is not None:
            say(f"\nThe page is at {html}")


def _print_several(asked: Mapping[str, Spec], given: Mapping[str, bool], quiet: bool, as_json: bool) -> None:
    """Print what several questions cost; options about one comparison are refused."""
    from leeward.cli._questions import planned_questions, print_questions
    from leeward.spec._questions import planned

    _refuse(
        given,
        "with a spec of several questions",
        "it is about the comparison of one",
        "Leave it out, or put the question into a spec of its own",
    )
    compared_each = {name: _of_several(name, spec) for name, spec in asked.items()}
    found = planned_questions(planned(asked), compared_each, next(iter(asked.values())).ledger())
    if as_json:
        print_json(found.to_dict())
    elif not quiet:
        print_questions(found)


def _of_several(name: str, spec: Spec) -> AnyReport:
    """Return the comparison of one question of several."""
    from leeward.session._together import naming
    from leeward.spec._compared import compared

    with naming(name):
        return compared(spec)


def _wish(text: str) -> tuple[int, str]:
    count, colon, chance = text.partition(":")
    if not colon or not count.strip().isdecimal() or len(count.strip()) > 18:
        raise InputError(
            f"--safe-at {text}", "it is not a number of people with a probability", 'Write, say, --safe-at "0:0.9"'
        )
    return int(count), chance.strip()


def _refuse(given: Mapping[str, bool], where: str, because: str, instead: str) -> None:
    """Refuse options that were given where they mean nothing."""
    for option, used in given.items():
        if used:
            raise SpecError(f"{option} {where}", because, instead)
