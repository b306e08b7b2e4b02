# SPDX-License-Identifier: Apache-2.0
"""``leeward check``: what a release would count and look like, for the curator alone, before anything is paid."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leeward._plain import counted
from leeward.cli._output import AcceptUseless, facts, print_json, print_parts, progress_shown, say, table
from leeward.query._reasons import said
from leeward.query._statistic import Statistic
from leeward.query._unlisted_groups import UnlistedGroups

if TYPE_CHECKING:
    from leeward.session._check import Checked

FOR_CURATOR = "For the curator only: facts about the data, which no promise covers. Do not publish them."


def check(
    spec: Annotated[Path, typer.Argument(help="The spec, a TOML file.", metavar="SPEC.toml")],
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
    from leeward.session._check import check as looked_at
    from leeward.session._check import refused_together, total
    from leeward.session._together import naming
    from leeward.spec import read_questions
    from leeward.spec._questions import planned

    read = read_questions(spec)
    plans, budget = planned(read), next(iter(read.values())).ledger()
    found: dict[str, Checked] = {}
    for name, asked in plans.items():
        with naming(name), progress_shown(as_json) as progress:
            found[name] = looked_at(asked, budget, accept_useless=accept_useless, progress=progress)
    refusals = [f"{name}: {said}" if name else said for name, one in found.items() for said in one.refusals]
    refusals += refused_together(list(found.values()), budget)
    if as_json:
        from leeward.cli._checked import checked

        told = [checked(one, budget, name).to_dict() for name, one in found.items()]
        print_json(told if len(told) > 1 else told[0])
    else:
        say(FOR_CURATOR)
        for name, one in found.items():
            if name:
                say(f"\n{name}\n{'=' * len(name)}")
            _print(one, budget.dataset)
        if len(found) > 1:
            say(f"\n{len(found)} questions at a total price of {total(list(found.values()))}.")
        say("\nNothing was charged or written.")
        if not refusals:
            say(f"Next, once all is as it should be: leeward release {spec} --out release")
    for refusal in refusals:
        say(f"leeward: a release would be refused. {refusal}", err=True)
    if refusals:
        raise typer.Exit(2)


def _print(found: Checked, dataset: str) -> None:
    print_parts("", facts([*_rows(found), *_keys(found), *_budget(found, dataset)], no_wrap=True))
    _print_stand_in(found)


_MOST_WINDOWS = 12


def _rows(found: Checked) -> Iterator[tuple[str, str]]:
    looks = found.looks
    yield "rows", f"{looks[0].rows:,} in the table"
    if len(looks) == 1:
        yield "counted", counted(looks[0].taken, "row")
    else:
        each = [look.taken for look in looks]
        yield "counted", f"{counted(sum(each), 'row')} in {len(looks)} windows"
        shown = ", ".join(f"{rows:,}" for rows in each[:_MOST_WINDOWS])
        yield "counted", f"window by window: {shown}{', …' if len(each) > _MOST_WINDOWS else ''}"
    for reason, number in found.dropped.items():
        if number:
            yield "not counted", said(reason, number)
    for over in dict.fromkeys(filter(None, found.over_bound)):
        yield "over the bound", over
    if found.survey.below or found.survey.above:
        beyond = f"{found.survey.below or 0:,} below, {found.survey.above or 0:,} above"
        yield "beyond the bounds", f"numbers of {beyond}: each counts as the bound that it is beyond"
    if looks[0].times is not None:
        first, last = looks[0].times
        yield "times", f"the data run from {first} to {last}"
        yield "times", _window(found)


def _window(found: Checked) -> str:
    windows = [each for made in found.plans if (each := made.counted.window) is not None]
    first, last = min(windows, key=lambda each: each.start), max(windows, key=lambda each: each.end)
    what = "the window runs" if len(windows) == 1 else f"the {len(windows)} windows run"
    return f"{what} from {first.public()['start']} to {last.public()['end']}"


def _keys(found: Checked) -> Iterator[tuple[str, str]]:
    from leeward.engine._matches import some

    matched = found.survey.matches
    if matched is None:
        return
    noun = found.plans[0].counted.noun
    title = f"{noun}s" if noun == "place" else "groups"
    one = title.removesuffix("s")
    asked = found.plans[0].counted
    listed = counted(matched.listed, one)
    if isinstance(asked, Statistic) and isinstance(asked.by, tuple):
        listed = f"{counted(matched.listed, 'value')} of {len(asked.by)} columns"
    yield title, f"{listed} listed, of which rows name {matched.named:,}, at any time"
    if matched.unlisted:
        yield title, f"rows name {matched.unlisted:,} more that {'is' if matched.unlisted == 1 else 'are'} not listed"
    for way, keys in matched.alike.items():
        yield f"{title} spelt otherwise", f"{len(keys):,} would match but for {way}: {some(keys)}"
    if matched.alike:
        yield f"{title} spelt otherwise", "as they stand, nobody counts there: correct one of the tables"
    if found.all_named and noun == "place":
        yield (
            title,
            (
                "every listed place is visited, and no other. If the list was made from the visits, it is no public list:"
                " being listed reveals that somebody was there. Take one that was made without them"
            ),
        )


def _budget(found: Checked, dataset: str) -> Iterator[tuple[str, str]]:
    from leeward.ledger._records import with_delta

    stands, stored = found.standing, sum(found.standing.answered)
    new = len(found.plans) - stored
    yield (
        "price",
        with_delta(found.price, found.delta)
        + f" for {counted(new, 'release')}"
        + (f"; {stored} more stored, and free" if stored else ""),
    )
    cap = "no cap is given"
    if stands.cap is not None:
        of_delta = f", and {stands.spent.delta} of {stands.cap.delta} of δ" if stands.cap.delta else ""
        cap = f"{stands.spent.epsilon} of {stands.cap.epsilon} spent{of_delta}"
    yield "price", f"budget of '{dataset}': {cap}"


def _print_stand_in(found: Checked) -> None:
    columns, rows = found.stand_in.column_names, found.stand_in.to_pylist()
    unlisted = isinstance(found.plans[0].counted, UnlistedGroups)
    answer = f"An answer has {'at most ' if unlisted else ''}{counted(found.answer_rows, 'row')}"
    say(f"\n{answer}. Drawn from made-up counts, which say nothing of the data, it begins:")
    shown = table(*columns, padding=(0, 2))
    for row in rows:
        shown.add_row(*("" if row[name] is None else str(row[name]) for name in columns))
    print_parts(shown)
