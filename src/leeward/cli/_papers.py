# SPDX-License-Identifier: Apache-2.0
"""``leeward papers``: the figures, tables and numbers of the sources, recomputed beside what was printed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from leeward.cli._output import AsJson, print_json, progress_shown, say, wrote


def papers(
    full: Annotated[bool, typer.Option("--full", help="The full set: minutes instead of seconds.")] = False,
    out: Annotated[Path, typer.Option("--out", "-o", help="Directory for page, numbers and data.")] = Path(
        "papers-out"
    ),
    visits: Annotated[
        list[Path] | None,
        typer.Option(
            "--visits", metavar="FILE", help="A table of visits of your own, parquet or CSV. May be repeated."
        ),
    ] = None,
    columns: Annotated[
        str,
        typer.Option(
            "--columns",
            help="Its columns of person, place and time; of a file of Peopleflow's shape also of state and category.",
            metavar="PERSON,PLACE,TIME[,STATE,CATEGORY]",
        ),
    ] = "person,place,time",
    categories: Annotated[
        str, typer.Option("--categories", help="Of such a file: the categories of places that count.", metavar="N,N,…")
    ] = "3,4,5,6,7",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but what is wrong.")] = False,
    as_json: AsJson = False,
) -> None:
    """Recompute every figure, table and worked number of the papers beside what was printed.

    Writes papers.html (one page, no network), papers.json and data/*.csv. Exits with 1 if a number has moved from its pinned
    value by more than its tolerance. A table of visits is read as it is: nothing is protected, so do not publish what comes
    out of it.

    With five columns the file has the shape of Peopleflow, the data of ADP's experiments: a row is a visit where the state
    is STAY and the category one of those that count. All of ADP's figures are then drawn from it. A place may be a position.

    Examples:
        leeward papers --visits checkins.parquet --columns user,venue,jst

        leeward papers --visits peopleflow.csv --columns userID,latitude+longitude,timestamp,state,placeID
    """
    from leeward.errors import InputError
    from leeward.outputs import prepared
    from leeward.papers import Peopleflow, VisitsFile, recompute
    from leeward.papers._recompute import OUTPUT, write_into

    names = [name.strip() for name in columns.split(",")]
    if len(names) not in (3, 5) or not all(names):
        raise InputError(
            f"--columns {columns}",
            "three columns are needed, or five of a file of Peopleflow's shape",
            "Name them: --columns user,venue,jst, or --columns user,venue,jst,state,category",
        )
    counted = [each.strip() for each in categories.split(",")]
    if not all(each.isdecimal() and len(each) < 10 for each in counted):
        raise InputError(f"--categories {categories}", "they are not whole numbers", "Write, say, --categories 3,4,5")
    made: list[VisitsFile] = [
        VisitsFile(path, *names) if len(names) == 3 else Peopleflow(path, *names, categories=tuple(map(int, counted)))
        for path in visits or ()
    ]
    for source in made:
        source.check()
    with progress_shown(quiet) as progress, prepared(out, OUTPUT, room=8_000_000) as place:
        found = recompute(full, made, progress)
        progress("writing", 1.0)
        page = write_into(place, found)
        wrote(out)
    if as_json:
        print_json(found.to_dict())
    elif not quiet:
        tally = ", ".join(f"{count} {verdict}" for verdict, count in found.tally().items())
        say(f"{len(found.claims)} numbers: {tally}; {len(found.figures)} figures and tables")
        say(f"{page}, papers.json and data/ written in {sum(found.seconds.values()):.0f} s")
    for claim in found.moved:
        say(f"leeward: {claim.key} is {claim.ours!r}, pinned at {claim.pin!r} ± {claim.tolerance}", err=True)
    if found.moved:
        raise typer.Exit(1)
