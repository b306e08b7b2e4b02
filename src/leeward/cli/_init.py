# SPDX-License-Identifier: Apache-2.0
"""``leeward init``: from a table and what is public about it to a first spec, by five questions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leeward._plain import is_text, plain
from leeward._postgres import is_address
from leeward.cli._asked import answer, column, tell
from leeward.cli._asked import sheet as sheet_of
from leeward.cli._drafted_places import in_a_list, on_a_grid
from leeward.cli._drafted_promise import decision, drafted_plan, never_wrong, odds
from leeward.cli._drafted_query import ASKED, UNLISTED, Said, drafted_query, kept, kind_of
from leeward.cli._drafted_times import drafted_times
from leeward.cli._output import say, wrote
from leeward.errors import InputError, SpecError
from leeward.tables._guess import WHO, writing_of

if TYPE_CHECKING:
    from leeward.exact import Real
    from leeward.tables._detected import Detected


def init(
    data: Annotated[
        Path, typer.Argument(help="The private table: .csv, .tsv, .txt, .xlsx, .parquet or .geojson.", metavar="DATA")
    ],
    public: Annotated[
        Path | None, typer.Argument(help="The public list of places, or of groups, in a file too.", metavar="[LIST]")
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The spec to write; never over another file.")] = Path(
        "spec.toml"
    ),
    kind: Annotated[
        str | None, typer.Option("--kind", help="What is asked; with LIST, visitors.", metavar="|".join(ASKED))
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", help="Only rows whose column holds one of these: COLUMN=VALUE,VALUE; may be repeated."),
    ] = None,
    person: Annotated[
        str | None,
        typer.Option("--person", help='The column that says who; or "each row", of other kinds than visitors.'),
    ] = None,
    place: Annotated[str | None, typer.Option("--place", help="Visitors: the column of DATA that says where.")] = None,
    listed: Annotated[str | None, typer.Option("--listed", help="The column of LIST that says the same.")] = None,
    grid: Annotated[
        str | None,
        typer.Option("--grid", help="Visitors, without LIST: west,south,east,north,metres of a public grid."),
    ] = None,
    number: Annotated[str | None, typer.Option("--column", help="The column of the number.")] = None,
    lower: Annotated[str | None, typer.Option("--lower", help="The least number there may be: public.")] = None,
    upper: Annotated[str | None, typer.Option("--upper", help="The greatest: public.")] = None,
    step: Annotated[
        str | None, typer.Option("--step", help="What numbers are rounded to; the width of intervals.")
    ] = None,
    p: Annotated[str | None, typer.Option("--p", help="Percentiles, such as 25,50,75.")] = None,
    levels: Annotated[str | None, typer.Option("--levels", help="Public levels, such as 20,40,60.")] = None,
    group: Annotated[str | None, typer.Option("--group", help="The column of groups.")] = None,
    groups: Annotated[
        str | None, typer.Option("--groups", help="Without LIST: all groups there may be, with commas between.")
    ] = None,
    decimal: Annotated[
        str | None, typer.Option("--decimal", help="The decimal mark of the number.", metavar="comma|point")
    ] = None,
    combine: Annotated[
        str | None,
        typer.Option("--combine", help="What becomes of a person's several rows.", metavar="refuse|sum|min|max"),
    ] = None,
    time: Annotated[str | None, typer.Option("--time", help="The column that says when.")] = None,
    time_format: Annotated[
        str | None, typer.Option("--time-format", help='How times are written, such as "dd/mm/yyyy HH:MM".')
    ] = None,
    timezone: Annotated[str | None, typer.Option("--timezone", help="Their zone, such as Europe/Paris.")] = None,
    start: Annotated[str | None, typer.Option("--start", help="When to count from, such as 2026-03-02T19:00.")] = None,
    end: Annotated[str | None, typer.Option("--end", help="Up to when.")] = None,
    never: Annotated[
        str | None,
        typer.Option("--never", help="What must never be wrong.", metavar="safe|dangerous|neither|low|high|close"),
    ] = None,
    people: Annotated[
        int | None, typer.Option("--people", help="So many people are safe still; or dangerous already.")
    ] = None,
    epsilon: Annotated[str | None, typer.Option("--epsilon", help="What one release costs.")] = None,
    cap: Annotated[str | None, typer.Option("--cap", help="How much may be spent in all.")] = None,
    dataset: Annotated[str | None, typer.Option("--dataset", help="A public name of the data.")] = None,
    sheet: Annotated[str | None, typer.Option("--sheet", help="The sheet of DATA, if it is a workbook.")] = None,
    list_sheet: Annotated[str | None, typer.Option("--list-sheet", help="The sheet of LIST.")] = None,
) -> None:
    """Draft a spec: looks at DATA and LIST, asks five questions in plain words, and writes SPEC.toml.

    Who is a person, what is asked of them, when, what must never be wrong, and how much in all. What is detected of the
    files (delimiter, encoding, decimal mark, time format) is named back to you. No value of the data gets into the spec:
    ranges and groups are public, and you are asked for them. Without a terminal the answers are options.

    **Examples**

    * `leeward init visits.xlsx places.csv`
    * `leeward init visits.csv places.csv --person user --start 2026-03-02T19:00 --end 2026-03-02T20:00 --never safe`
    * `leeward init patients.xlsx wards.csv --kind count --person patient --never safe --people 4`
    * `leeward init meters.csv --kind mean --person meter --column kwh --lower 0 --upper 50`
    """
    from leeward.spec._draft import written
    from leeward.spec._first_question import protected
    from leeward.tables._detected import detected

    if os.path.lexists(out):
        raise InputError(f"The spec '{out}'", "it is there already, and would be lost", "Name another with --out")
    if not os.path.isdir(out.absolute().parent):
        raise InputError(
            f"The spec '{out}'", "there is no such folder", "Make the folder first, or name another with --out"
        )
    if public is not None and grid is not None:
        raise SpecError("Both LIST and --grid", "each is a public list", "Give one of them")
    for given in (data, *([] if public is None else [public])):
        if is_address(str(given)):
            raise InputError(
                "The address of a database",
                "a first spec is drafted from files, whose columns are looked at",
                "Draft it from a file with the same columns, and then write the address, and visits_table, into the spec",
            )
    sheet = sheet_of(str(data), "--sheet", sheet)
    table = detected(str(data), sheet)
    tell(f"{data}: {_described(table)}")
    list_sheet = None if public is None else sheet_of(str(public), "--list-sheet", list_sheet)
    if public is not None and os.path.realpath(public) == os.path.realpath(data) and list_sheet == sheet:
        raise InputError(
            f"LIST '{public}'",
            "it is the private table itself: being listed would reveal that somebody is in it",
            "Name a list that was made without it",
        )
    listing = None if public is None else detected(str(public), list_sheet)
    if listing is not None:
        tell(f"{public}: {_described(listing)}")
    kind = kind_of(kind, "--grid" if grid is not None else None if public is None else "LIST")
    said = Said(number, lower, upper, step, p, levels, group, groups, combine, decimal)
    said.refuse_unmeant(kind)
    visits = kind == "visitors"
    for option, value in (("--place", place), ("--grid", grid)):
        if value is not None and not visits:
            raise SpecError(f"{option} with --kind {kind}", "it is about places that people visit", "Leave it out")
    read: dict[str, Any] = {"visits" if visits else "table": _relative(data, out)}
    read |= ({} if sheet is None else {"visits_table": sheet}) | writing_of(table)
    tell("1. Who is a person?")
    rows = None if visits else "each row"
    who = 'the column that says who; or "each row", if nobody has two' if rows else "the column that says who"
    read["person"] = column(who, "--person", person, table, WHO, assumed=False, instead=rows)
    read |= {"keep": kept(keep, table)} if keep else {}
    sections: dict[str, dict[str, Any]] = {"data": read}
    if visits:
        tell("2. What is a place?")
        if public is None or listing is None:
            sections["places"], where = on_a_grid(table, grid)
        else:
            more, where = in_a_list(table, listing, place, listed)
            sheet_of_list = {} if list_sheet is None else {"places_table": list_sheet}
            sections["places"] = {"table": _relative(public, out)} | sheet_of_list | more
    else:
        tell("2. What is counted, or added up?")
        of_groups = None if public is None or listing is None else (str(public), listing, list_sheet)
        sections["query"], where = drafted_query(kind, table, of_groups, listed, said, read["person"])
    tell("3. When?")
    when, window = drafted_times(table, time, time_format, timezone, start, end, needed=visits)
    read |= where | when
    sections |= {"window": window} if window else {}
    tell("4. What must never be wrong?")
    side = never_wrong(never, sections.get("query", {}), by_row=sections["data"]["person"] == "each row")
    decide = decision(side, people)
    tell("5. How much in all? A release costs its epsilon: a smaller one protects more, and says less.")
    sections["protect"] = protected(side, "1", visits=visits) | (_UNLISTED if kind == UNLISTED else {})
    if kind == UNLISTED and read["person"] != rows:
        sections["protect"] |= {"groups_per_person": 1, "if_more": "first"}
    sections |= {"decide": decide} if decide else {}
    name = data.stem.partition(".")[0]
    sections["budget"] = {"ledger": "budget.db", "dataset": name, "cap": "1"}
    sections["budget"] |= {"cap_delta": "1e-5"} if kind == UNLISTED else {}
    drafted_plan(sections, out.absolute().parent)  # what no epsilon mends is not asked about again and again
    chances = list[str]()

    def priced(cost: str) -> None:
        _amount(cost)
        sections["protect"]["epsilon"] = cost
        chances[:] = odds(sections, out.absolute().parent)

    cost = answer("epsilon of one release", "--epsilon", epsilon, "1", priced)

    def allows(most: str) -> None:
        if _amount(most) < _amount(cost):
            raise SpecError(f"--cap {plain(most)}", f"one release costs {plain(cost)} already", "Give a larger one")

    usual = "4" if _amount(cost) <= 4 else cost
    most = answer("the cap: the most that all releases together may cost", "--cap", cap, usual, allows)
    called = answer("a public name of the data, for its budget", "--dataset", dataset, name, _named)
    sections["budget"] |= {"dataset": called}
    sections["budget"] |= {"cap": most}
    _write(out, written(sections, chances))
    wrote(out)
    say("\n".join([f"Wrote {out}.", *chances, f"Next: leeward check {out}"]))


def _write(out: Path, text: str) -> None:
    """Write a file that is not there, whole or not at all: half a spec may be read as another one."""
    from leeward.outputs._disk import said, write_new

    with said(out):
        write_new(out.absolute(), text.encode())


_UNLISTED = {"delta": "1e-6"}
"""What groups that nobody has listed need beside."""


def _amount(text: str) -> Real:
    from leeward.exact._real import positive

    return positive(text, "the amount")


def _named(text: str) -> None:
    if not (text.strip() and is_text(text)):
        raise SpecError("--dataset", "it is empty or not plain text", "Give the data a public name")


def _described(table: Detected) -> str:
    named = ", ".join(f"{plain(one.name)} ({one.looks})" for one in table.columns)
    written = [] if table.delimiter is None else [f"separated by {_SIGNS[table.delimiter]}"]
    if table.encoding is not None:
        written.append(f"in {table.encoding}, as far as can be seen: look at names with accents")
    if commas := [plain(one.name) for one in table.columns if one.comma]:
        written.append(f"with decimal commas in {', '.join(commas)}")
    return "; ".join([named, *written])


_SIGNS = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas"}


def _relative(file: Path, out: Path) -> str:
    return os.path.relpath(file, out.absolute().parent)
