"""A release in plain words: the sentences of the report that follow from the statement and the published answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

STATES = ("safe", "obscure", "dangerous")
"""Everything that can be said of a place, in the order in which it is listed."""

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
        ...

    @property
    def places(self) -> pa.Table:
        """The public list of places."""
        ...

    @property
    def statement(self) -> Mapping[str, Any]:
        """The privacy statement."""
        ...


@dataclass(frozen=True)
class Tally:
    """How many places got each answer.

    Attributes:
        places: the length of the public list.
        states: how many were said to be in each state, in the order of `STATES`; absent states are left out.
        answered: how many were answered at all, or None where every place is.
    """

    places: int
    states: Mapping[str, int]
    answered: int | None

    @classmethod
    def of(cls, answers: pa.Table) -> Tally:
        """Count the states of the published answers."""
        found = {entry["values"]: entry["counts"] for entry in pc.value_counts(answers["state"]).to_pylist()}
        states = {state: found.get(state, 0) for state in STATES if state in found or state != "dangerous"}
        answered = pc.sum(answers["answered"]).as_py() or 0 if "answered" in answers.column_names else None
        return cls(answers.num_rows, states, answered)


def headline(statement: Mapping[str, Any], tally: Tally) -> str:
    """Say in one sentence how many places are safe, and what that means."""
    safe, limit = tally.states["safe"], at_most(statement["decision"]["safe_at_most"])
    are = "is" if safe == 1 else "are"
    return f"{safe:,} of {places(tally.places)} {are} said to be safe ({limit})"


def certainty(statement: Mapping[str, Any]) -> str:
    """Say in one sentence how far *safe* can be trusted."""
    decision = statement["decision"]
    if not decision["never_wrong"]:
        return (
            f"A place that is not safe is called safe with probability at most {decision['error_at_most']}: "
            f"over all {statement['query']['places']:,} places this adds up to at most "
            f"{decision['error_at_most_over_all_places']}."
        )
    return "Never wrongly, relative to the truncated counts." if is_truncated(statement) else "Never wrongly."


def may_conclude(statement: Mapping[str, Any]) -> list[str]:
    """List what a reader may take from the answers, most important first."""
    decision, query = statement["decision"], statement["query"]
    limit = decision["safe_at_most"]
    were = f"{at_most(limit)} {'were' if limit > 1 else 'was'}"
    if decision["never_wrong"]:
        counted = "counted there" if is_truncated(statement) else "there"
        first = f"Where a place is said to be safe, {were} {counted}. That is certain, not likely."
    else:
        first = (
            f"A place with more than {people(limit)} is called safe with probability at most "
            f"{decision['error_at_most']}. The number of places called safe wrongly, out of "
            f"{query['places']:,}, is on average at most {decision['error_at_most_over_all_places']}; that also "
            "bounds the chance that there is any."
        )
    said = [first]
    if is_truncated(statement):
        said.append(
            f"All this is about what was counted: of each person only {_kept(query)}. Others may have passed through."
        )
    direction = noise_direction(statement)
    if direction:
        said.append(direction)
    return _distinct([*said, *statement["guaranteed"]])


def may_not_conclude(statement: Mapping[str, Any], tally: Tally) -> list[str]:
    """List what a reader may not take from the answers, most important first."""
    limit = statement["decision"]["safe_at_most"]
    empty = next((entry["safe"] for entry in statement["decision"]["curve"] if entry["count"] == 0), None)
    asked = "that is asked " if tally.answered is not None else ""
    chance = "" if empty is None else f": a place {asked}where nobody was is obscure with probability {missed(empty)}"
    said = [f"That an obscure place had more than {people(limit)}. Noise alone makes places obscure{chance}."]
    if not statement["decision"]["never_wrong"]:
        said.insert(0, f"That a place said to be safe certainly had {at_most(limit)}.")
    if tally.answered is not None and tally.answered < tally.places:
        said.append(
            f"Anything about the {tally.places - tally.answered:,} places after the stop. They were never asked: "
            "there, obscure means “no answer”, whatever is in the data."
        )
    said.append(
        "Anything about people who are not in the data. Only people with a record in it, inside the window, are counted."
    )
    return _distinct([*said, *statement["not_guaranteed"]])


def noise_direction(statement: Mapping[str, Any]) -> str:
    """Say whether noisy counts lie above or below the counts they hide; empty where the mechanism adds no such noise."""
    mechanism = statement["mechanism"]
    up, down = mechanism.get("rate_up"), mechanism.get("rate_down")
    if up is None or down is None:
        return ""
    if down == "inf":
        return "A noisy count is never below the count it hides: the noise only adds."
    if up == "inf":
        return "A noisy count is never above the count it hides: the noise only takes away."
    return "A noisy count may be above or below the count it hides."


def asked(statement: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Describe the query as terms and their values."""
    query = statement["query"]
    rows = [
        ("Question", query["text"]),
        ("Data set", f"{statement['dataset']}, version {statement['version']}"),
        ("From", _moment(query["window"]["start"])),
        ("Until (excluded)", _moment(query["window"]["end"])),
        ("Places", f"{query['places']:,}, from a public list that does not depend on the data"),
    ]
    if query["keep"]:
        rows.append(("Only records with", "; ".join(_allowed(*pair) for pair in query["keep"].items())))
    bound = query["places_per_person"]
    if bound is not None:
        rule = f"counted only at {_kept(query)}" if is_truncated(statement) else "never seen: checked"
        rows.append((f"A person at more than {places(bound)}", rule))
    return rows


def decided(statement: Mapping[str, Any]) -> str:
    """Say when a place is called safe."""
    decision = statement["decision"]
    limit, threshold = decision["safe_at_most"], decision["threshold"]
    said = f"A place is said to be safe when its noisy count is at most {_minus(threshold)}"
    if threshold >= limit:
        return said + "; otherwise it is obscure."
    return said + f", which is below {limit} so that a wrong “safe” is rare enough; otherwise it is obscure."


def stopped(statement: Mapping[str, Any], tally: Tally) -> str:
    """Say how far a mechanism that stops came; empty for one that answers every place."""
    if tally.answered is None:
        return ""
    stops = statement["mechanism"]["stop_after"]
    not_safe = "the first answer that is not “safe”" if stops == 1 else f"{stops} answers that are not “safe”"
    said = f"The places were asked in the public order, and the asking stops after {not_safe}."
    expected = statement["mechanism"].get("expected_answered_if_empty")
    known = f" Had every place been empty, about {expected} would have been answered on average." if expected else ""
    return f"{said} {tally.answered:,} of {tally.places:,} places got an answer.{known}"


def is_truncated(statement: Mapping[str, Any]) -> bool:
    """Whether visits of people over the bound were left out, so that answers are about truncated counts."""
    query = statement["query"]
    return query.get("places_per_person") is not None and query.get("if_more") in KEPT


def at_most(limit: int) -> str:
    """Say how many people a safe place has: ``at most 2 people``."""
    return "nobody" if limit == 0 else f"at most {people(limit)}"


def people(count: int) -> str:
    """Count people: ``1 person``, ``2 people``."""
    return "1 person" if count == 1 else f"{count:,} people"


def places(count: int) -> str:
    """Count places: ``1 place``, ``2 places``."""
    return "1 place" if count == 1 else f"{count:,} places"


def percent(probability: str) -> str:
    """Write a probability in percent, rounded down, so that what is not certain never reads as 100 %."""
    return _percent(Decimal(probability), ROUND_FLOOR)


def missed(probability: str) -> str:
    """Write the complement of a probability in percent, rounded up."""
    return _percent(1 - Decimal(probability), ROUND_CEILING)


def _percent(share: Decimal, rounding: str) -> str:
    hundredths = share * 100
    rest = min(hundredths, 100 - hundredths)
    if 0 < rest < Decimal("0.0001"):
        return "under 0.0001 %" if rest == hundredths else "over 99.9999 %"
    # two digits of whichever is smaller, the chance or its complement, so that neither is rounded away
    digits = 1 if rest == 0 or rest >= 1 else 1 - rest.adjusted()
    rounded = hundredths.quantize(Decimal(1).scaleb(-digits), rounding)
    return f"{int(rounded)} %" if rest == 0 else f"{rounded} %"


def _allowed(column: str, values: Any) -> str:
    listed = values if isinstance(values, list | tuple) else [values]
    return f"{column} = {' or '.join(map(str, listed))}"


def _kept(query: Mapping[str, Any]) -> str:
    bound = query["places_per_person"]
    return f"the place {KEPT[query['if_more']]}" if bound == 1 else f"the {places(bound)} {KEPT[query['if_more']]}"


def _moment(text: str) -> str:
    return str(text).replace("T", " ", 1)


def _minus(number: int) -> str:
    return f"{number:,}".replace("-", "−")


def _distinct(sentences: list[str]) -> list[str]:
    return list(dict.fromkeys(sentences))
