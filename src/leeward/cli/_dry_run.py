# SPDX-License-Identifier: Apache-2.0
"""``leeward release --dry-run``: statement, price and odds, and what a release would refuse; no data is read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from leeward._plain import at_most, probability
from leeward.cli._output import facts, print_json, print_parts, say, table

if TYPE_CHECKING:
    from leeward._statement import Statement, UnlistedStatement
    from leeward.ledger._records import Amount
    from leeward.planner._selection_plan import AnyPlan
    from leeward.session._budget import Budget
    from leeward.session._dry_run import DryRun


def print_dry_run(
    asked: Mapping[str, Sequence[AnyPlan]],
    budget: Budget,
    *,
    accept_useless: Collection[str],
    quiet: bool,
    as_json: bool,
) -> None:
    """Print what releases would be, and then refuse what they would refuse: the reason can be read above."""
    from leeward.session._together import naming

    found = dry_runs(asked, budget)
    if as_json:
        print_json([statement.to_dict() for one in found.values() for statement in one.statements])
    elif not quiet:
        for name, one in found.items():
            if name:
                say(f"{name}\n{'=' * len(name)}")
            _print_question(one)
            say()
        _print_price(list(found.values()))
    if len(found) > 1:
        from leeward.session._standing import refuse_total

        stands = next(iter(found.values())).stands
        refuse_total(prices_of(found.values()), stands.balance, budget.dataset, what="releases")
    for name, one in found.items():
        with naming(name):
            _refuse(one, budget.dataset, None if name in accept_useless else one.keys)


def dry_runs(asked: Mapping[str, Sequence[AnyPlan]], budget: Budget) -> dict[str, DryRun]:
    """Return what releases of several questions would be; reads the public lists and the ledger, never the data.

    Raises:
        LeewardError: one is refused; the message names the question.
    """
    from leeward.session._dry_run import dry_run
    from leeward.session._together import naming

    found: dict[str, DryRun] = {}
    opens_in: str | None = None
    for name, plans in asked.items():
        with naming(name):
            found[name] = dry_run(plans, budget, opens_in)
            opens_in = found[name].stands.counted_in
    return found


def prices_of(found: Iterable[DryRun]) -> list[Amount]:
    """Return what several questions are charged now: what two of them ask is paid for once."""
    return list({key: price for one in found for key, price in one.prices.items()}.values())


def _print_question(one: DryRun) -> None:
    _print_statement(one.statements[0])
    _print_same_price(one.plans[0])
    if len(one.plans) > 1:
        say(f"\n{len(one.plans)} windows, one release each.")


def _print_price(found: Sequence[DryRun]) -> None:
    from leeward.ledger._records import NOTHING

    plans = [made for one in found for made in one.plans]
    known = sum(sum(one.stands.answered) for one in found)
    free = f" Answered before, at no further cost: {known} of these releases." if known else ""
    if len(found) == 1:
        total = price_of(plans, found[0].paid, found[0].stands.counted_in, " in all")
    else:
        own = "; ".join(price_of(one.plans, one.paid, one.stands.counted_in) for one in found)
        once = {key: price for one in found for key, price in zip(one.keyed, one.paid, strict=True)}
        total = f"{sum(once.values(), NOTHING)} in all, of {len(found)} questions ({own})"
    say(f"Price: {total}.{free} Nothing was charged and no data was read.")


def price_of(plans: Sequence[AnyPlan], paid: Sequence[Amount], counted_in: str, in_all: str = "") -> str:
    """Say what plans cost: in ε of their notion, and of the budget where that is another number; and in δ."""
    from leeward.accounting._budget_notion import in_words
    from leeward.ledger._records import NOTHING

    own, charged = sum((made.price for made in plans[1:]), plans[0].price), sum(paid, NOTHING)
    other = f", for which {charged.epsilon} is taken from a budget in {in_words(counted_in)}"
    with_delta = f", with δ = {charged.delta}" if charged.delta else ""
    return f"{own}{in_all}{'' if own == charged.epsilon else other}{with_delta}"


def _print_same_price(made: AnyPlan) -> None:
    """Print what else the price of a plan would buy, where that is another promise, or releases one by one."""
    from leeward.planner._same_price import same_price

    if rows := same_price(made):
        print_parts("", facts(rows))


def _refuse(one: DryRun, dataset: str, useful_over: int | None) -> None:
    """Refuse what a release of a question would refuse for its budget or as useless."""
    from leeward.planner._useless import refuse_useless
    from leeward.session._standing import refuse_total

    if not one.new:
        return
    prices = list(one.prices.values())
    refuse_total(prices, one.stands.balance, dataset)
    if useful_over is not None:
        for made, _ in one.new:
            refuse_useless(made, useful_over)
    one.stands.refuse(prices, dataset)


_MOST_ROWS = 15
"""Of a long curve so many rows up to where each word ends are printed, and about as many others; release.json has all."""


def _print_statement(statement: Statement) -> None:
    from leeward._statement import AdaptiveStated, DecidingStatement, SanitizedStated, UnlistedStatement
    from leeward.planner._people import if_left_out, those_there
    from leeward.report._words import factor, of_counted

    notion, mechanism = statement.notion, statement.mechanism
    said = [
        ("question", statement.query.text),
        ("notion", f"{notion.name}, {statement.strength}, per {notion.unit}"),
        ("means", f"{notion.definition}. {factor(statement)}"),
        ("protected", notion.protects),
        ("not protected", notion.does_not_protect or "nothing"),
        ("stays possible", notion.alternative),
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
    curve.add_column(those_there(asked.noun, asked.many, counted=of_counted(statement)), justify="right")
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
    if statement.decision.safe_if_left_out:
        say(f"\nThese chances hold {if_left_out(statement.decision.left_out)}.")


def _print_odds(statement: UnlistedStatement) -> None:
    """Print how often a group reaches the threshold, by how many are in it."""
    accuracy, odds = statement.accuracy, table(padding=(0, 2))
    odds.add_column(f"{accuracy.counted} in a group", justify="right")
    odds.add_column("it reaches the threshold with probability", justify="right")
    for each in accuracy.odds:
        odds.add_row(f"{each.people:,}", probability(float(each.chance), 3))
    print_parts("", odds)
    most = "" if accuracy.off_by_at_most is None else f", and never more than {accuracy.off_by_at_most:,}"
    say(
        f"\nThe noise of a count is {at_most(accuracy.mean_absolute)} on average, {accuracy.within_95_percent:,} or less"
        f" with 95 %{most}. Of the groups that reach the threshold, {statement.query.most_groups:,} are shown at most."
    )
