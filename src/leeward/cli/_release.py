# SPDX-License-Identifier: Apache-2.0
"""``leeward release``: from a spec to a published list of places that are truly safe."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leeward._plain import at_most, counted, plain
from leeward.cli._opening import NewBudget, Opening, Yes, opening, saved_if_refused
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
    print_notes_by_window,
    progress_shown,
    say,
    wrote,
)
from leeward.errors import SpecError

if TYPE_CHECKING:
    from leeward._statement import WindowStated
    from leeward.cli._balances import Balance
    from leeward.cli._released import Named, Numbers, Places
    from leeward.planner._selection_plan import AnyPlan
    from leeward.session._budget import Budget
    from leeward.session._result import Release
    from leeward.session._together import Together


def release(
    spec: SpecFile,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Directory for the release; made whole or not at all.")
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Print statement, price and decision curve. Touches no budget and no data."),
    ] = False,
    yes: Yes = False,
    new_budget: NewBudget = False,
    if_doubtful: IfDoubtful = "refuse",
    accept_useless: AcceptUseless = False,
    formats: Formats = "",
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Publish which places are safe, a statistic, or the busiest place, under the notion of the spec, and charge its budget.

    Writes answers.parquet, answers.csv, release.json (the privacy statement) and report.html into the directory, and
    replaces there only what it wrote and nobody changed. Asking the same question again shows the stored answer and charges
    nothing. The first release from a dataset opens its budget; you are told, and asked.

    **Examples**

    * `leeward release spec.toml --dry-run`
    * `leeward release spec.toml --out release/`
    * `leeward release spec.toml --out release/ --yes --json --quiet`
    """
    from leeward.session._together import check_if_doubtful
    from leeward.spec import read_questions
    from leeward.spec._questions import planned, useless_accepted

    check_if_doubtful(if_doubtful)
    read = read_questions(spec)
    plans, budget = planned(read), next(iter(read.values())).ledger()
    accepted = useless_accepted(read, every=accept_useless)
    if dry_run:
        from leeward.cli._dry_run import print_dry_run

        print_dry_run(plans, budget, accept_useless=accepted, quiet=quiet, as_json=as_json)
        return
    if out is None:
        raise SpecError("No --out", "a release needs a directory to be written to", "Give --out DIR, or --dry-run")

    def asked() -> Opening:
        return opening(budget, yes=yes, new=new_budget)

    publish(
        plans,
        budget,
        out,
        if_doubtful=if_doubtful,
        accept_useless=accepted,
        formats=names_in(formats),
        quiet=quiet,
        as_json=as_json,
        asked=asked,
    )


def publish(
    asked_for: Mapping[str, Sequence[AnyPlan]],
    budget: Budget,
    out: Path,
    *,
    if_doubtful: Any = "refuse",
    accept_useless: Collection[str] = (),
    formats: Sequence[str] = (),
    quiet: bool,
    as_json: bool,
    asked: Callable[[], Opening] | None = None,
) -> None:
    """Carry out the plans of questions, write them to ``out``, and print what happened.

    Args:
        asked_for: the plans of each question, one a window, by its name.
        budget: where the price is charged.
        out: the directory.
        if_doubtful: see `leeward.release`.
        accept_useless: the questions that are released though they would say next to nothing.
        formats: what is written for catalogues besides.
        quiet: print nothing.
        as_json: print JSON.
        asked: asks whether a new budget may be opened, once the directory is prepared; None if that is known.
    """
    from leeward.cli._released import released
    from leeward.session._before import refuse_within
    from leeward.session._result import saving
    from leeward.session._together import together

    for plans in asked_for.values():
        refuse_within(out, budget, plans[0].counted)
    folders = [name for name, plans in asked_for.items() for _ in plans]  # the windows of a question share one
    with saving(out, folders, overview=len(asked_for) > 1, formats=formats) as save:
        opened = Opening(budget, None) if asked is None else asked()
        with ExitStack() as stack:
            with progress_shown(quiet) as progress:
                made = stack.enter_context(together(asked_for, opened.budget, progress=progress))
            if not quiet and not as_json:
                _say_total(made)
            with saved_if_refused(save, opened, quiet) as done, progress_shown(quiet) as progress:
                made.watch(progress)
                releases = made.release(if_doubtful=if_doubtful, accept_useless=accept_useless, done=done)
            with progress_shown(quiet) as progress:
                progress("writing the report")
                wrote(save(releases))
    asked_by = [(name, plan) for name, plans in asked_for.items() for plan in plans]
    result = released(out, zip([name for name, _ in asked_by], releases, strict=True), budget)
    if not quiet:
        _say_notes(asked_for, releases, result.releases)
    if as_json:
        print_json(result.to_dict())
    elif not quiet:
        for (name, plan), one in zip(asked_by, result.releases, strict=True):
            say(f"{name}:\n{_sentence(plan, one)}" if name else _sentence(plan, one))
        left = result.budget
        say(f"Budget of {left.dataset}: {left.spent} of {left.cap} spent, {left.left} left.{_of_delta(left)}")
        say(f"The report is at {out / 'report.html'}")
    opened.say(releases, quiet)


def _say_notes(
    asked_for: Mapping[str, Sequence[AnyPlan]],
    releases: Sequence[Release],
    summaries: Sequence[Places | Numbers | Named],
) -> None:
    """Print the curator's notes on each release; of a question with many windows a line each."""
    made = zip([one.window for one in summaries], [one.curator for one in releases], strict=True)
    for name, plans in asked_for.items():
        each = list(itertools.islice(made, len(plans)))
        if len(each) > _FEW_WINDOWS:
            print_notes_by_window(each, name and f"of {name}")
            continue
        for window, notes in each:
            print_notes(notes, _which(name, window) if len(releases) > 1 else "")


_FEW_WINDOWS = 3
"""Of so many windows of a question the curator's notes are told one by one."""


def _which(name: str, window: WindowStated | None) -> str:
    """Tell one of several releases from the others: by its question, and its window."""
    return ", ".join(
        filter(None, [name and f"of {name}", "" if window is None else f"from {window.start} to {window.end}"])
    )


def _of_delta(left: Balance) -> str:
    if left.cap_delta == "0":
        return ""
    return f" Of δ {left.spent_delta} of {left.cap_delta} spent, {left.left_delta} left."


def _say_total(made: Together) -> None:
    """Say what several releases cost together, before the first is charged."""
    from leeward.cli._dry_run import price_of

    each = made.each  # with the length of the public list
    if len(each) == 1:
        return
    known, paid = [one.plan for one in each], [one.amount for one in each]
    if len(made.priced) == 1:
        total = price_of(known, paid, each[0].counted_in)
        say(f"{len(each)} windows at {known[0].price} each: a total price of at most {total}.")
        return
    stored, charged = (
        len({one.key for one in each if one.charged and (one.answer is not None) is answered})
        for answered in (True, False)
    )
    free = f" Answered before, at no further cost: {stored} of them." if stored else ""
    free += f" Charged before by a run that did not end, at no further cost: {charged} of them." if charged else ""
    say(f"{len(made.priced)} questions, {len(each)} releases: a total price of {made.total}.{free}")


def _sentence(made: AnyPlan, one: Places | Numbers | Named) -> str:
    from leeward.cli._released import Named, Numbers
    from leeward.ledger._records import with_delta
    from leeward.planner._unlisted_plan import UnlistedPlan

    charged = with_delta(one.charged, Fraction(one.charged_delta))
    paid = f"Charged {charged}." if charged != "0" else "It was paid for before: charged nothing."
    if isinstance(one, Numbers) and isinstance(made, UnlistedPlan):
        when = "" if one.window is None else f" {_during(one.window)[0].lower()}{_during(one.window)[1:]}"
        few = counted(len(one.answers), "group")
        shown = f"{few} by '{plain(made.query.by)}' shown{when}; of all others nothing is said"
        return f"{_answered(one.answers)}{shown}. {paid}"
    if isinstance(one, Named):
        return f"{_named(made, one)} {paid}"
    grouped = one.window is not None and made.counted.noun != "place"
    when = f"{_during(one.window)}:\n" if grouped else ""
    if isinstance(one, Numbers):
        return f"{when}{_answered(one.answers)}{paid}"
    return when + " ".join([*_decided(made, one), paid])


def _during(window: WindowStated | None) -> str:
    return "" if window is None else f"From {window.start} to {window.end}"


def _named(made: AnyPlan, one: Named) -> str:
    from leeward.planner._selection_plan import SelectionPlan

    assert isinstance(made, SelectionPlan)
    when = "" if one.window is None else f" from {one.window.start} to {one.window.end}"
    name = ", ".join(f"{key} {value}" for key, value in one.answer.items())
    return f"Named as the {one.which} {made.query.noun}{when}: {name}."


def _answered(answers: Sequence[dict[str, Any]]) -> str:
    lines = ["  ".join(map(plain, answers[0]))] if answers else []  # which number is the error is not to be guessed
    lines += ["  ".join(_written(name, value) for name, value in row.items()) for row in answers[:20]]
    more = [f"… and {len(answers) - 20:,} more in answers.parquet"] if len(answers) > 20 else []
    return "\n".join([*lines, *more, ""])


def _written(name: str, value: object) -> str:
    """Write a published value with all its digits, and an error that is kept rounded up; a name on one line."""
    if not isinstance(value, float):
        return plain(str(value))
    if name == "within_95_percent":
        return at_most(value)
    return str(int(value)) if value == int(value) else str(value)


def _decided(made: AnyPlan, one: Places) -> list[str]:
    from leeward.planner._people import at_most_people, people, places
    from leeward.planner._plan import Plan

    assert isinstance(made, Plan)
    many, counted, said = made.query.many, f" {made.counted_how}".rstrip(), list[str]()
    if made.about == "everyone":
        counted = " of all who were there"
    for state, number, meaning, decision in (
        ("safe", one.safe, f"{at_most_people(made.safe_at_most or 0, many)}{counted}", made.sanitizer),
        ("dangerous", one.dangerous, f"at least {people(made.dangerous_at_least or 0, many)}{counted}", made.alarm),
    ):
        if decision is not None and number is not None:
            trust = "never wrongly"
            if decision.error_at_most is not None:
                trust = f"each wrongly with probability at most {decision.error_at_most}"
            of = places(one.places, made.query.noun)
            said.append(f"{number:,} of {of} {'is' if number == 1 else 'are'} said to be {state} ({meaning}), {trust}.")
    if one.answered is not None:
        said.append(f"{one.answered:,} {'was' if one.answered == 1 else 'were'} answered before the stop.")
    return said
