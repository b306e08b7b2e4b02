# SPDX-License-Identifier: Apache-2.0
"""A release in plain words: the sentences of the report that follow from the statement and the published answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc

from leeward._plain import at_most, own_decimals, percent
from leeward._statement import (
    AdaptiveStated,
    DecidingStatement,
    EveryoneStated,
    GeometricStated,
    NumberQuery,
    Statement,
    VisitorQuery,
    WindowStated,
    reading,
)
from leeward.ledger._records import with_delta
from leeward.planner._decisions import STATES
from leeward.planner._people import a, at_most_people, people, places
from leeward.planner._people import empty as empty_of
from leeward.planner._people import if_left_out as left_out_so
from leeward.query._records import counted_once

KEPT = {"latest": "visited last", "earliest": "visited first"}
"""How a person's places are chosen when they exceed the bound."""


class Readable(Protocol):
    """What the report reads of a release: published things only.

    Attributes:
        answers: one row a place of the public list: ``place``, ``state``, and where published ``name``, ``answered``
            and ``count``.
        places: the public list in the same order: ``place``, and where known ``name``, ``latitude``, ``longitude``.
        statement: the privacy statement, as in release.json.
    """

    @property
    def answers(self) -> pa.Table:
        """The published answers."""

    @property
    def places(self) -> pa.Table:
        """The public list of places."""

    @property
    def statement(self) -> Statement:
        """The privacy statement."""


@dataclass(frozen=True)
class Tally:
    """How many places got each answer.

    Attributes:
        places: the length of the public list.
        states: how many were said to be in each state, in the order of `STATES`; absent states are left out.
        answered: how many were answered at all, or None where every place is.
        counted: whether noisy counts are published.
    """

    places: int
    states: Mapping[str, int]
    answered: int | None
    counted: bool

    @classmethod
    def of(cls, answers: pa.Table) -> Tally:
        """Count the states of the published answers."""
        found = {entry["values"]: entry["counts"] for entry in pc.value_counts(answers["state"]).to_pylist()}
        states: dict[str, int] = {
            state: found.get(state, 0) for state in STATES if state in found or state != "dangerous"
        }
        answered = pc.sum(answers["answered"]).as_py() or 0 if "answered" in answers.column_names else None
        return cls(answers.num_rows, states, answered, "count" in answers.column_names)


def headline(statement: DecidingStatement, tally: Tally) -> str:
    """Say in one sentence how many places are safe, and how many dangerous, and what that means."""
    decision, query, said = statement.decision, statement.query, []
    if decision.safe_at_most is not None:
        said.append(("safe", at_most_people(decision.safe_at_most, query.many)))
    if decision.dangerous_at_least is not None:
        said.append(("dangerous", f"at least {people(decision.dangerous_at_least, query.many)}"))
    said = [(state, meaning + of_whom(statement)) for state, meaning in said]
    parts: list[str] = []
    for state, meaning in said:
        number = tally.states.get(state, 0)
        of = "" if parts else f" of {places(tally.places, query.noun)}"
        parts.append(f"{number:,}{of} {'is' if number == 1 else 'are'} said to be {state} ({meaning})")
    return ", ".join(parts)


def of_whom(statement: DecidingStatement) -> str:
    """Say after a number of people whether it is of those counted or of all who were there, where that differs."""
    query = statement.query
    if statement.decision.about == "everyone":
        return " of all who were there"
    if isinstance(query, NumberQuery):
        return f", each {once}" if (once := _once(query)) else ""
    return " among those counted" if is_truncated(query) else ""


def of_counted(statement: DecidingStatement) -> bool:
    """Whether a decision is about those counted, where somebody may be there who is not counted there."""
    return bool(of_whom(statement)) and statement.decision.about == "counted"


def if_left_out(statement: DecidingStatement) -> str:
    """Say for which places a decision curve about all who were there is exact; of others the chances are greater."""
    decision = statement.decision
    if not decision.safe_if_left_out:
        return ""
    return f", {left_out_so(decision.left_out)}"


def certainty(statement: DecidingStatement) -> str:
    """Say in a sentence for each decision how far it can be trusted."""
    decision, query = statement.decision, statement.query
    relative = ", of all who were there" if decision.about == "everyone" else _relative(query)
    said = []
    for state, never in decision.said:
        if never:
            said.append(f"‘{state.capitalize()}’ is never wrong{relative}.")
        else:
            assert decision.error_at_most is not None
            wrong = Fraction(decision.error_at_most) * query.listed
            said.append(
                f"{a(query.noun).capitalize()} that is not {state} is called {state} with probability at most"
                f" {at_most(float(Fraction(decision.error_at_most)), 6)}: over all {places(query.listed, query.noun)}, at"
                f" most {at_most(float(wrong), 6)} wrong answers are expected."
            )
    return " ".join(said)


def _relative(query: VisitorQuery | NumberQuery) -> str:
    """Say of whom a decision is about, where not all rows of everybody count."""
    if isinstance(query, VisitorQuery):
        if not is_truncated(query):
            return ""
        bound = query.places_per_person
        assert bound is not None
        return f", of the people counted there: someone at more than {places(bound)} is counted only at {_kept(query)}"
    return f", of people who are each {once}" if (once := _once(query)) else ""


def _once(query: NumberQuery) -> str:
    return counted_once(query.combine, grouped=len(query.groups) > 1, numbers=query.column is not None)


def may_conclude(statement: DecidingStatement, tally: Tally) -> list[str]:
    """List what a reader may take from the answers, most important first."""
    direction = noise_direction(statement) if tally.counted else ""
    return [sentence(said) for said in (*statement.guaranteed, direction) if said]


def may_not_conclude(statement: DecidingStatement, tally: Tally) -> list[str]:
    """List what a reader may not take from the answers, most important first."""
    decision, noun, many = statement.decision, statement.query.noun, statement.query.many
    said = [
        f"'{state.capitalize()}' is not certain: {a(noun)} said to be {state} may be a wrong one"
        for state, never in decision.said
        if not never
    ]
    said += statement.not_guaranteed
    empty = next((entry.safe for entry in decision.curve if entry.count == 0), None)
    if empty is not None and Decimal(empty) < 1:
        asked = "that is asked and " if tally.answered is not None else ""
        said.append(
            f"With probability {missed(empty)}, even {a(noun)} {asked}{empty_of(noun, many)} is not called safe"
            f"{if_left_out(statement)}"
        )
    return [sentence(each) for each in said]


def noise_direction(statement: DecidingStatement) -> str:
    """Say whether published counts lie above or below the counts they hide."""
    mechanism = statement.mechanism
    if isinstance(mechanism, EveryoneStated):
        return "A noisy count is never below the number of people who were there: those left out are bounded in it"
    if mechanism.rate_down == "inf":
        return "A noisy count is never below the count it hides: the noise only adds"
    if mechanism.rate_up == "inf":
        return "A noisy count is never above the count it hides: the noise only takes away"
    return "A noisy count may be above or below the count it hides"


def question(statement: Statement) -> list[tuple[str, str]]:
    """Say what was asked, of which data."""
    return [
        ("Question", statement.query.text.rstrip(".?") + "?"),
        ("Data set", f"{statement.dataset}, version {statement.version}"),
    ]


def between(window: WindowStated) -> list[tuple[str, str]]:
    """Describe a window as terms and their values."""
    ends = (("From", window.start), ("Until (excluded)", window.end))
    return [(name, _moment(end, window.timezone)) for name, end in ends]


def when(window: WindowStated | None) -> str:
    """Say which window an answer is about, in a sentence; nothing where rows of all times count."""
    return "" if window is None else "From {} until {}. ".format(*(end for _, end in between(window)))


def visited(query: VisitorQuery) -> list[tuple[str, str]]:
    """Describe which visits count, as terms and their values."""
    rows = [
        *between(query.window),
        ("Places", f"{query.places:,}, from a public list that does not depend on the data"),
    ]
    rows += only_kept(query.keep)
    bound = query.places_per_person
    if bound is not None:
        rule = f"counted only at {_kept(query)}" if query.if_more in KEPT else "never seen: checked"
        rows.append((f"A person at more than {places(bound)}", rule))
    return rows


def decided(statement: DecidingStatement) -> str:
    """Say when a place is called safe, and when dangerous."""
    decision, noun, said = statement.decision, a(statement.query.noun), []
    limit, threshold = decision.safe_at_most, decision.threshold
    if limit is not None and threshold is not None:
        why = "" if threshold >= limit else f", which is below {limit} so that a wrong “safe” is rare enough"
        said.append(f"{noun} is said to be safe when its noisy count is at most {_minus(threshold)}{why}")
    limit, threshold = decision.dangerous_at_least, decision.dangerous_threshold
    if limit is not None and threshold is not None:
        why = "" if threshold <= limit else f", which is above {limit} so that a wrong “dangerous” is rare enough"
        said.append(f"{noun} is said to be dangerous when its noisy count is at least {_minus(threshold)}{why}")
    return sentence("; ".join([*said, "otherwise it is obscure"]))


def stopped(statement: DecidingStatement, tally: Tally) -> str:
    """Say how far a mechanism that stops came."""
    assert not isinstance(statement.mechanism, GeometricStated | EveryoneStated)
    stops = statement.mechanism.stop_after
    not_safe = "the first answer that is not “safe”" if stops == 1 else f"{stops} answers that are not “safe”"
    if isinstance(statement.mechanism, AdaptiveStated) and stops > 1:
        not_safe = f"{stops} to {2 * stops - 1} answers that are not “safe”, by what they cost"
    noun, query = statement.query.noun, statement.query
    anew = " of each group" if isinstance(query, NumberQuery) and query.levels and len(query.groups) > 1 else ""
    said = f"The {noun}s{anew} were asked in the public order, and the asking stops after {not_safe}."
    expected = statement.mechanism.expected_answered_if_empty
    empty = f"Had every {noun} been empty"
    if noun == "level":
        empty = f"Had {people(0, query.many)} been above any of them"
    known = f" {empty}, about {expected} would have been answered on average." if expected else ""
    return f"{said} {tally.answered or 0:,} of {places(tally.places, noun)} got an answer.{known}"


def is_truncated(query: VisitorQuery | NumberQuery) -> bool:
    """Whether visits of people over the bound were left out, so that answers are about truncated counts."""
    return isinstance(query, VisitorQuery) and query.places_per_person is not None and query.if_more in KEPT


def charged(statement: Statement) -> tuple[str, str]:
    """Return what a release took from its budget, and what that number is; of a monitor, the most that it may take."""
    if statement.monitor is not None:
        return statement.price, "price at most, of all its windows"
    return statement.price if statement.budget is None else statement.budget.price, "taken from the budget"


def together(statements: Iterable[Statement]) -> str:
    """Say what releases took from their budget together, and its δ: what two of them ask was charged once."""
    once = {one.entry: one for one in statements}.values()
    epsilon = sum((Fraction(charged(one)[0]) for one in once), Fraction(0))
    return with_delta(epsilon, sum((one.promised_delta for one in once), Fraction(0)))


def many(statement: Statement) -> str:
    """Return what those are called whom a statement is about: ``people``; ``rows`` where each is a person of its own."""
    unit = statement.notion.unit
    return "rows" if unit == "row" or unit.endswith(" of rows") else "people"


def nearest(guaranteed: Sequence[str]) -> str:
    """Return the sentence of what is guaranteed that says how near answers are with 95 %, or else the first."""
    return next((said for said in guaranteed if "95 %" in said), guaranteed[0])


def not_protected(statement: Statement) -> str:
    """Say what is not protected; of rows, nothing is said of whoever has several."""
    of = "row of" if "row" in statement.notion.unit else "person in"
    return statement.notion.does_not_protect or f"nothing about a {of} the data"


def price(statement: Statement) -> str:
    """Say what a release costs, in ε of its notion and, where that is another number, in the budget's."""
    paid, dataset = statement.price, statement.dataset
    if statement.monitor is not None:
        return (
            f"At most {paid} for all windows of its monitor, taken from the budget of {dataset} where a place cannot be"
            " called safe. Prices of releases about the same people add up."
        )
    budget = statement.budget
    kept = (
        ""
        if budget is None or budget.price == paid
        else f" in ε of {statement.notion.name}: {budget.price} of {budget.notion}"
    )
    return (
        f"{with_delta(f'{paid}{kept}', statement.promised_delta)}, taken from the budget of {dataset}. Prices of releases"
        f" about the same {many(statement)} add up."
    )


def factor(statement: Statement) -> str:
    """Say how to read the promise, and what its ε means."""
    return f"Here {reading(statement.notion.epsilon)}. The smaller ε, the better {many(statement)} are protected."


def sentence(words: str) -> str:
    """Make a sentence of the words of a statement: a capital first, a full stop last."""
    first = words[0].upper() if words[0].isascii() else words[0]
    return first + words[1:] + ("" if words[-1] in ".?!" else ".")


def decimal(exact: str) -> str:
    """Write an exact number of a statement, such as 1/10000, as a decimal of at most six digits."""
    return f"{float(Fraction(exact)):.6g}"


@own_decimals()
def missed(probability: str) -> str:
    """Write the complement of a probability in percent, rounded up."""
    return percent(1 - Decimal(probability), ROUND_CEILING)


def only_kept(keep: Mapping[str, Sequence[object]]) -> list[tuple[str, str]]:
    """Describe a filter as a term and its value; nothing where there is none."""
    kept = "; ".join(f"{column} = {' or '.join(map(str, values))}" for column, values in keep.items())
    return [("Only records with", kept)] if kept else []


def _kept(query: VisitorQuery) -> str:
    bound, kept = query.places_per_person, KEPT[str(query.if_more)]
    return f"the place {kept}" if bound == 1 or bound is None else f"the {places(bound)} {kept}"


def _moment(end: str, zone: str | None) -> str:
    return end.replace("T", " ", 1) + (f" ({zone})" if zone else "")


def _minus(number: int) -> str:
    return f"{number:,}".replace("-", "−")
