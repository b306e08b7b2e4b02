# SPDX-License-Identifier: Apache-2.0
"""``leeward init``: from a table of visits and a public list to a first spec, by five questions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leeward._plain import plain
from leeward._postgres import is_address
from leeward.cli._asked import answer, choice, column, tell
from leeward.cli._output import say, wrote
from leeward.errors import InputError, SpecError
from leeward.tables._guess import EAST, NAMED, NORTH, WHEN, WHERE, WHO, decimal_of, likely, times_of, writing_of

if TYPE_CHECKING:
    from leeward.tables._detected import Detected, Seen

_NEVER = {
    "safe": "a place that is called safe (few of the people counted were there) is never wrong",
    "dangerous": "a place that is called dangerous (many of the people counted were there) is never wrong",
    "neither": "each may be wrong once in a hundred times, and that somebody was not there is protected as well",
}


def init(
    data: Annotated[
        Path, typer.Argument(help="The visits: .csv, .tsv, .txt, .xlsx, .parquet or .geojson.", metavar="DATA")
    ],
    places: Annotated[
        Path | None, typer.Argument(help="The public list of places, in a file too.", metavar="[PLACES]")
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The spec to write; never over another file.")] = Path(
        "spec.toml"
    ),
    person: Annotated[str | None, typer.Option("--person", help="The column that says who.")] = None,
    place: Annotated[str | None, typer.Option("--place", help="The column of DATA that says where.")] = None,
    listed: Annotated[str | None, typer.Option("--listed", help="The column of PLACES that says the same.")] = None,
    grid: Annotated[
        str | None, typer.Option("--grid", help="Without PLACES: west,south,east,north,metres of a public grid.")
    ] = None,
    time: Annotated[str | None, typer.Option("--time", help="The column that says when.")] = None,
    time_format: Annotated[
        str | None, typer.Option("--time-format", help='How times are written, such as "dd/mm/yyyy HH:MM".')
    ] = None,
    timezone: Annotated[str | None, typer.Option("--timezone", help="Their zone, such as Europe/Paris.")] = None,
    start: Annotated[str | None, typer.Option("--start", help="When to count from, such as 2026-03-02T19:00.")] = None,
    end: Annotated[str | None, typer.Option("--end", help="Up to when.")] = None,
    never: Annotated[
        str | None, typer.Option("--never", help="What must never be wrong.", metavar="safe|dangerous|neither")
    ] = None,
    people: Annotated[
        int | None, typer.Option("--people", help="So many people are safe still; or dangerous already.")
    ] = None,
    epsilon: Annotated[str | None, typer.Option("--epsilon", help="What one release costs.")] = None,
    cap: Annotated[str | None, typer.Option("--cap", help="How much may be spent in all.")] = None,
    dataset: Annotated[str | None, typer.Option("--dataset", help="A public name of the data.")] = None,
    sheet: Annotated[str | None, typer.Option("--sheet", help="The sheet of DATA, if it is a workbook.")] = None,
    places_sheet: Annotated[str | None, typer.Option("--places-sheet", help="The sheet of PLACES.")] = None,
) -> None:
    """Draft a spec: looks at DATA and PLACES, asks five questions in plain words, and writes SPEC.toml.

    Who is a person, what is a place, when, what must never be wrong, and how much in all. What is detected of the files
    (delimiter, encoding, decimal mark, time format) is named back to you. No value of the data gets into the spec. Without a
    terminal the answers are options: --person, --start, --end and --never at least.

    **Examples**

    * `leeward init visits.xlsx places.csv`
    * `leeward init visits.csv places.csv --person user --start 2026-03-02T19:00 --end 2026-03-02T20:00 --never safe`
    """
    from leeward.spec import check_spec
    from leeward.spec._draft import Draft, odds_of
    from leeward.tables._detected import detected

    if os.path.lexists(out):
        raise InputError(f"The spec '{out}'", "it is there already, and would be lost", "Name another with --out")
    if places is not None and grid is not None:
        raise SpecError("Both PLACES and --grid", "each is a public list", "Give one of them")
    for given in (data, *([] if places is None else [places])):
        if is_address(str(given)):
            raise InputError(
                "The address of a database",
                "a first spec is drafted from files, whose columns are looked at",
                "Draft it from a file with the same columns, and then write the address, and visits_table, into the spec",
            )
    visits = detected(str(data), sheet)
    tell(f"{data}: {_described(visits)}")
    keys = {"visits": _relative(data, out)} | ({} if sheet is None else {"visits_table": sheet}) | writing_of(visits)
    tell("1. Who is a person?")
    keys["person"] = column("the column that says who", "--person", person, visits, WHO, assumed=False)
    tell("2. What is a place?")
    if places is None:
        public, where = _on_a_grid(visits, grid)
    else:
        listing = detected(str(places), places_sheet)
        tell(f"   {places}: {_described(listing)}")
        public = {"table": _relative(places, out)} | ({} if places_sheet is None else {"places_table": places_sheet})
        more, where = _in_a_list(visits, listing, place, listed)
        public |= more
    tell("3. When?")
    keys |= where | _times(visits, time, time_format, timezone)
    tell("   Count from when to when? The window is public: choose it without looking at the data.")
    begin = answer("start, such as 2026-03-02T19:00", "--start", start, check=_moment)
    stop = answer("end, which does not belong to it", "--end", end, check=_moment)
    tell("4. What must never be wrong?")
    never = choice("--never", never, _NEVER)
    many = _threshold(never, people)
    tell("5. How much in all? A release costs its epsilon: a smaller one protects more, and says less.")
    cost = answer("epsilon of one release", "--epsilon", epsilon, "1", _amount)
    most = answer("the cap: the most that all releases together may cost", "--cap", cap, "4", _amount)
    name = answer("a public name of the data, for its budget", "--dataset", dataset, data.stem.partition(".")[0])
    chosen: Any = never
    draft = Draft(keys, public, begin, stop, chosen, many, cost, most, name, "budget.db")
    made: Any = check_spec(draft.sections(), folder=out.absolute().parent).plans()[0]
    odds = odds_of(made)
    with open(out, "x", encoding="utf-8", newline="\n") as file:
        file.write(draft.text(odds))
    wrote(out)
    say(f"Wrote {out}. {odds}\nNext: leeward check {out}")


def _on_a_grid(visits: Detected, grid: str | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the keys of a grid, and those of the visits that say where."""
    names = [one.name for one in visits.columns if one.looks in ("numbers", "whole numbers")]
    north, east = likely(names, NORTH), likely(names, EAST)
    if north is None or east is None:
        raise SpecError(
            "No PLACES, and no columns called latitude and longitude",
            "a public list of places, or a grid over a public box, says what the answers are about",
            "Name the list: leeward init DATA PLACES",
        )
    text = answer(
        "a public box, and the length of its squares: west,south,east,north,metres", "--grid", grid, check=_box
    )
    return {"grid": _box(text)}, {"latitude": north, "longitude": east} | decimal_of(visits, north, east)


def _box(text: str) -> dict[str, float]:
    try:
        west, south, east, north, metres = (float(part) for part in text.split(","))
    except ValueError:
        raise SpecError(
            f"--grid {plain(text)}", "it is not five numbers with commas between", "Give west,south,east,north,metres"
        ) from None
    return {"west": west, "south": south, "east": east, "north": north, "metres": metres}


def _in_a_list(
    visits: Detected, listing: Detected, place: str | None, listed: str | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the keys of a list, and those of the visits that say where."""
    both = [one.name for one in visits.columns if one.name in {other.name for other in listing.columns}]
    usual = (*filter(None, [likely(both, WHERE)]), *both, *WHERE)  # what both tables have goes before what is called so
    where = column("the column of the visits that says where", "--place", place, visits, usual, assumed=True)
    what = "the column of the list that says the same"
    public: dict[str, Any] = writing_of(listing)
    public["place"] = column(what, "--listed", listed, listing, (where, *WHERE), assumed=True)
    numbers = [one.name for one in listing.columns if one.looks in ("numbers", "whole numbers")]
    texts = [one.name for one in listing.columns if one.looks == "texts" and one.name != public["place"]]
    north, east, name = likely(numbers, NORTH), likely(numbers, EAST), likely(texts, NAMED)
    if north is not None and east is not None:
        public |= {"latitude": north, "longitude": east} | decimal_of(listing, north, east)
    else:
        tell(
            "   No coordinates were recognised: the report will have no map, unless [places] names latitude and longitude."
        )
    return public | ({} if name is None else {"name": name}), {"place": where}


def _times(visits: Detected, time: str | None, form: str | None, timezone: str | None) -> dict[str, str]:
    """Return the keys that say when, and what times are."""
    timely = [one.name for one in visits.columns if one.looks.startswith("times") or one.formats or one.unit]
    usual = (
        *filter(None, [likely(timely, WHEN)]),
        *timely,
        *WHEN,
    )  # what looks like times goes before what is called so
    name = column("the column that says when", "--time", time, visits, usual, assumed=True)
    seen = next(one for one in visits.columns if one.name == name)
    if form is None and seen.formats:
        form = _format(seen)
    elif form is None and seen.unit is not None:
        tell(f"   Times are whole numbers since 1970, in {seen.unit}.")
    elif form is None and seen.looks == "times with an offset" and timezone is None:
        timezone = answer("the time zone of the window, such as Europe/Paris", "--timezone", None)
    return times_of(seen, form, timezone)


def _format(seen: Seen) -> str:
    if len(seen.formats) == 1:
        tell(f"   Times are written as {seen.formats[0]}.")
        return seen.formats[0]
    tell("   Every time of the file fits several formats:")
    return choice("--time-format", None, {form: _EXAMPLES.get(form[:2], "") for form in seen.formats})


_EXAMPLES = {"dd": "the third of February is 03/02", "mm": "the third of February is 02/03"}


def _moment(text: str) -> None:
    from leeward.query import moment

    moment("start", text)


def _amount(text: str) -> None:
    from leeward.exact._real import positive

    positive(text, "the amount")


def _threshold(never: str, people: int | None) -> int:
    what = (
        "from how many people on is a place dangerous" if never == "dangerous" else "up to how many people is it safe"
    )
    default = "50" if never == "dangerous" else "2"

    def check(text: str) -> None:
        if not text.isdecimal() or len(text) > 9:
            raise SpecError(f"--people {plain(text)}", "it is not a number of people", "Give one, such as 2")

    return int(answer(what, "--people", None if people is None else str(people), default, check))


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
