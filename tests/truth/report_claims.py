"""What the report of safe and dangerous places says, and what makes it true of the world and of the published answers."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any

from tests.truth.claims import Claims
from tests.truth.relations import number
from tests.truth.visitor_claims import is_wrong, people

KINDS = r"(?P<much>nobody|at (?:most|least) [\d,]+ (?:person|people))"


def told(text: str | None) -> int:
    return int((text or "0").replace(",", "").replace("−", "-"))


def means(world: Any, state: str, much: str) -> bool:
    limit = world.plan.safe_at_most if state == "safe" else world.plan.dangerous_at_least
    whom = re.search("( among those counted| of all who were there)?$", much)
    assert whom is not None
    if (whom[1] or "") != of_whom(world):
        return False
    much = much.removesuffix(of_whom(world))
    return people(re.sub("at (most|least) ", "", much)) == limit and (state == "safe") != ("least" in much)


def of_whom(world: Any) -> str:
    """Of whom decisions are, where that differs."""
    if world.plan.about == "everyone":
        return " of all who were there"
    return " among those counted" if world.truncated else ""


def percent(text: str) -> tuple[float, float]:
    """The range of probabilities that a rounded percentage stands for."""
    if text.startswith("under"):
        return 0.0, 1e-6
    if text.startswith("over"):
        return 1 - 1e-6, 1.0
    value = Decimal(text.removesuffix(" %"))
    unit = Decimal(1).scaleb(int(value.as_tuple().exponent))
    return float((value - unit) / 100), float((value + unit) / 100)


def register(claims: Claims) -> None:
    """Register the report's own sentences; those of the statement are registered apart."""
    says, states = claims.says, r"(?P<state>safe|dangerous)"

    @says(
        r"(?P<before>town: )?((?P<safe>[\d,]+) of (?P<places>[\d,]+) places? (is|are) said to be safe \((?P<most>[^)]+)\))?(, )?"
        r"((?P<dangerous>[\d,]+)( of (?P<every>[\d,]+) places?)? (is|are) said to be dangerous \((?P<least>[^)]+)\))?"
    )
    def _(
        world: Any,
        before: str | None,
        safe: str | None,
        places: str | None,
        most: str | None,
        dangerous: str | None,
        every: str | None,
        least: str | None,
    ) -> bool:
        total = places or every
        return (
            (safe is not None) == (world.plan.safe_at_most is not None) and (dangerous is not None) == (world.plan.dangerous_at_least is not None)
            and told(total) == world.shown.num_rows
            and (safe is None or (told(safe) == world.of("safe") and means(world, "safe", most or "")))
            and (dangerous is None or (told(dangerous) == world.of("dangerous") and means(world, "dangerous", least or "")))
        )  # fmt: skip

    @says(
        r"(‘(?P<one>Safe|Dangerous)’ is never wrong(?P<relative>, of the people counted there: someone at more than (?P<bound>\d+) places? is counted only at the(?P<kept>( \d+)? places?) visited (?P<which>last|first)|, of all who were there)?\.)( (?P<rest>.*))?"
    )
    def _(
        world: Any,
        one: str,
        relative: str | None,
        bound: str | None,
        kept: str | None,
        which: str | None,
        rest: str | None,
    ) -> bool:
        asked = world.plan.query
        most, rule = getattr(asked, "places_per_person", None), getattr(asked, "if_more", None)
        return (
            (
                bound is None
                or (
                    int(bound) == most
                    and kept == (" place" if most == 1 else f" {most} places")
                    and {"latest": "last", "earliest": "first"}[rule] == which
                )
            )
            and is_wrong(world, one.lower()) == 0.0
            and bool(relative) == bool(of_whom(world))
            and (relative == ", of all who were there") == (of_whom(world) == " of all who were there")
            and (not rest or claims_hold(rest, world))
        )

    @says(
        rf"A place that is not {states} is called (?P<again>safe|dangerous) with probability at most (?P<alpha>[\d.e-]+): over all"
        r" (?P<places>[\d,]+) places?, at most (?P<total>[\d.e-]+) wrong answers are expected\.( (?P<rest>.*))?"
    )
    def _(world: Any, state: str, again: str, alpha: str, places: str, total: str, rest: str | None) -> bool:
        return (
            state == again and 0 < is_wrong(world, state) <= float(alpha) * (1 + 1e-9) and told(places) == world.shown.num_rows
            and math.isclose(float(total), float(alpha) * world.shown.num_rows, rel_tol=1e-5) and (not rest or claims_hold(rest, world))
        )  # fmt: skip

    def claims_hold(sentence: str, world: Any) -> bool:
        found = claims.matching(sentence)
        return bool(found) and all(claim.holds(world, **matched) for claim, matched in found)

    @says(
        r"'(?P<state>Safe|Dangerous)' is not certain: a place said to be (?P<again>safe|dangerous) may be a wrong one\."
    )
    def _(world: Any, state: str, again: str) -> bool:
        return state.lower() == again and is_wrong(world, again) > 0

    @says(
        r"With probability (?P<chance>.+ %), even a place (?P<asked>that is asked and )?where nobody was is not called safe"
        r"(?P<least>, where nobody was left out, and (nobody|at most (?P<guess>\d+) (person|people)) anywhere)?\."
    )
    def _(world: Any, asked: str | None, chance: str, least: str | None, guess: str | None) -> bool:
        low, high = percent(chance)
        true = 1 - world.said("safe", 0)
        if bool(least) != getattr(world, "bounded", False) or int(guess or 0) != world.plan.left_out:
            return False
        return bool(asked) == (world.stops is not None) and low - 1e-12 <= true <= high + 1e-12 and high > 0

    @says(
        r"A noisy count (is never (?P<side>below|above) the count it hides: the noise only (?P<does>adds|takes away)|may be above or below the"
        r" count it hides)\."
    )
    def _(world: Any, side: str | None, does: str | None) -> bool:
        below, above = (any(world.chance[k] > 0 for k in way) for way in (range(-9, 0), range(1, 10)))
        if side is None:
            return below and above
        return (not below, does) == (True, "adds") if side == "below" else (not above, does) == (True, "takes away")

    @says(r"A noisy count is never below the number of people who were there: those left out are bounded in it\.")
    def _(world: Any) -> bool:
        return getattr(world, "bounded", False) and not any(world.chance[k] > 0 for k in range(-9, 0))

    @says(r"(?P<count>[\d,]+) (?P<state>safe|obscure|dangerous)")
    def _(world: Any, count: str, state: str) -> bool:
        return told(count) == world.of(state)

    @says(r"(?P<counts>[\d,]+ (safe|obscure|dangerous)(, [\d,]+ (safe|obscure|dangerous))+)")
    def _(world: Any, counts: str) -> bool:
        return all(told(part.split()[0]) == world.of(part.split()[1]) for part in counts.split(", "))

    @says(r"(?P<count>[\d,]+) asked, of (?P<places>[\d,]+)")
    def _(world: Any, count: str, places: str) -> bool:
        return world.stops is not None and told(count) == world.answered and told(places) == world.shown.num_rows

    @says(r"(?P<epsilon>\S+) ε, privacy loss per (?P<unit>\S+)")
    def _(world: Any, epsilon: str, unit: str) -> bool:
        return number(epsilon) == float(world.price) and unit == world.unit

    @says(r"(?P<price>\S+) taken from the budget")
    def _(world: Any, price: str) -> bool:
        return world.monitor is None and number(price) == float(world.in_budget)

    @says(r"(?P<price>\S+) price at most, of all its windows")
    def _(world: Any, price: str) -> bool:
        return world.monitor is not None and number(price) == float(world.price)

    @says(
        r"Price: (?P<price>\S+?)( in ε of (?P<notion>\S+): (?P<paid>\S+) of (?P<kept>.+?))?, taken from the budget of town\. Prices of"
        r" releases about the same people add up\."
    )
    def _(world: Any, price: str, notion: str | None, paid: str | None, kept: str | None) -> bool:
        return (
            world.monitor is None and number(price) == float(world.price) and number(paid or price) == float(world.in_budget)
            and (not notion or (notion == world.notion.name and kept == world.counted_in))
        )  # fmt: skip

    @says(
        r"Price: At most (?P<price>\S+) for all windows of its monitor, taken from the budget of town where a place cannot be called safe\."
        r" Prices of releases about the same people add up\."
    )
    def _(world: Any, price: str) -> bool:
        return world.monitor is not None and number(price) == float(world.price)

    @says(
        r"The promise is (?P<name>\S+) at ε = (?P<epsilon>\S+), for each (?P<unit>\S+)\. (?P<definition>Pr\[.*?)\.? Here Pr\[answer \| data\] is how"
        r" likely an answer is if the data are as described(, and e\^ε is about (?P<factor>\S+))?\. The smaller ε, the better people are protected\."
    )
    def _(world: Any, name: str, epsilon: str, unit: str, definition: str, factor: str | None) -> bool:
        from tests.truth.notion_claims import private

        about = math.exp(number(epsilon))
        return (
            name == world.notion.name and unit == world.unit and private(world, definition, number(epsilon))
            and number(epsilon) == float(world.price) and (factor is None or math.isclose(float(factor.replace(",", "")), about, rel_tol=5e-3))
        )  # fmt: skip

    @says(r"Protected: (?P<rest>.*)\.", r"What stays possible: (?P<rest>.*)\.")
    def _(world: Any, rest: str) -> bool:
        return claims_hold(rest[0].lower() + rest[1:], world)

    @says(r"Not protected: (?P<rest>.*)\.")
    def _(world: Any, rest: str) -> bool:
        if rest == "Nothing about a person in the data":
            from tests.truth.notion_claims import covered

            return covered(world, lambda r, s: (r is None) == (s is None))
        return claims_hold(rest[0].lower() + rest[1:], world)

    @says(r"Data set: town, version 1", r"A Leeward release of town, \d{4}-\d\d-\d\d")
    def _(world: Any) -> bool:
        return True  # what the statement of this world was made for

    @says(r"Question: (?P<question>.*)\?")
    def _(world: Any, question: str) -> bool:
        return claims_hold(question, world)

    @says(r"(?P<end>From|Until \(excluded\)): (?P<day>\S+) (?P<time>\S+)( \((?P<zone>\S+)\))?")
    def _(world: Any, end: str, day: str, time: str, zone: str | None) -> bool:
        from datetime import datetime

        window, visits = world.plan.query.window, world.plan.query.visits
        moment = window.start if end == "From" else window.end
        expected = None if window.start.tzinfo else visits.timezone or ("UTC" if visits.source.time_unit else None)
        return datetime.fromisoformat(f"{day}T{time}") == moment and zone == expected

    @says(r"Places: (?P<places>[\d,]+), from a public list that does not depend on the data")
    def _(world: Any, places: str) -> bool:
        return told(places) == world.shown.num_rows

    @says(r"Only records with: (?P<kept>.*)")
    def _(world: Any, kept: str) -> bool:
        parts = [
            f"{column} = {' or '.join(map(str, values))}" for column, values in world.plan.query.visits.keep.items()
        ]
        return kept == "; ".join(parts)

    @says(
        r"A person at more than (?P<bound>\d+) places?: (never seen: checked|counted only at the ((?P<many>\d+) places|place) visited"
        r" (?P<kept>last|first))"
    )
    def _(world: Any, bound: str, many: str | None, kept: str | None) -> bool:
        rule = {"latest": "last", "earliest": "first"}.get(world.plan.query.if_more) if world.truncated else None
        return int(bound) == world.bound and kept == rule and (many is None or many == bound)

    @says(
        r"(A place is said to be safe when its noisy count is at most (?P<low>\S+?)(, which is below (?P<most>\d+) so that a wrong “safe” is rare"
        r" enough)?)?(; )?([Aa] place is said to be dangerous when its noisy count is at least (?P<high>\S+?)(, which is above (?P<least>\d+) so"
        r" that a wrong “dangerous” is rare enough)?)?; otherwise it is obscure\."
    )
    def _(world: Any, low: str | None, most: str | None, high: str | None, least: str | None) -> bool:
        import numpy as np

        noisy = np.arange(-60, 60)
        states = (
            dict(zip(noisy.tolist(), world.plan.decisions.states(noisy).tolist(), strict=True))
            if world.stops is None
            else {}
        )
        safe = [z for z, state in states.items() if state == "safe"]
        dangerous = [z for z, state in states.items() if state == "dangerous"]
        return (
            bool(states) and (low is None or (max(safe) == told(low) and (most is None) == (told(low) >= world.plan.safe_at_most)))
            and (high is None or (min(dangerous) == told(high) and (least is None) == (told(high) <= world.plan.dangerous_at_least)))
            and (low is None) == (world.plan.safe_at_most is None) and (high is None) == (world.plan.dangerous_at_least is None)
            and (most is None or told(most) == world.plan.safe_at_most) and (least is None or told(least) == world.plan.dangerous_at_least)
        )  # fmt: skip

    @says(
        r"The places were asked in the public order, and the asking stops after (the first answer that is not “safe”|(?P<stops>\d+) answers that"
        r" are not “safe”|(?P<least>\d+) to (?P<most>\d+) answers that are not “safe”, by what they cost)\. (?P<answered>[\d,]+) of (?P<places>[\d,]+) places? got an answer\.( Had every place been empty, about"
        r" (?P<reach>\S+) would have been answered on average\.)?"
    )
    def _(
        world: Any,
        stops: str | None,
        least: str | None,
        most: str | None,
        answered: str,
        places: str,
        reach: str | None,
    ) -> bool:
        exceeding = len(world.shown) - world.shown["count"].null_count
        ends = (world.left, 2 * world.left - 1 if world.looks else world.left)
        whole = world.answered == len(world.shown)
        return (
            (int(stops or least or 1), int(stops or most or 1)) == ends
            and told(answered) == world.answered and told(places) == world.shown.num_rows
            and exceeding <= ends[1] and (whole or exceeding >= ends[0])
            and (reach is None or math.isclose(float(reach), world.reach(world.shown.num_rows, world.left), rel_tol=1e-3))
        )  # fmt: skip

    @says(r"People (?P<counted>counted )?there")
    def _(world: Any, counted: str | None) -> bool:
        return bool(counted) == (world.truncated and not hasattr(world, "wrongly"))

    @says(
        r"The decision curve: how likely a place (?P<asked>that is asked )?is to be called (?P<words>safe or dangerous|safe|dangerous), by how"
        r" many people were (?P<counted>counted )?there(?P<least>, where nobody was left out, and (nobody|at most (?P<guess>\d+) (person|people))"
        r" anywhere)?\. It follows from the rule alone, not from the data\."
    )
    def _(world: Any, asked: str | None, words: str, counted: str | None, least: str | None, guess: str | None) -> bool:
        if (
            bool(least) != (getattr(world, "bounded", False) and "safe" in world.words)
            or int(guess or 0) != world.plan.left_out
        ):
            return False
        return (
            bool(asked) == (world.stops is not None)
            and words == " or ".join(world.words)
            and bool(counted) == (world.truncated and not hasattr(world, "wrongly"))
        )

    @says(r"Chance of “(?P<state>safe|dangerous)”")
    def _(world: Any, state: str) -> bool:
        return state in world.words

    @says(r"All (?P<places>[\d,]+) places, in the order of the public list; also in answers\.parquet\.")
    def _(world: Any, places: str) -> bool:
        return told(places) == world.shown.num_rows

    @says(
        r"Every place of the public list, by its public coordinates; north is up\. Point at a place to read its answer\."
        r"( (?P<undrawn>[\d,]+) places? without coordinates (is|are) not drawn\.)?"
    )
    def _(world: Any, undrawn: str | None) -> bool:
        return told(undrawn) == world.public["latitude"].null_count

    @says(
        r"Not fit for release",
        r"The noise came from a seed\. Anyone who knows or guesses the seed can subtract the noise and read the true counts\."
        r" This is a test: do not publish it\.",
    )
    def _(world: Any) -> bool:
        return not world.fit

    @says(
        r"Round (?P<round>\d+) of a monitor that costs ε = (?P<each>\S+) for each place it cannot call safe, and stops for good after"
        r" (?P<stops>\d+) of them(, (?P<before>\d+) of which earlier rounds gave)?: at most ε = (?P<total>\S+) for one person's data in"
        r" all windows\.?"
    )
    def _(world: Any, round: str, each: str, stops: str, before: str | None, total: str) -> bool:  # noqa: A002
        return (
            world.monitor == int(round) and number(each) == float(world.notion.epsilon) and int(stops) == world.stops
            and int(before or 0) == world.stops - world.left and number(total) == float(world.price)
        )  # fmt: skip

    @says(
        r"The windows, their order and the thresholds depend only on public data and on answers already published\.?",
        r"Each window counts the people of that window alone: no count looks at another window \('first visit', 'new people'\)\.?",
    )
    def _(world: Any) -> bool:
        return world.monitor is not None

    claims.neutral(
        *("Skip to the table of answers", "Where", "What this tells you", "You may conclude", "You may not conclude", "What was asked"),
        *("What is protected", "How each answer was made", "The curve in numbers", "What it rests on", "Assumptions"),
        *("Theorems", "The answers", "Find", "Said to be( anythingsafeobscure(dangerous)?)?", "anything", "safe", "obscure", "dangerous"),
        *("Place", "Name", "Noisy count", "Asked", "For machines", "Show the statement", "← Back", "Next →", "Table of answers", "Pages of the table"),
        r"The same statement as in release\.json; entry \S+, made by Leeward \S+\. In this page it is the script element with the id release\.json\.",
        r"The pictures and the search need JavaScript, all of it inside this file; everything else works without\.",
        r"Map of the places and what is said of each\. The same answers are in the table below\.",
        r"Decision curve: the chance of each answer, by the true count\. The numbers are in the table below\.",
    )  # fmt: skip
