# SPDX-License-Identifier: Apache-2.0
"""A plan report as tables that fit a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, get_args

from leeward._plain import at_most, tabled_percent
from leeward.cli._output import facts, print_parts, table, table_of_options
from leeward.mechanism._threshold_rule import Word
from leeward.planner._people import at_most_people, people
from leeward.planner._report import AskedPart, DecidingOption, PlanReport
from leeward.planner._words import (
    epsilon,
    head,
    if_left_out,
    label,
    leaks,
    name,
    not_composed,
    notes,
    refused,
    short,
    wished,
)
from leeward.query._statistic import Noun

if TYPE_CHECKING:
    from rich.table import Table

    from leeward.planner._side_by_side import AnyReport

_TITLE = 21
"""Columns that titles may take."""


def print_compared(report: AnyReport) -> None:
    """Print a comparison of notions and mechanisms for one question."""
    if isinstance(report, PlanReport):
        print_plan(report)
        return
    from leeward.cli._answer_table import print_answers

    print_answers(report)


def print_plan(report: PlanReport) -> None:
    """Print what is known before anything is spent."""
    asked, shown = report.asked, report.shown
    print_parts(facts(head(asked), max_width=_TITLE))
    if report.refused_as_written:
        print_parts(f"\nAs written, `leeward release` refuses: {report.refused_as_written}")
    print_parts("", _rows(report))
    print_parts(_legend(report), style="dim")
    print_parts("", facts(_advice(report), max_width=_TITLE), "", facts(leaks(shown), max_width=_TITLE))
    rest = [*refused(report.options), *notes(report.options)]
    if rest:
        print_parts("", facts(rest, max_width=_TITLE))
    if asked.releases > 1:
        print_parts("", _together(shown, asked))
        for why in not_composed(shown):
            print_parts(why, style="dim")


def _rows(report: PlanReport) -> Table:
    asked, chosen = report.asked, report.chosen
    word: Word = asked.words[0]
    ends = asked.ends(word)
    said = "safe" if word == "safe" else "dang."
    headers = ["", "notion", "mechanism", "price\nε", "in the\nbudget", *(f"{said}\nat {c}" for c in ends)]
    headers += ["95%\nerror", "wrong\n≤", *(["right\ncalls"] if asked.counts else [])]
    made = table_of_options((header, i < 3) for i, header in enumerate(headers))
    for option in report.shown:
        at, decided = {point.count: point for point in option.curve}, option.decided.of(word)
        cells = ["→" if option is chosen else "", label(option.notion), option.mechanism, short(option.price)]
        cells.append("–" if option.price_in_budget is None else short(option.price_in_budget))
        cells += [tabled_percent(float(at[c].of(word)[0])) for c in ends]
        cells.append(str(option.errors.most))
        wrong = None if decided is None else decided.wrong_at_most
        cells.append("never" if wrong is None else at_most(float(Fraction(wrong)), 6))
        if option.expected is not None:
            cells.append(f"{option.expected.right:,.0f}")
        made.add_row(*cells, style="bold" if option is chosen else None)
    return made


def _legend(report: PlanReport) -> str:
    shown, noun = report.shown, report.asked.noun
    said = [*(["→ recommended."] if report.chosen else []), "95% error: of a published count."]
    if any(not option.never_wrong for option in shown):
        said.append(f"Wrong ≤: α, for one {report.asked.noun}.")
    if any(option.price_in_budget is None for option in shown):
        said.append("–: the budget's notion cannot cover it, whatever the price.")
    if any(option.mechanism == "everyone" for option in shown):
        said.append(
            "Everyone: 'safe' is about all who were there, not only those counted; geometric noise on the counts, and on the"
            " most people left out at any one place."
        )
    stopping = sorted({option.mechanism for option in shown} & {"sanitized", "adaptive"}, reverse=True)
    if stopping:
        whose = "the counts given" if report.asked.counts else f"{noun}s with {people(0, report.asked.many)}"
        said.append(
            f"{', '.join(stopping).capitalize()}: of {noun}s that are reached before it stops; only counts that came out"
            f" above the threshold are published, and their error is that for {whose}."
        )
    if report.asked.counts:
        said.append(
            f"Right calls: how many {report.asked.noun}s that are safe or dangerous are expected to be called so, of the"
            " counts given."
        )
    return " ".join(said)


def _advice(report: PlanReport) -> Iterable[tuple[str, str]]:
    advice, option = report.recommendation, report.chosen
    if option is None:
        yield "recommended", f"nothing. {advice.reason}"
    else:
        yield "recommended", f"{name(option)}. {advice.reason}"
        if "safe" in report.asked.words:
            yield "what ε, t?", _needed(option, report.asked)
        if option.answered_if_empty:
            answered = f"about {option.answered_if_empty:.3g} {report.asked.noun}s answered"
            yield "reach", f"{answered} on average, if all were empty"
        if option.expected:
            yield "expect", _expected(option, report.asked.noun)
    if advice.whom:
        yield "safe of whom?", advice.whom
    yield from (("if left out", odds) for odds in if_left_out(report.shown, report.asked))
    yield "plain DP?", advice.plain_dp
    # what is not protected is listed for every notion below
    yield from (("mind", sentence) for sentence in advice.cautions if not sentence.startswith("Not protected"))
    lacks: dict[str, list[str]] = {}
    for other in advice.gives_up:
        more = report.options[other.option]
        lacks.setdefault(other.what, []).append(f"{label(more.notion)} ({more.mechanism})")
    yield from (("says more", f"{', '.join(names)}: but {what}") for what, names in lacks.items())


def _needed(option: DecidingOption, asked: AskedPart) -> str:
    needed, t = option.epsilon_for_wish, option.safe_at_most_for_wish
    return (
        f"To call {wished(option, asked)} safe: "
        + ("no ε is enough" if needed is None else epsilon(needed.epsilon))
        + ("" if t is None else f"; or, at this ε, 'safe' must mean {at_most_people(t, asked.many)}")
    )


def _expected(option: DecidingOption, noun: Noun) -> str:
    expected, said = option.expected, []
    assert expected is not None
    for word in get_args(Word):
        right, truly, wrongly = expected.of(word)
        if truly is not None:
            spread = f" (± {expected.spread:.0f})" if word == "safe" and expected.spread is not None else ""
            said.append(f"{right:,.0f}{spread} of {truly:,} {word} {noun}s called {word}, {_few(wrongly)} others")
    if option.mechanism in ("sanitized", "adaptive"):
        published = expected.answered - expected.safe
        said.append(
            f"about {expected.answered:,.0f} answered, in a random order, {published:,.3g} of them with their noisy count"
        )
    if option.remapped_loss is not None:
        said.append(f"counts {option.remapped_loss:.3g} off on average after the best remap")
    return "; ".join(said)


def _few(number: float) -> str:
    return "no" if number == 0 else f"{number:.2g}"


def _together(shown: Iterable[DecidingOption], asked: AskedPart) -> Table:
    made = table(padding=(0, 1), header_style="bold")
    made.add_column(f"{asked.releases} releases together", no_wrap=True)
    for header in ("price ε", "in the budget", f"ε at δ = {asked.delta}"):
        made.add_column(header, justify="right", no_wrap=True)
    for option in shown:
        if (together := option.composed) is not None:
            made.add_row(
                name(option),
                short(together.price),
                "–" if together.price_in_budget is None else short(together.price_in_budget),
                "–" if together.worst is None else at_most(together.worst, 4),
            )
    return made
