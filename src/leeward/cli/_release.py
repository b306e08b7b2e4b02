# SPDX-License-Identifier: Apache-2.0
"""``leeward release``: from a spec to a published list of places that are truly safe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leeward._plain import at_most, counted, plain, probability
from leeward.cli._opening import NewBudget, Opening, Yes, opening, refuse_within, saved_if_refused
from leeward.cli._output import (
    AcceptUseless,
    IfDoubtful,
    facts,
    print_json,
    print_notes,
    print_parts,
    progress_shown,
    say,
    table,
    wrote,
)
from leeward.errors import SpecError

if TYPE_CHECKING:
    from leeward._statement import Statement, UnlistedStatement, WindowStated
    from leeward.cli._balances import Balance
    from leeward.cli._released import Named, Numbers, Places
    from leeward.ledger._records import Amount
    from leeward.planner._selection_plan import AnyPlan
    from leeward.session._budget import Budget
    from leeward.session._standing import Standing


def release(
    spec: Annotated[Path, typer.Argument(help="The spec, a TOML file.", metavar="SPEC.toml")],
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
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but refusals.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
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
    from leeward.session._release import check_if_doubtful
    from leeward.spec import read_spec

    check_if_doubtful(if_doubtful)
    read = read_spec(spec)
    plans = read.plans()
    budget = read.ledger()
    if dry_run:
        _dry_run(plans, budget, accept_useless=accept_useless, quiet=quiet, as_json=as_json)
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
        accept_useless=accept_useless,
        quiet=quiet,
        as_json=as_json,
        asked=asked,
    )


def publish(
    plans: Sequence[AnyPlan],
    budget: Budget,
    out: Path,
    *,
    if_doubtful: Any = "refuse",
    accept_useless: bool = False,
    quiet: bool,
    as_json: bool,
    asked: Callable[[], Opening] | None = None,
) -> None:
    """Carry out plans, write them to ``out``, and print what happened.

    Args:
        plans: one a window.
        budget: where the price is charged.
        out: the directory.
        if_doubtful: see `leeward.release`.
        accept_useless: see `leeward.release`.
        quiet: print nothing.
        as_json: print JSON.
        asked: asks whether a new budget may be opened, once the directory is prepared; None if that is known.
    """
    from leeward.cli._released import released
    from leeward.session._release import release_priced
    from leeward.session._result import folder_names, saving
    from leeward.session._session import Session

    windows = [made.counted.window for made in plans]
    names = folder_names([each.public() for each in windows if each is not None]) if len(plans) > 1 else [""]
    refuse_within(out, budget, plans[0].counted)
    with saving(out, names) as save:
        opened = Opening(budget, None) if asked is None else asked()
        with progress_shown(quiet) as progress:
            session = Session(plans[0].counted, opened.budget, progress=progress)
        with session:
            priced = session.price(plans)
            if len(plans) > 1 and not quiet and not as_json:
                paid, counted_in = [one.amount for one in priced], priced[0].counted_in
                known = [one.plan for one in priced]  # with the length of the public list
                total = _price(known, paid, counted_in)
                say(f"{len(plans)} windows at {known[0].price} each: a total price of at most {total}.")
            with saved_if_refused(save, opened, quiet) as done, progress_shown(quiet) as session.progress:
                releases = release_priced(
                    session, priced, if_doubtful=if_doubtful, accept_useless=accept_useless, done=done
                )
            with progress_shown(quiet) as progress:
                progress("writing the report")
                wrote(save(releases))
    if not quiet:
        for each in releases:
            print_notes(each.curator)
    result = released(out, releases, budget)
    if as_json:
        print_json(result.to_dict())
    elif not quiet:
        for made, one in zip(plans, result.releases, strict=True):
            say(_sentence(made, one))
        left = result.budget
        say(f"Budget of {left.dataset}: {left.spent} of {left.cap} spent, {left.left} left.{_of_delta(left)}")
        report = out / "report.html" if len(releases) == 1 else out
        say(f"The report is at {report}")
    opened.say(releases, quiet)


def _of_delta(left: Balance) -> str:
    if left.cap_delta == "0":
        return ""
    return f" Of δ {left.spent_delta} of {left.cap_delta} spent, {left.left_delta} left."


def _sentence(made: AnyPlan, one: Places | Numbers | Named) -> str:
    from leeward.cli._released import Named, Numbers
    from leeward.planner._unlisted_plan import UnlistedPlan

    paid = f"Charged {one.charged}." if one.charged != "0" else "A stored answer: charged nothing."
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
    lines = ["  ".join(_written(name, value) for name, value in row.items()) for row in answers[:20]]
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
    many, counted, said = made.query.many, made.counted_so, list[str]()
    counted = "" if counted.endswith("those counted") else counted.removeprefix(",")
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


def _price(plans: Sequence[AnyPlan], paid: Sequence[Amount], counted_in: str, in_all: str = "") -> str:
    """Say what plans cost: in ε of their notion, and of the budget where that is another number; and in δ."""
    from leeward.accounting._budget_notion import in_words
    from leeward.ledger._records import NOTHING

    own, charged = sum((made.price for made in plans[1:]), plans[0].price), sum(paid, NOTHING)
    other = f", for which {charged.epsilon} is taken from a budget in {in_words(counted_in)}"
    with_delta = f", with δ = {charged.delta}" if charged.delta else ""
    return f"{own}{in_all}{'' if own == charged.epsilon else other}{with_delta}"


def _dry_run(plans: Sequence[AnyPlan], budget: Budget, *, accept_useless: bool, quiet: bool, as_json: bool) -> None:
    """Print what a release would be, and then refuse what it would refuse: the reason can be read above."""
    from leeward._statement import NOT_YET, BudgetStated
    from leeward.accounting._budget_notion import charge, in_words
    from leeward.accounting._price_of_delta import charge_delta
    from leeward.engine import read_keys
    from leeward.ledger._balance import fixed
    from leeward.ledger._records import Amount
    from leeward.planner._unlisted_plan import delta_of
    from leeward.session._standing import standing
    from leeward.session._statement import privacy_statement

    keys = read_keys(plans[0].counted)
    count = len(keys)
    plans, rows = [made.listing(count) for made in plans], plans[0].counted.of_rows
    stands = standing(budget, plans[0].notion, plans, keys.digest(), rows=rows)
    counted_in = stands.counted_in
    # what has no price in the budget is refused
    paid = [
        Amount(
            charge(made.notion, made.price, counted_in, rows=rows),
            charge_delta(made.notion, delta_of(made), counted_in),
        )
        for made in plans
    ]
    new = [(made, price) for made, price, known in zip(plans, paid, stands.answered, strict=True) if not known]
    # a spec without a cap is not finished: nothing is printed of it
    if new:
        fixed(None if stands.cap is None else stands.cap.epsilon, budget.dataset)
    taken = [BudgetStated(notion=in_words(counted_in), price=str(price.epsilon)) for price in paid]
    statements = [
        privacy_statement(
            made,
            places=count,
            dataset=budget.dataset,
            version=budget.version,
            published=NOT_YET.model_copy(update={"budget": each}),
        )
        for made, each in zip(plans, taken, strict=True)
    ]
    if as_json:
        print_json([statement.to_dict() for statement in statements])
    elif not quiet:
        _print_statement(statements[0])
        _print_both_promises(plans[0])
        _print_one_each(plans[0])
        if len(plans) > 1:
            say(f"\n{len(plans)} windows, one release each.")
        free = (
            f" Answered before, at no further cost: {known} of these releases."
            if (known := sum(stands.answered))
            else ""
        )
        say(f"\nPrice: {_price(plans, paid, counted_in, ' in all')}.{free} Nothing was charged and no data was read.")
    if new:
        made_new, amounts = zip(*new, strict=True)
        _refuse(made_new, amounts, budget.dataset, stands, None if accept_useless else count)


def _print_both_promises(made: AnyPlan) -> None:
    """Where a bound leaves people out, print how often *safe* is said of those counted and of everyone, at this price."""
    from leeward.planner._both_promises import both_promises
    from leeward.planner._plan import Plan

    if isinstance(made, Plan) and (odds := both_promises(made)):
        print_parts("", facts(odds))


def _print_one_each(made: AnyPlan) -> None:
    """Of several percentiles, print how near one release of each would be, at this price."""
    from leeward.planner._one_each import joint_or_each

    if rows := joint_or_each(made):
        print_parts("", facts(rows))


def _refuse(
    new: Sequence[AnyPlan], prices: Sequence[Amount], dataset: str, stands: Standing, useful_over: int | None
) -> None:
    """Refuse what a release of these plans, at these prices, would refuse for its budget or as useless."""
    from leeward.planner._useless import refuse_useless
    from leeward.session._standing import refuse_total

    refuse_total(prices, stands.balance, dataset)
    if useful_over is not None:
        for made in new:
            refuse_useless(made, useful_over)
    stands.refuse(prices, dataset)


_MOST_ROWS = 15
"""Of a long curve so many rows up to where each word ends are printed, and about as many others; release.json has all."""


def _print_statement(statement: Statement) -> None:
    from leeward._statement import AdaptiveStated, DecidingStatement, SanitizedStated, UnlistedStatement
    from leeward.planner._people import there
    from leeward.report._words import factor

    notion, mechanism = statement.notion, statement.mechanism
    said = [
        ("question", statement.query.text),
        ("notion", f"{notion.name}, ε = {notion.epsilon}, per {notion.unit}"),
        ("means", f"{notion.definition}. {factor(statement)}"),
        ("protected", notion.protects),
        ("not protected", notion.does_not_protect or "nothing"),
        ("cover", notion.cover),
        ("mechanism", mechanism.text),
    ]
    if isinstance(mechanism, SanitizedStated | AdaptiveStated) and mechanism.expected_answered_if_empty is not None:
        assert isinstance(statement, DecidingStatement)
        reach = f"{mechanism.expected_answered_if_empty} {statement.query.noun}s answered on average"
        said.append(("reach", f"{reach}, if all were empty"))
    said += [("assumed", sentence) for sentence in statement.assumptions]
    said += [("guaranteed", sentence) for sentence in statement.guaranteed]
    said += [("not guaranteed", sentence) for sentence in statement.not_guaranteed]
    if isinstance(statement, UnlistedStatement):
        said.append(("delta", statement.delta.text))
    print_parts(facts(said, no_wrap=True))
    if isinstance(statement, UnlistedStatement):
        _print_odds(statement)
    if not isinstance(statement, DecidingStatement):
        return
    curve, asked = table(padding=(0, 2)), statement.query
    curve.add_column(f"{asked.many} {there(asked.noun)}", justify="right")
    for state, _ in statement.decision.said:
        curve.add_column(f"chance of being called {state}", justify="right")
    curve_shown = statement.decision.curve
    every = len(curve_shown) // _MOST_ROWS + 1 if len(curve_shown) > 2 * _MOST_ROWS else 1
    ends = {statement.decision.curve[-1].count, (statement.decision.safe_at_most or 0) + 5}
    for entry in curve_shown:
        if entry.count % every and not any(end - _MOST_ROWS <= entry.count <= end for end in ends):
            continue
        curve.add_row(str(entry.count), *(probability(Decimal(chance), 6) for chance in entry.said))
    print_parts("", curve)


def _print_odds(statement: UnlistedStatement) -> None:
    """Print how often a group is shown, by how many are in it."""
    told, odds = statement.accuracy, table(padding=(0, 2))
    odds.add_column(f"{told.counted} in a group", justify="right")
    odds.add_column("it is shown with probability", justify="right")
    for each in told.odds:
        odds.add_row(f"{each.people:,}", probability(float(each.chance), 3))
    print_parts("", odds)
    most = "" if told.off_by_at_most is None else f", and never by more than {told.off_by_at_most:,}"
    say(
        f"\nA count is off by {at_most(told.mean_absolute)} on average, by {told.within_95_percent:,} or less with 95"
        f" %{most} (of a group with {told.mostly_shown_from:,} {told.counted} or more)."
    )
