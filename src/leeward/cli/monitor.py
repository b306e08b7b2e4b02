"""``leeward monitor``: window after window, free while every place is safe."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, cast
from zoneinfo import ZoneInfo

import typer

from leeward.cli.opening import NewBudget, Yes, opening
from leeward.cli.output import AcceptUseless, IfDoubtful, print_json, print_notes, say, stages, wrote
from leeward.errors import InputError


def monitor(
    spec: Annotated[Path, typer.Argument(help="The spec, a TOML file.", metavar="SPEC.toml")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Directory: one folder a window.")],
    until: Annotated[
        datetime | None, typer.Option(help="Ask only windows that end by then; by default, by now.")
    ] = None,
    yes: Yes = False,
    new_budget: NewBudget = False,
    if_doubtful: IfDoubtful = "refuse",
    accept_useless: AcceptUseless = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but refusals.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Ask the windows of a spec in order, paying only where a place cannot be called safe; stop for good after c of them.

    The spec has several windows (`every = "1h"` in [window], or a list) and the sanitized mechanism with stop_after = c. Run
    it again, on a schedule say: it goes on where the ledger says it stopped, and shows earlier answers for free. Folders of
    windows that are not asked again stay.

    **Examples**

    * `leeward monitor spec.toml --out monitor/`
    """
    from leeward.monitor import monitor as run
    from leeward.release import check_if_doubtful
    from leeward.result import folder_names, saving
    from leeward.spec import read_spec

    check_if_doubtful(if_doubtful)
    read = read_spec(spec)
    every = read.visitor_plans()
    named = zip(every, folder_names([made.query.window.public() for made in every]), strict=True)
    due = [
        (made, name)
        for made, name in named
        if made.query.window.end <= _by(until, made.query.window.end, read.data.timezone)
    ]
    if not due:
        say("No window has ended yet: nothing was asked.")
        return
    plans = [made for made, _ in due]
    with saving(out, [name for _, name in due], what="windows of a monitor", keep=True) as save:
        opened = opening(read.ledger(), yes=yes, new=new_budget)
        with stages(quiet) as on_stage:
            watch = run(
                plans,
                opened.budget,
                if_doubtful=cast(Any, if_doubtful),
                accept_useless=accept_useless,
                on_stage=on_stage,
            )
            on_stage("writing the reports")
            wrote(save(watch.releases))
    opened.say(quiet)
    if not quiet:
        for one in watch.releases:
            print_notes(one.curator)
    state = watch.state
    if as_json:
        windows = [
            {
                "window": one.statement["query"]["window"],
                "answered": sum(one.answers["answered"].to_pylist()),
                "safe": one.answers["state"].to_pylist().count("safe"),
                "charged": one.curator.charged,
            }
            for one in watch.releases
        ]
        print_json({"windows": windows, "stops": state.stops, "stopped": state.stopped, "spent": str(watch.spent)})
    elif not quiet:
        for one in watch.releases:
            safe, places = one.answers["state"].to_pylist().count("safe"), one.answers.num_rows
            say(
                f"{one.statement['query']['window']['start']}: {safe:,} of {places:,} safe; charged {one.curator.charged}"
            )
        left = state.stop_after - state.stops
        stopped = "It has stopped for good." if state.stopped else f"It stops after {left} more."
        many = "1 place" if state.stops == 1 else f"{state.stops} places"
        say(f"{many} could not be called safe, at a price of {watch.spent}. {stopped}")
        say(f"The reports are in {out}")


def _by(until: datetime | None, end: datetime, timezone: str | None) -> datetime:
    """Return the moment by which a window must have ended, with an offset iff the window has one."""
    if until is not None:
        if until.tzinfo is not None and end.tzinfo is None:
            raise InputError(
                f"--until {until.isoformat()}", "it has an offset, and the windows have none", "Give it without one"
            )
        return until.replace(tzinfo=end.tzinfo) if until.tzinfo is None else until
    if end.tzinfo is not None:
        return datetime.now(end.tzinfo)
    return datetime.now(None if timezone is None else ZoneInfo(timezone)).replace(tzinfo=None)
