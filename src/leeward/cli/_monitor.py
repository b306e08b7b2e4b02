# SPDX-License-Identifier: Apache-2.0
"""``leeward monitor``: window after window, free while every place is safe."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from leeward._plain import counted
from leeward.cli._opening import NewBudget, Yes, opening, saved_if_refused
from leeward.cli._output import (
    AcceptUseless,
    AsJson,
    Formats,
    IfDoubtful,
    Quiet,
    SpecFile,
    names_in,
    print_json,
    print_notes,
    progress_shown,
    say,
    wrote,
)
from leeward.errors import InputError

if TYPE_CHECKING:
    from leeward.query import CountVisitors


def monitor(
    spec: SpecFile,
    out: Annotated[Path, typer.Option("--out", "-o", help="Directory: one page, and a folder a window.")],
    until: Annotated[
        datetime | None,
        typer.Option(
            help="Ask the windows that end by then, in their own time; by default, those that are over for sure."
        ),
    ] = None,
    yes: Yes = False,
    new_budget: NewBudget = False,
    if_doubtful: IfDoubtful = "refuse",
    accept_useless: AcceptUseless = False,
    formats: Formats = "",
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Ask the windows of a spec in order, paying only where a place cannot be called safe; stop for good after c of them.

    The spec has several windows (`every = "1h"` in [window], or a list) and the sanitized mechanism with stop_after = c. Run
    it again, on a schedule say: it goes on where the ledger says it stopped, and shows earlier answers for free. One page
    goes through the windows with a slider; a folder of each has its answers and its statement. Folders of windows that are
    not asked again stay. Windows are asked in the order in which they are listed: those after one that is not over wait.

    A window without an offset from UTC is over when it is over in the `timezone` of [data], in UTC with `time_unit` alone,
    and with neither when it is over in every zone of the Earth.

    **Examples**

    * `leeward monitor spec.toml --out monitor/`
    """
    from leeward.cli._monitored import Monitored, asked
    from leeward.session._before import refuse_within
    from leeward.session._monitor import monitor as run
    from leeward.session._result import REPORT, folder_names, saving
    from leeward.session._together import check_if_doubtful
    from leeward.spec import read_spec

    check_if_doubtful(if_doubtful)
    read = read_spec(spec)
    every = read.visitor_plans()
    asked_of = [cast("CountVisitors", made.query) for made in every]
    named = zip(every, asked_of, folder_names([query.window.public() for query in asked_of]), strict=True)
    # up to the first that may not be asked yet: asked before it now, a later one would be asked again after it, since a
    # monitor is known by all that it asked
    due = [(made, name) for made, _, name in takewhile(lambda one: _ended(one[1], until), named)]
    if not due:
        if as_json:
            print_json(Monitored(format=1, windows=(), stops=0, stopped=False, spent="0").to_dict())
        elif not quiet:
            say("The first window is not over yet: nothing was asked.")
        return
    plans = [made for made, _ in due]
    refuse_within(out, read.ledger(), plans[0].query)
    folders, also = [name for _, name in due], names_in(formats)
    with saving(out, folders, what="windows of a monitor", keep=True, one_page=True, formats=also) as save:
        opened = opening(read.ledger(), yes=yes, new=new_budget)
        with saved_if_refused(save, opened, quiet) as done, progress_shown(quiet) as progress:
            watch = run(
                plans,
                opened.budget,
                if_doubtful=cast(Any, if_doubtful),
                accept_useless=accept_useless or read.query.accept_useless,
                progress=progress,
                done=done,
            )
        with progress_shown(quiet) as progress:
            progress("writing the report")
            wrote(save(watch.releases))
    opened.say(watch.releases, quiet)
    if not quiet:
        for each in watch.releases:
            print_notes(each.curator)
    state, windows = watch.state, asked(watch.releases)
    if as_json:
        found = Monitored(format=1, windows=windows, stops=state.stops, stopped=state.stopped, spent=str(watch.spent))
        print_json(found.to_dict())
    elif not quiet:
        for one in windows:
            say(f"{one.window.start}: {one.safe:,} of {one.places:,} safe; charged {one.charged}")
        left = state.stop_after - state.stops
        stopped = "It has stopped for good." if state.stopped else f"Behind these windows it stops after {left} more."
        unsafe = f"{counted(state.stops, 'place')} in these windows could not be called safe"
        say(f"{unsafe}, at a price of {watch.spent}. {stopped}")
        say(f"The report is at {out / REPORT}")


def _ended(query: CountVisitors, until: datetime | None) -> bool:
    """Return whether a window may be asked: its answer is kept for good, so nothing may happen in it any more."""
    from leeward.engine._window import is_over

    end, visits = query.window.end, query.visits
    if until is not None:
        if until.tzinfo is not None and end.tzinfo is None:
            raise InputError(
                f"--until {until.isoformat()}", "it has an offset, and the windows have none", "Give it without one"
            )
        return end <= (until.replace(tzinfo=end.tzinfo) if until.tzinfo is None else until)
    return is_over(end, datetime.now(UTC), visits.timezone, epochs=visits.source.time_unit is not None)
