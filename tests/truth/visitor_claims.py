"""What the statement of a release of safe and dangerous places says, and what makes it true."""

from __future__ import annotations

import itertools
import json
import math
from datetime import datetime
from typing import Any

import numpy as np
from tests.truth.claims import Claims
from tests.truth.relations import facts, number, pairs

DIRECTION = (
    r"(never negative, of rate (?P<adds>\S+) upwards|never positive, of rate (?P<takes>\S+) downwards|of rate (?P<up>\S+)"
    r" upwards and (?P<down>\S+) downwards)"
)


NOUN = r"(?P<noun>place|group|interval|level)"
MEANS = (
    r"(?P<much>nobody|no row|at (most|least) \S+ (person|people|rows?)) (was|were|is|are) (?P<where>there|in the group|in the"
    r" interval|above the level)(?P<relative>, counted after the bound on places per person|, whether they were counted or left out by the bound on places per person|, each counted once[^.:]*| among those counted)"
)


def goes(world: Any, law: Any, adds: str | None, takes: str | None, up: str | None, down: str | None) -> bool:
    """Whether noise goes the ways that are told, at these rates: each further step is e^rate times rarer."""
    chance = {k: float(law.pmf(k)) for k in range(-4, 5)}
    higher, lower = (adds or up), (takes or down)
    ways = {1: higher, -1: lower}
    return all(
        chance[way] == 0.0
        if rate is None
        else math.isclose(chance[way] / chance[2 * way], math.exp(number(rate)), rel_tol=1e-9)
        for way, rate in ways.items()
    )


def steps(world: Any) -> list[tuple[Any, Any, float]]:
    """The pairs of tables that one step of the notion leads between, and what it costs."""
    found = list(pairs(world.notion.words.definition, world, float(world.notion.epsilon)))
    if hasattr(world, "apart"):  # of closeness all pairs are told; a step changes one person's record
        return [(x, y, cost) for x, y, cost in found if sum(r != s for r, s in zip(x, y, strict=True)) == 1]
    if world.unit != "fact":
        return found
    return [
        (x, y, cost) for x, y, cost in found if sum(len(facts(r) ^ facts(s)) for r, s in zip(x, y, strict=True)) == 1
    ]


def moves(world: Any, each: bool) -> tuple[int, int]:
    """How far one step raises and lowers counts at most: each alone, or all added up."""
    rise = fall = 0
    for x, y, _ in steps(world):
        apart = [after - before for before, after in zip(world.counts(x), world.counts(y), strict=True)]
        ups, downs = [max(d, 0) for d in apart], [max(-d, 0) for d in apart]
        rise, fall = max(rise, (max if each else sum)(ups)), max(fall, (max if each else sum)(downs))
    return rise, fall


def bounded(world: Any, each: bool, rise: int, fall: int) -> bool:
    """Whether steps move counts so far and no further; of policies only that it is no further."""
    true = moves(world, each)
    exactly = "adp" not in world.name and "osdp" not in world.name
    return true == (rise, fall) if exactly else true[0] <= rise and true[1] <= fall


def is_wrong(world: Any, state: str) -> float:
    """How often the state is said of a count that is not so, at its most."""
    if hasattr(world, "wrongly"):
        return max(world.wrongly(state), _of_counts(world, state))
    return _of_counts(world, state)


def _of_counts(world: Any, state: str) -> float:
    if state == "safe":
        return max(world.said("safe", c) for c in range(world.plan.safe_at_most + 1, world.plan.safe_at_most + 8))
    return max(world.said("dangerous", c) for c in range(world.plan.dangerous_at_least))


def people(text: str) -> int:
    return 0 if text in {"nobody", "no row"} else int(text.split()[0].replace(",", ""))


def clock(text: str) -> datetime:
    return datetime.fromisoformat(text.replace(" ", "T"))


def register(claims: Claims) -> None:
    """Register all sentences about visitors."""
    says = claims.says

    @says(
        r"How many distinct people were at (the one public place|each of (?P<places>[\d,]+) public places) from"
        r" (?P<start>\S+ \S+) up to, but not at,"
        r" (?P<end>\S+ [\d:+]+)( \((?P<zone>\S+)\))?"
    )
    def _(world: Any, places: str | None, start: str, end: str, zone: str | None) -> bool:
        window, visits = world.plan.counted.window, world.plan.counted.visits
        expected = None if window.start.tzinfo else visits.timezone or ("UTC" if visits.source.time_unit else None)
        return (int((places or "1").replace(",", "")), clock(start), clock(end), zone) == (
            world.places,
            window.start,
            window.end,
            expected,
        )

    @says(
        r"A change that the promise hides, one step of the notion, can raise (?P<subject>any one count|all counts together) by at most (?P<rise>\d+) and lower them by at"
        r" most (?P<fall>\d+)(?P<members>, for each member of the group)?"
        r"(?P<left>; and the most people left out at any place by 1, and never raise them)?"
    )
    def _(world: Any, subject: str, rise: str, fall: str, members: str | None, left: str | None) -> bool:
        if bool(left) != getattr(world, "bounded", False) or (left and falls_of_those_left_out(world) != {0, 1}):
            return False
        each, size = subject == "any one count", max(map(len, world.groups)) if members else 1
        return each == (world.stops is not None) and bounded(world, each, int(rise) * size, int(fall) * size)

    @says(
        rf"Every count gets exact geometric noise, {DIRECTION}, drawn for each {NOUN} on its own\. The most people left out at any one"
        r" place get upward noise of rate (?P<rate>\S+), once, and what comes of it is added to every count\. A step of the notion pays"
        r" at most (?P<counts>\S+) for the counts, and (?P<rest>\S+) for those left out"
    )
    def _(world: Any, noun: str, rate: str, counts: str, rest: str, **rates: Any) -> bool:
        rule = world.plan.mechanism
        added = rule.at_most([0, 2, 5]).tolist() == [5, 7]
        law = {0: math.exp(-number(rate)), 1: world.more[1] / world.more[0]}
        shared = math.isclose(number(rest), number(rate) * max(falls_of_those_left_out(world)))
        fall = moves(world, each=False)[1]
        return (
            noun == world.noun and added and math.isclose(law[0], law[1]) and shared and goes(world, rule.count_law, **rates)
            and math.isclose(number(counts), fall * float(rule.line.fall)) and world.independent
        )  # fmt: skip

    @says(rf"Every count gets exact geometric noise, {DIRECTION}, drawn for each {NOUN} on its own")
    def _(world: Any, noun: str, **rates: Any) -> bool:
        return (
            noun == world.noun
            and world.stops is None
            and goes(world, world.plan.mechanism.law, **rates)
            and world.independent
        )

    @says(
        rf"(Places|Groups|Intervals|Levels) are looked at in the public order(?P<first>, the highest first(?P<anew>, in each group anew)?)?, with exact geometric noise, {DIRECTION}, drawn for each {NOUN} on its own\. While the"
        r" noisy count is at most (?P<limit>\d+) only 'safe' is said, which costs nothing; a noisy count above it is published and costs"
        r" ε = (?P<cost>\S+)\. (It stops after (?P<stops>\d+) of these(: of the (?P<whole>\d+) of its monitor, earlier rounds gave (?P<before>\d+))?"
        r"|It would stop after (?P<never>\d+) of these, and no more (places|groups|intervals|levels) are"
        r" listed: each is answered)"
    )
    def _(
        world: Any,
        noun: str,
        limit: str,
        cost: str,
        stops: str | None,
        whole: str | None,
        before: str | None,
        never: str | None,
        first: str | None,
        anew: str | None,
        **rates: Any,
    ) -> bool:
        free = all(
            world.said("safe", d) >= world.said("safe", c) - 1e-12
            for x, y, _ in steps(world) for c, d in zip(world.counts(x), world.counts(y), strict=True)
        )  # fmt: skip
        return (
            noun == world.noun and in_order(world, first, anew) and not world.looks and goes(world, world.plan.mechanism.law, **rates) and world.independent and free and int(limit) == world.plan.safe_at_most
            and int(stops or never or 0) == world.left and int(whole or world.stops) == world.stops
            and int(before or 0) == world.stops - world.left and (never is not None) == world.all_answered
            and math.isclose(number(cost) * (min(world.stops, world.places // world.scans) if never else world.stops), float(world.price))
        )  # fmt: skip

    @says(
        r"(Places|Groups|Intervals|Levels) are looked at in the public order(?P<first>, the highest first(?P<anew>, in each group anew)?)?, each up to 2 times, with exact geometric noise, never negative, drawn for each (?P<noun>place|group|interval|level) and"
        r" look on its own: look 1 has noise of rate (?P<half>\S+) and publishes a noisy count of at least (?P<far>\d+), which costs"
        r" ε = (?P<less>\S+); look 2 has noise of rate (?P<rate>\S+) and publishes a noisy count of at least (?P<near>\d+), which costs"
        r" ε = (?P<cost>\S+)\. Where no look publishes, only 'safe' is said, which costs nothing\. (It stops when less than ε = (?P<least>\S+)"
        r" is left of ε = (?P<all>[\d/]+)|It would stop with less than ε = (?P<never>\S+) left, and no more (places|groups|intervals|levels) are listed than can be paid"
        r" for: each is answered)"
    )
    def _(
        world: Any, noun: str, half: str, far: str, less: str, rate: str, near: str, cost: str, **rest: str | None
    ) -> bool:
        t, each, fall = world.plan.safe_at_most, float(world.notion.epsilon), float(world.plan.mechanism.line.fall)
        rates = [math.isclose(number(told), true) for told, true in ((half, fall / 2), (rate, fall))]
        costs = [math.isclose(number(told), true) for told, true in ((less, each / 2), (cost, each))]
        ends = rest["never"] is not None
        kept = math.isclose(number(rest["never"] or rest["least"] or ""), each)
        whole = ends or math.isclose(number(rest["all"] or ""), float(world.price))
        free = all(
            world.said("safe", d) >= world.said("safe", c) - 1e-12
            for x, y, _ in steps(world) for c, d in zip(world.counts(x), world.counts(y), strict=True)
        )  # fmt: skip
        return (
            noun == world.noun and in_order(world, rest["first"], rest["anew"]) and bool(world.looks) and all([*rates, *costs, free, kept, whole]) and world.independent
            and (int(far), int(near)) == (2 * t + 2, t + 1) and ends == world.all_answered
        )  # fmt: skip

    # ---- theorems

    @says(
        r"Takagi, Kato, Cao, Yoshikawa, Asymmetric Differential Privacy, Theorem V\.4, with exact geometric noise in place of exponential"
        r" noise \(their Section VIII\): if no step of the notion costs less than upward rate × how far it lowers the counts \+ downward rate ×"
        r" how far it raises them, the noisy counts are private under the notion\."
    )
    def _(world: Any) -> bool:
        law = world.plan.mechanism.law
        up, down = float(law.up), float(law.down)
        for x, y, cost in steps(world):
            apart = [after - before for before, after in zip(world.counts(x), world.counts(y), strict=True)]
            fall, rise = sum(max(-d, 0) for d in apart), sum(max(d, 0) for d in apart)
            if (up * fall if fall else 0) + (down * rise if rise else 0) > cost + 1e-9:
                return False
        return world.stops is None

    @says(
        r"Takagi, Kato, Cao, Yoshikawa, Asymmetric Differential Privacy, Theorem V\.7 \(its ratio corrected to e\^ε\): saying 'safe' is free"
        r" where counts only fall along the steps of the notion; each published exceeding count costs ε\."
    )
    def _(world: Any) -> bool:
        return world.stops is not None and not world.looks and moves(world, each=True)[0] == 0

    @says(
        r"Ding, Wang, Zhang, Kifer, Free Gap Information from the Differentially Private Sparse Vector and Noisy Max Mechanisms, Algorithm 2,"
        r" where counts only fall along the steps of the notion: then the threshold needs no noise, saying 'safe' is free at every look, and"
        r" a count costs what the look costs that publishes it\."
    )
    def _(world: Any) -> bool:
        return bool(world.looks) and moves(world, each=True)[0] == 0

    @says(
        r"Leeward, docs/guide/everyone: where every step withdraws one person, it lowers the counts at no more than k places and the most"
        r" people left out at any place by at most 1, and raises none of them; upward noise on all of them, whose rates for k falls and for"
        r" that one add up to ε, is private, and their sums are never below all who were there\."
    )
    def _(world: Any) -> bool:
        never_below = all(
            counted + world.left_out(table) >= there
            for table in world.tables for counted, there in zip(world.counts(table), world.there(table), strict=True)
        )  # fmt: skip
        rule, (rise, fall) = world.plan.mechanism, moves(world, each=False)
        paid = fall * float(rule.line.fall) + float(rule.left_out)
        least = min(cost for _, _, cost in steps(world))
        return rise == 0 and falls_of_those_left_out(world) == {0, 1} and paid <= least + 1e-9 and never_below

    for name, text in (
        (
            "addition-only",
            r"One-Sided Differential Privacy \(differentialprivacy\.org\), Definition 1 and Proposition 3\.",
        ),
        (
            "removal-only",
            r"One-Sided Differential Privacy \(differentialprivacy\.org\), Definition 2 and Proposition 4\.",
        ),
        (
            "presence",
            r"Takagi et al\., Definitions IV\.1 and IV\.2 with one policy for every listed place, all at once\.",
        ),
        (
            "dp",
            r"Ghosh, Roughgarden, Sundararajan \(2009\): the two-sided geometric mechanism is ε-differentially private\.",
        ),
    ):
        says(text)(lambda world, name=name: world.notion.name == name)

    # ---- what it rests on

    @says(
        r"Nobody was at more than (?P<bound>\d+) listed places? in the window: a fact about the world that was checked on the data, not protected"
    )
    def _(world: Any, bound: str) -> bool:
        return (
            world.bound == int(bound) and not world.truncated and all(len(r or ()) <= int(bound) for r in world.records)
        )

    @says(
        r"One person's records all carry the same id, and different people carry different ids",
        r"The list of places, the window and the filter were chosen without looking at the data",
    )
    def _(world: Any) -> bool:
        return True  # of the curator: what counting by id, and public keys, rest on

    # ---- what is guaranteed

    @says(rf"Where '(?P<state>safe|dangerous)' is said, {MEANS}: it is never wrong")
    def _(world: Any, state: str, **said: str) -> bool:
        return meant(world, state, **said) and is_wrong(world, state) == 0.0

    @says(
        rf"'(?P<state>Safe|Dangerous)' means that {MEANS}\. It is wrongly said of an? {NOUN} with probability at most"
        r" (?P<alpha>\S+); over all (?P<places>[\d,]+) (places?|groups?|intervals?|levels?), at most (?P<total>\S+) wrong answers are expected"
    )
    def _(world: Any, state: str, noun: str, alpha: str, places: str, total: str, **said: str) -> bool:
        wrong = is_wrong(world, state.lower())
        return (
            noun == world.noun and meant(world, state.lower(), **said) and 0 < wrong <= float(alpha) + 1e-12
            and int(places.replace(",", "")) == world.places and math.isclose(float(total), float(alpha) * world.places, rel_tol=1e-5)
        )  # fmt: skip

    # ---- what is not

    def by_noise(world: Any) -> bool:
        """Whether some place of which a word is true may be called obscure all the same."""
        safe, dangerous = world.plan.safe_at_most, world.plan.dangerous_at_least
        clear = [
            *range(-1 if safe is None else safe + 1),
            *([] if dangerous is None else range(dangerous, dangerous + 3)),
        ]
        return any(world.said("obscure", count) > 0 for count in clear)

    @says(rf"'Obscure' says nothing: an? {NOUN} may be obscure because of the noise alone")
    def _(world: Any, noun: str) -> bool:
        return noun == world.noun and by_noise(world) and all(world.said("obscure", count) > 0 for count in range(9))

    @says(
        rf"'Obscure' says no more than that {MEANS}, which is certain(?P<noise>: an? (place|group|interval|level) may be obscure"
        r" because of the noise alone)?"
    )
    def _(world: Any, much: str, where: str, relative: str, noise: str | None) -> bool:
        limit, least = people(much.removeprefix("at most ").removeprefix("at least ")), "least" in much
        there = {"place": "there", "level": "above the level"}.get(world.noun, f"in the {world.noun}")
        right = all((world.said("obscure", n) > 0) == (n >= limit if least else n <= limit) for n in range(limit + 4))
        of_whom = "among those counted" in relative if hasattr(world, "wrongly") else world.counted_so(relative)
        return right and where == there and of_whom and by_noise(world) == (noise is not None)

    @says(rf"No {NOUN} is obscure: each is called safe or dangerous")
    def _(world: Any, noun: str) -> bool:
        return noun == world.noun and all(world.said("obscure", count) == 0 for count in range(9))

    @says(
        r"Someone at more than (?P<bound>\d+) listed places? counts only at the (?P<kept>latest|earliest) of them, and is not counted at the"
        r" others: the answers (are about these truncated counts|(?P<all>bound everyone all the same, but do not say how many were left out"
        r" at which place))"
    )
    def _(world: Any, bound: str, kept: str, **more: str | None) -> bool:
        if bool(more["all"]) != hasattr(world, "wrongly"):
            return False
        first = world.counts((("a", "b"), None)) == (1, 0)
        return world.truncated and world.bound == int(bound) and first == (kept == "earliest")

    @says(
        r"Not counted are visits without a person, a listed place or a time that can be compared with the window, visits outside the window, and visits that the filter removes; and nothing is"
        r" said about people who are not in the data"
    )
    def _(world: Any) -> bool:
        return True  # of the engine: tests/engine counts the rows that are left out, by these reasons

    @says(
        r"(?P<nouns>Places|Groups|Intervals|Levels) after the stop are not answered at all; they are marked so and say nothing"
    )
    def _(world: Any, nouns: str) -> bool:
        return nouns.lower() == f"{world.noun}s" and world.stops is not None and not world.all_answered


def falls_of_those_left_out(world: Any) -> set[int]:
    """By how much one step lowers the most people left out at any place; below 0 where it raises them."""
    return {world.left_out(x) - world.left_out(y) for x, y, _ in steps(world)}


def in_order(world: Any, first: str | None, anew: str | None) -> bool:
    """Whether it is told that levels come from the highest down, and where each group begins anew."""
    return (world.noun == "level") == bool(first) and (world.scans > 1) == bool(anew)


def meant(world: Any, state: str, much: str, where: str, relative: str) -> bool:
    """Whether the word means what the plan decides, of which counts, and where."""
    number_of = people(much.removeprefix("at most ").removeprefix("at least "))
    expected = world.plan.safe_at_most if state == "safe" else world.plan.dangerous_at_least
    right = ("least" not in much) if state == "safe" else ("least" in much)
    there = {"place": "there", "level": "above the level"}.get(world.noun, f"in the {world.noun}")
    return right and number_of == expected and where == there and world.counted_so(relative)


REQUIRED = [
    ("an assumption on the world", r"Nobody was at more than.*", lambda w: w.bound is not None and not w.truncated),
    ("truncation", r"Someone at more than.*", lambda w: w.truncated),
    ("what is not protected", r"Not protected: .*", lambda w: bool(w.notion.words.reveals)),
    (
        "places after the stop",
        r"(Places|Groups|Intervals|Levels) after the stop.*",
        lambda w: w.stops is not None and not w.all_answered,
    ),
    ("what safe means", r"(Where 'safe'|'Safe').*", lambda w: w.plan.safe_at_most is not None),
    ("what dangerous means", r"(Where 'dangerous'|'Dangerous').*", lambda w: w.plan.dangerous_at_least is not None),
    ("the promise", r"This promise holds.*", lambda w: True),
]
"""What must be said where it is so: a name, a pattern, and when."""

STRUCTURE = {
    *("format", "leeward", "created", "dataset", "version", "price", "notion.name", "notion.epsilon", "notion.unit"),
    *(
        "query.kind",
        "query.places",
        "query.window.start",
        "query.window.end",
        "query.window.timezone",
        "query.keep.state",
    ),
    *("query.places_per_person", "query.if_more", "sensitivity.rise", "sensitivity.fall", "sensitivity.per_place"),
    *(
        "mechanism.name",
        "mechanism.rate_up",
        "mechanism.rate_down",
    ),
    *("mechanism.looks.rate_up", "mechanism.looks.published_from", "mechanism.looks.price"),
    *("mechanism.stop_after", "mechanism.expected_answered_if_empty", "decision.safe_at_most", "decision.threshold"),
    *(
        "decision.never_wrong",
        "decision.dangerous_at_least",
        "decision.dangerous_threshold",
        "decision.dangerous_never_wrong",
    ),
    *(
        "decision.error_at_most",
        "decision.error_at_most_over_all_places",
        "decision.curve.count",
        "decision.curve.safe",
    ),
    "decision.curve.dangerous",
    *("decision.about", "decision.left_out", "decision.safe_if_left_out", "mechanism.rate_left_out"),
}
"""The parts that are not sentences; each is looked at by `structure`."""


def structure(statement: dict[str, Any], world: Any) -> list[str]:
    """Return what is false among the parts of a statement that are not sentences."""
    plan, wrong = world.plan, []

    def part(name: str, told: Any, true: Any) -> None:
        if told != true:
            wrong.append(f"{name} is told as {told!r} and is {true!r}")

    decision, mechanism, query = statement["decision"], statement["mechanism"], statement["query"]
    part("price", statement["price"], str(world.price))
    part("unit", statement["notion"]["unit"], world.unit)
    size = max(map(len, world.groups))
    told = (int(statement["sensitivity"][way]) * size for way in ("rise", "fall"))
    part("rise and fall", bounded(world, world.stops is not None, *told), True)
    part("per place", statement["sensitivity"]["per_place"], world.stops is not None)
    usual = "geometric" if world.stops is None else "sanitized"
    bound = getattr(world, "bounded", False)
    part("mechanism", mechanism["name"], "everyone" if bound else "adaptive" if world.looks else usual)
    part("about", decision["about"], "everyone" if hasattr(world, "wrongly") else plan.about)
    part("left out", decision["left_out"], plan.left_out)
    part("noise on those left out", mechanism.get("rate_left_out"), str(plan.mechanism.left_out) if bound else None)
    odds = [world.sum_at_most(plan.safe_at_most - most) for most in range(plan.safe_at_most + 1)] if bound else []
    told = [float(chance) for chance in decision["safe_if_left_out"]]
    part("odds by those left out", len(told) == len(odds) and np.allclose(told, odds, atol=1e-9), True)
    each, t = float(world.notion.epsilon), plan.safe_at_most or 0
    told = [(number(one["rate_up"]), one["published_from"], number(one["price"])) for one in mechanism.get("looks", ())]
    part("looks", told, [(rate, t + 1 + margin, each * halves / 2) for rate, margin, halves in world.looks])
    rates = {"adds": None, "takes": None, "up": mechanism["rate_up"], "down": mechanism["rate_down"]}
    ways = {name: None if rate == "inf" else rate for name, rate in rates.items()}
    part(
        "rates",
        goes(
            world,
            plan.mechanism.laws[-1] if world.looks else getattr(plan.mechanism, "count_law", plan.mechanism.law),
            **ways,
        ),
        True,
    )
    part("stops", mechanism.get("stop_after"), world.left)
    if world.stops is not None:
        part(
            "reach",
            math.isclose(mechanism["expected_answered_if_empty"], world.reach(world.places, world.left), rel_tol=1e-3),
            True,
        )
    asked, keep = world.asked()
    part("what is asked", *(json.loads(json.dumps(one)) for one in ({name: query[name] for name in asked}, asked)))
    part("keep", query["keep"], {column: list(values) for column, values in keep.items()})
    for state, value, never in (
        ("safe", "safe_at_most", "never_wrong"),
        ("dangerous", "dangerous_at_least", "dangerous_never_wrong"),
    ):
        part(value, decision.get(value), getattr(plan, value))
        if getattr(plan, value) is not None:
            part(never, decision[never], is_wrong(world, state) == 0.0)
            for entry in decision["curve"]:
                near = abs(float(entry[state]) - world.said(state, entry["count"])) <= 1e-6
                part(f"Pr[{state} | {entry['count']}] = {entry[state]}", near, True)
    alpha = decision["error_at_most"]
    part("no error is granted", alpha is None, all(is_wrong(world, s) == 0.0 for s in world.words))
    if alpha is not None:
        total = number(decision["error_at_most_over_all_places"])
        t, least = plan.safe_at_most, plan.dangerous_at_least
        wrongs = [
            [world.said("safe", c)] * (t is not None and c > t)
            + [world.said("dangerous", c)] * (least is not None and c < least)
            for c in range((least or t or 0) + 8)
        ]
        words = max(sum(chance > 0 for chance in each) for each in wrongs)  # a count between t and T can get both
        part("α over all places", math.isclose(total, number(alpha) * words * world.places), True)
        part("wrong words of a place", max(map(sum, wrongs)) <= total / world.places + 1e-12, True)
    return wrong


def leaves(value: Any, path: str = "") -> Any:
    """Yield (path, value) of everything in nested dicts and lists; entries of a list share their path."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(inner, f"{path}.{name}".lstrip("."))
    elif isinstance(value, list):
        yield from itertools.chain.from_iterable(leaves(inner, path) for inner in value)
    else:
        yield path, value
