# SPDX-License-Identifier: Apache-2.0
"""``leeward plan``: every notion and mechanism for a spec, side by side, before anything is spent."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leeward._plain import counted
from leeward.cli._output import print_json, say, wrote
from leeward.errors import InputError, SpecError

if TYPE_CHECKING:
    from leeward.planner import Comparison, NameComparison, Scenario
    from leeward.session._standing import Standing
    from leeward.spec import Spec


_WISH, _ERROR, _DELTA = "0:0.9", "0.001", "1e-6"


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
    ] = _WISH,
    releases: Annotated[
        int | None, typer.Option("--releases", help="How many such releases in all; by default one a window.")
    ] = None,
    delta: Annotated[str, typer.Option("--delta", help="δ at which their total is given.")] = _DELTA,
    error: Annotated[
        str, typer.Option("--assumed-error", help="α for notions that can be wrong, where the spec gives none.")
    ] = _ERROR,
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
    from leeward.spec import read_questions

    count, chance = _wish(safe_at)
    asked = read_questions(spec)
    if len(asked) > 1:
        given = {"--safe-at": safe_at != _WISH, "--assumed-error": error != _ERROR, "--html": html is not None}
        given |= {"--counts": counts is not None, "--releases": releases is not None, "--delta": delta != _DELTA}
        _print_several(asked, given, quiet, as_json)
        return
    (read,) = asked.values()
    if read.names:
        _refuse_decisions(
            {"--safe-at": safe_at != _WISH, "--assumed-error": error != _ERROR, "--html": html is not None}
        )
        _print_names(_names_compared(read, counts, releases, delta), quiet, as_json)
        return
    compared = _compared(read, counts, releases, delta, error)
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


def _print_several(asked: Mapping[str, Spec], given: Mapping[str, bool], quiet: bool, as_json: bool) -> None:
    """Print what several questions cost; options about one comparison are refused."""
    from leeward.cli._questions import planned_questions, print_questions
    from leeward.spec._questions import planned

    for option, used in given.items():
        if used:
            raise SpecError(
                f"{option} with a spec of several questions",
                "it is about the comparison of one",
                "Leave it out, or put the question into a spec of its own",
            )
    found = planned_questions(planned(asked), next(iter(asked.values())).ledger())
    if as_json:
        print_json(found.to_dict())
    elif not quiet:
        print_questions(found)


def _wish(text: str) -> tuple[int, str]:
    count, colon, chance = text.partition(":")
    if not colon or not count.strip().isdecimal() or len(count.strip()) > 18:
        raise InputError(
            f"--safe-at {text}", "it is not a number of people with a probability", 'Write, say, --safe-at "0:0.9"'
        )
    return int(count), chance.strip()


def _compared(spec: Spec, counts: str | None, releases: int | None, delta: str, error: str) -> Comparison:
    from leeward.engine import read_keys
    from leeward.errors import RefusedError
    from leeward.planner import compare
    from leeward.session._standing import standing

    queries, notion = spec.decided(), spec.notion()
    keys = read_keys(queries[0])
    try:
        plans = spec.decision_plans()
    except RefusedError:  # which the comparison tells
        plans = []
    stands = standing(spec.ledger(), notion, plans, keys.digest(), rows=queries[0].of_rows)
    return compare(
        queries[0],
        notion,
        **spec.decide.model_dump(),
        **spec.publish.model_dump(),
        scenario=_scenario(len(keys), len(queries), stands, counts, releases, delta, error),
    )


def _scenario(
    places: int,
    windows: int,
    stands: Standing,
    counts: str | None,
    releases: int | None,
    delta: str,
    error: str = _ERROR,
) -> Scenario:
    from leeward.planner import Scenario
    from leeward.planner._expected import read_counts

    if releases is not None and releases < windows:
        raise InputError(
            f"--releases {releases}",
            f"the spec has {counted(windows, 'window')}, one release each",
            f"Give at least {windows}, or leave it out",
        )
    return Scenario(
        places=places,
        counts=None if counts is None else read_counts(counts),
        releases=windows if releases is None else releases,
        delta=delta,
        assumed_error=error,
        counted_in=stands.counted_in,
        left=stands.left,
        answered=sum(stands.answered),
    )


def _refuse_decisions(given: dict[str, bool]) -> None:
    """Refuse options that are about decisions, where a name is asked for."""
    for option, used in given.items():
        if used:
            raise SpecError(
                f"{option} where a name is asked for",
                "it is about places that are called safe or dangerous",
                "Leave it out",
            )


def _names_compared(spec: Spec, counts: str | None, releases: int | None, delta: str) -> NameComparison:
    from leeward.engine import read_keys
    from leeward.errors import RefusedError
    from leeward.planner import compare
    from leeward.planner._selection_plan import plan_selection
    from leeward.session._standing import standing

    queries, notion = spec.selections(), spec.notion()
    keys = read_keys(queries[0].counts)
    try:
        plans = [plan_selection(query, notion) for query in queries]
    except RefusedError:  # which the comparison tells
        plans = []
    stands = standing(spec.ledger(), notion, plans, keys.digest(), rows=queries[0].of_rows)
    return compare(queries[0], notion, scenario=_scenario(len(keys), len(queries), stands, counts, releases, delta))


def _print_names(compared: NameComparison, quiet: bool, as_json: bool) -> None:
    from leeward.planner import name_report

    report = name_report(compared)
    if as_json:
        print_json(report.to_dict())
    elif not quiet:
        from leeward.cli._name_table import print_names

        print_names(report)
