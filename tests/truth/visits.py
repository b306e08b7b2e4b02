"""Tiny worlds of visits: two people, two places, every table there can be, and what a plan publishes of each.

What is published is gone through with the noise of the plan and nothing else of the package: counts are counted here, and
the sanitized mechanism is played here, answer by answer.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tests.deciding import decide_by

import leeward as lw
from leeward.cli import LeewardError
from leeward.mechanism import AdaptiveSanitized
from leeward.noise import SeededBitsForTests
from leeward.notion import has
from leeward.planner import Plan

PLACES = ("a", "b")
REACH = 400
"""Noise beyond has a chance below 1e-20 at the smallest rate here."""

NEAR = 12
"""Ratios are looked for so far from 0: beyond both truths they no longer change."""

VISITS = lw.visits("visits.parquet", person="user", place="venue", time="at", keep={"state": ["IN"]})
ZONED = lw.visits("visits.parquet", person="user", place="venue", time="at", timezone="Asia/Tokyo")
TICKS = lw.visits(lw.query.Source("visits.parquet", time_unit="s"), person="user", place="venue", time="at")
LIST = lw.places("places.parquet", place="venue")
SPAN = {"start": "2026-01-01T18:00", "end": "2026-01-01T19:00"}
AWARE = {"start": "2026-01-01T18:00+09:00", "end": "2026-01-01T19:00:30+09:00"}


@dataclass(frozen=True)
class World:
    """A plan about visits, and its universe.

    Attributes:
        name: what is varied, in words.
        plan: the plan.
        places: how many places its statement is about; the universe has the first two.
        window: the ends as they were given.
        keeps: for policies: whether a record may pass as another one.
        sensitive: for OSDP: whether a record is.
        groups: for promises about groups: who is in which.
        own: for personalised promises: ε of each person.
        of_facts: whether nobody is who was nowhere: a table of visits knows no other.
    """

    name: str
    plan: Plan
    places: int = 2
    keeps: Callable[[Any, Any], bool] = field(default=lambda r, s: False, compare=False)
    sensitive: Callable[[Any], bool] = field(default=lambda r: False, compare=False)
    groups: tuple[tuple[int, ...], ...] = ((0,), (1,))
    own: tuple[float, ...] = ()
    of_facts: bool = False

    def __str__(self) -> str:
        return self.name

    def __hash__(self) -> int:
        return hash(self.name)

    # ---- what was asked

    @property
    def notion(self) -> Any:
        return self.plan.notion

    @property
    def price(self) -> Any:
        """What it costs, by the rule of the sanitized mechanism: ε for every stop that there can be."""
        return self.notion.epsilon * (self.places if self.all_answered else self.stops or 1)

    @property
    def unit(self) -> str:
        """Whose data one ε is about: what the pairs of the inequality differ in."""
        if self.groups != ((0,), (1,)):
            return "group"
        return "fact" if re.search(r"\b[wi] facts", self.notion.words.definition) else "person"

    @property
    def noun(self) -> str:
        """What is said to be safe or dangerous."""
        return "place"

    @property
    def scans(self) -> int:
        """How often a mechanism that stops starts anew."""
        return 1

    def counted_so(self, relative: str) -> bool:
        """Whether these words say which people count."""
        return ("after the bound" in relative) == self.truncated and "each" not in relative

    def asked(self) -> tuple[dict[str, Any], Mapping[str, Any]]:
        """The parts of a statement's question that are no sentences, as they should be; and its filter."""
        query = self.plan.counted
        more = query.if_more if self.bound else None
        return {"places": self.places, "places_per_person": self.bound, "if_more": more}, query.visits.keep

    @property
    def words(self) -> tuple[str, ...]:
        """What is decided."""
        found = {"safe": self.plan.safe_at_most, "dangerous": self.plan.dangerous_at_least}
        return tuple(word for word, limit in found.items() if limit is not None)

    @functools.cached_property
    def independent(self) -> bool:
        """Whether places get noise of their own: a thousand draws for two empty places are not the same ones.

        Two independent columns agree everywhere with a chance below 1e-90.
        """
        if self.looks:
            endless = AdaptiveSanitized(self.plan.mechanism.line, at_most=0, budget=10**6)
            drawn = endless.release(np.zeros(2_000, np.int64), SeededBitsForTests(1))
            told = np.where(drawn.safe, -1, 2 * drawn.count + drawn.look)
            both = {0, 1} <= set(drawn.look.tolist())
            return both and not np.array_equal(told[0::2], told[1::2])
        noisy = self.plan.mechanism.law.sample(2_000, SeededBitsForTests(1)) if self.stops else None
        if noisy is None:
            noisy = self.plan.mechanism.noisy(np.zeros((1_000, 2), np.int64), SeededBitsForTests(1)).ravel()
        return not np.array_equal(noisy[0::2], noisy[1::2])

    @property
    def bound(self) -> int | None:
        return self.plan.counted.places_per_person

    @property
    def truncated(self) -> bool:
        return self.bound is not None and self.plan.counted.if_more != "refuse"

    @property
    def stops(self) -> int | None:
        return getattr(self.plan.mechanism, "stop_after", None)

    @property
    def looks(self) -> tuple[tuple[float, int, int], ...]:
        """Of the adaptive mechanism, by hand: rate, margin and halves of ε of each look; else none."""
        if type(self.plan.mechanism).__name__ != "AdaptiveSanitized":
            return ()
        rate = float(self.plan.mechanism.line.fall)
        return (rate / 2, self.plan.safe_at_most + 1, 1), (rate, 0, 2)

    def published(self, look: int, z: int, count: int) -> float:
        """Pr[this look publishes z | count]."""
        t, not_before = self.plan.safe_at_most, 1.0
        for rate, margin, _ in self.looks[:look]:
            not_before *= 1 - math.exp(-rate * max(t + margin - count + 1, 0))
        rate, margin, _ = self.looks[look]
        return not_before * (1 - math.exp(-rate)) * math.exp(-rate * (z - count)) if z >= count else 0.0

    @property
    def left(self) -> int | None:
        """How many stops there can be in this one release: of a later round of a monitor not all."""
        return self.stops

    @property
    def all_answered(self) -> bool:
        """Whether the list is known to have no more places than there are stops, so that none is left unanswered."""
        return self.stops is not None and self.plan.places is not None and self.stops >= self.places

    @property
    def counted(self) -> bool:
        """Whether noisy counts are published of every place."""
        return self.stops is None and self.plan.what == "counts"

    # ---- the universe

    @functools.cached_property
    def records(self) -> tuple[Any, ...]:
        """Nobody, and every order of distinct places; where a bound refuses more, none that exceeds it."""
        orders = [order for size in range(int(self.of_facts), 3) for order in itertools.permutations(PLACES, size)]
        refused = self.bound is not None and not self.truncated
        return (None, *(order for order in orders if not refused or len(order) <= (self.bound or 0)))

    @functools.cached_property
    def tables(self) -> tuple[Any, ...]:
        return tuple(itertools.product(self.records, repeat=2))

    def counts(self, table: Any) -> tuple[int, ...]:
        """The distinct people at each place, after the bound."""
        seen: list[set[str]] = []
        for record in table:
            held = list(record or ())
            if self.truncated:
                held = held[-self.bound :] if self.plan.counted.if_more == "latest" else held[: self.bound]
            seen.append(set(held))
        return tuple(sum(place in held for held in seen) for place in PLACES)

    def group_of(self, person: int) -> int:
        return next(number for number, group in enumerate(self.groups) if person in group)

    # ---- the mechanism

    @functools.cached_property
    def _pmf(self) -> Any:
        noise = self.plan.mechanism.laws[-1] if self.looks else self.plan.mechanism.law
        return noise.pmf_array(np.arange(-REACH, REACH + 1))

    @functools.cached_property
    def chance(self) -> Mapping[int, float]:
        return dict(zip(range(-REACH, REACH + 1), self._pmf.tolist(), strict=True))

    @functools.cache  # noqa: B019 - worlds live as long as the tests
    def ratio(self, before: int, after: int) -> float:
        """The largest log-ratio of one noisy count: the truth is ``before``, its cover ``after``."""
        found = -math.inf
        for z in range(-NEAR, NEAR):
            p, q = self.chance[z - before], self.chance[z - after]
            if p:
                found = max(found, math.log(p / q) if q else math.inf)
        return found

    def loss(self, x: Any, y: Any) -> float:
        """The largest log-ratio of all that is published of two tables."""
        return self._between(self.counts(x), self.counts(y))

    @functools.cache  # noqa: B019
    def _between(self, truth: tuple[int, ...], cover: tuple[int, ...]) -> float:
        if self.stops is None:
            return sum(self.ratio(c, d) for c, d in zip(truth, cover, strict=True))
        return self._played(tuple(zip(truth, cover, strict=True)), 2 * self.stops)

    def _played(self, pairs: Any, halves: int) -> float:
        """The largest log-ratio of the answers that are left: each is safe, or a count that uses up two halves, or one."""
        if not pairs or halves < 2:
            return 0.0
        (truth, cover), *rest = pairs
        at_most = self.plan.safe_at_most
        safe = [self.said("safe", c) for c in (truth, cover)]
        found = (
            (math.log(safe[0] / safe[1]) if safe[1] else math.inf) + self._played(rest, halves)
            if safe[0]
            else -math.inf
        )
        for p, q, spent in self._shown(at_most, truth, cover):
            if p:
                found = max(found, (math.log(p / q) if q else math.inf) + self._played(rest, halves - spent))
        return found

    def _shown(self, at_most: int, truth: int, cover: int) -> Any:
        """The chances of each published count, of the truth and of its cover, and the halves of ε that it spends."""
        if not self.looks:
            for z in range(at_most + 1, NEAR):
                yield self.chance[z - truth], self.chance[z - cover], 2
        for look, (_, margin, spent) in enumerate(self.looks):
            for z in range(at_most + margin + 1, NEAR):
                yield self.published(look, z, truth), self.published(look, z, cover), spent

    @functools.cache  # noqa: B019
    def said(self, state: str, count: int) -> float:
        """Pr[state | count], of a place that is asked, by the plan's own rule for noisy counts."""
        if self.looks:
            t, safe = self.plan.safe_at_most, 1.0
            for rate, margin, _ in self.looks:
                safe *= 1 - math.exp(-rate * max(t + margin - count + 1, 0))
            return safe if state == "safe" else 1 - safe if state == "obscure" else 0.0
        noisy = np.arange(count - REACH, count + REACH + 1)
        if self.stops is not None:
            states = np.where(noisy <= self.plan.safe_at_most, "safe", "obscure")
        else:
            states = self.plan.decisions.states(noisy)
        return float(self._pmf[states == state].sum())

    def reach(self, places: int, stops: int) -> float:
        """How many of so many empty places are answered on average, with so many stops."""
        safe, total = self.said("safe", 0), 0.0
        t, ways = self.plan.safe_at_most, [(0, safe)]
        if self.looks:
            early = math.exp(-self.looks[0][0] * (2 * t + 2))
            ways += [(1, early), (2, 1 - safe - early)]
        else:
            ways.append((2, 1 - safe))
        alive = {2 * stops: 1.0}
        for _ in range(places):
            total += sum(alive.values())
            after: dict[int, float] = {}
            for (left, p), (spent, chance) in itertools.product(alive.items(), ways):
                if left - spent >= 2:
                    after[left - spent] = after.get(left - spent, 0.0) + p * chance
            alive = after
        return total


@dataclass(frozen=True)
class OfAll(World):
    """A plan about everyone who was there, and its universe: the noise of the counts, and that of those left out."""

    __hash__ = World.__hash__

    def there(self, table: Any) -> tuple[int, ...]:
        """All who were at each place, counted or not."""
        return tuple(sum(place in (record or ()) for record in table) for place in PLACES)

    def left_out(self, table: Any) -> int:
        """The most people who were at a place and do not count there."""
        return max(all_of - some for all_of, some in zip(self.there(table), self.counts(table), strict=True))

    @functools.cached_property
    def bounded(self) -> bool:
        """Whether those left out are bounded, at a price; of danger alone they need not be."""
        return type(self.plan.mechanism).__name__ == "Everyone"

    @functools.cached_property
    def _pmf(self) -> Any:
        rule = self.plan.mechanism
        return (rule.count_law if self.bounded else rule.law).pmf_array(np.arange(-REACH, REACH + 1))

    @functools.cached_property
    def more(self) -> list[float]:
        """The chances of each value of the noise on those left out, from 0."""
        rate = float(self.plan.mechanism.left_out)
        return [(1 - math.exp(-rate)) * math.exp(-rate * k) for k in range(REACH)]

    def loss(self, x: Any, y: Any) -> float:
        found = super().loss(x, y)
        if not self.bounded:
            return found
        before, after = self.left_out(x), self.left_out(y)
        own = [self.more[z - after] if z >= after else 0.0 for z in range(NEAR)]
        told = [self.more[z - before] if z >= before else 0.0 for z in range(NEAR)]
        return found + max(math.log(p / q) if q else math.inf for p, q in zip(told, own, strict=True) if p)

    def sum_at_most(self, most: int) -> float:
        """Pr[the noise on a count and that on those left out are together at most so much], by adding up all pairs."""
        return sum(self.chance[g] * sum(self.more[: most - g + 1]) for g in range(most + 1)) if most >= 0 else 0.0

    @functools.cache  # noqa: B019
    def said(self, state: str, count: int) -> float:
        if not self.bounded or state == "dangerous":
            noisy = np.arange(count - REACH, count + REACH + 1)
            return float(self._pmf[self.plan.decisions.states(noisy) == state].sum())
        safe = self.sum_at_most(self.plan.safe_at_most - count - self.plan.left_out)
        return safe if state == "safe" else 1 - safe - (self.said("dangerous", count) if self.plan.alarm else 0.0)

    def wrongly(self, state: str) -> float:
        """How often the state is said of a place of which it is not so, of all who were there, at its most."""
        found = [0.0]
        for table in self.tables:
            for there, counted in zip(self.there(table), self.counts(table), strict=True):
                if state == "dangerous" and there < self.plan.dangerous_at_least:
                    found.append(self.said("dangerous", counted))
                if state == "safe" and there > self.plan.safe_at_most:
                    found.append(self.sum_at_most(self.plan.safe_at_most - counted - self.left_out(table)))
        return max(found)

    def counted_so(self, relative: str) -> bool:
        return self.truncated and "left out" in relative

    @functools.cached_property
    def independent(self) -> bool:
        """Whether places get noise of their own, and those left out theirs: a thousand draws of the three differ."""
        if not self.bounded:
            return World.independent.func(self)  # type: ignore[attr-defined, no-any-return]
        bits = SeededBitsForTests(1)
        drawn = np.array([self.plan.mechanism.noisy(np.zeros(3, np.int64), bits) for _ in range(1_000)])
        return len({tuple(column) for column in drawn.T.tolist()}) == 3


def _at(*places: str) -> Callable[[Any], bool]:
    return lambda record: any(place in (record or ()) for place in places)


def _policies(*names: str) -> Callable[[Any, Any], bool]:
    """The steps under the policies "was at" each of these places: nobody comes or goes."""
    return lambda r, s: r is not None and s is not None and all(_at(n)(s) for n in names if _at(n)(r))


NOTIONS: Mapping[str, tuple[lw.notion.Notion, dict[str, Any]]] = {
    "addition-only": (lw.AdditionOnly("1"), {}),
    "addition-only 1/3": (lw.AdditionOnly("1/3"), {}),
    "removal-only": (lw.RemovalOnly("1"), {}),
    "presence": (lw.Presence("1"), {"of_facts": True}),
    "dp": (lw.UnboundedDP("1"), {}),
    "bounded-dp": (lw.BoundedDP("1"), {}),
    "replace": (lw.ReplaceDP("1"), {}),
    "graded": (lw.notion.Graded("1", "4"), {"of_facts": True}),
    "graded, presence only": (lw.notion.Graded("1", "inf"), {"of_facts": True}),
    "graded, absence only": (lw.notion.Graded("inf", "1"), {"of_facts": True}),
    "graded facts": (lw.notion.GradedFacts("1", "4"), {"of_facts": True}),
    "graded facts, presence only": (lw.notion.GradedFacts("1", "inf"), {"of_facts": True}),
    "graded facts, absence only": (lw.notion.GradedFacts("inf", "1"), {"of_facts": True}),
    "adp": (lw.ADP("1", [has("a"), has("b")], name="was at a, was at b"), {"keeps": _policies("a", "b")}),
    "osdp": (lw.OSDP("1", has("a")), {"sensitive": _at("a")}),
    "osdp, narrower": (lw.OSDP("1", has("a"), "non-sensitive"), {"sensitive": _at("a")}),
    "local": (lw.notion.LocalDP("1"), {}),
    "personalised": (lw.Personalised(lw.AdditionOnly("1"), ["1", "1/4"]), {"own": (1.0, 0.25)}),
    "both": (lw.both_hold(lw.AdditionOnly("1"), lw.RemovalOnly("2")), {}),
    "both, one with public people": (lw.both_hold(lw.BoundedDP("1"), lw.AdditionOnly("2")), {}),
    "groups": (lw.GroupDP("1", [[0, 1]]), {"groups": ((0, 1),)}),
}  # fmt: skip

QUESTIONS: Mapping[str, dict[str, Any]] = {
    "one place": {"places_per_person": 1},
    "two places": {"places_per_person": 2},
    "latest": {"places_per_person": 1, "if_more": "latest"},
    "earliest": {"places_per_person": 1, "if_more": "earliest"},
    "no bound": {},
}

DECISIONS: Mapping[str, dict[str, Any]] = {
    "safe": {"safe_at_most": 2},
    "nobody": {"safe_at_most": 0, "what": "counts"},
    "dangerous": {"dangerous_at_least": 3, "what": "counts"},
    "both": {"safe_at_most": 1, "dangerous_at_least": 4, "what": "counts"},
    "one or the other": {"safe_at_most": 3, "dangerous_at_least": 4, "error_at_most": "2/5"},
    "one stop": {"safe_at_most": 1, "mechanism": "sanitized"},
    "two stops": {"safe_at_most": 1, "mechanism": "sanitized", "stop_after": 2},
    "a stop of two": {"safe_at_most": 1, "mechanism": "sanitized", "stop_after": 1, "places": 2},
    "looks": {"safe_at_most": 1, "mechanism": "adaptive"},
    "looks for two": {"safe_at_most": 0, "mechanism": "adaptive", "stop_after": 2},
    "looks at two": {"safe_at_most": 0, "mechanism": "adaptive", "stop_after": 2, "places": 2},
    "nine stops of two": {"safe_at_most": 1, "mechanism": "sanitized", "stop_after": 9, "places": 2},
}

OF_ALL: Mapping[str, dict[str, Any]] = {
    "safe of all": {"safe_at_most": 1, "about": "everyone", "what": "counts"},
    "nobody of all": {"safe_at_most": 0, "about": "everyone"},
    "guessed": {"safe_at_most": 4, "about": "everyone", "left_out": 2},
    "both of all": {"safe_at_most": 1, "dangerous_at_least": 4, "about": "everyone"},
    "dangerous of all": {"dangerous_at_least": 2, "about": "everyone"},
}
"""Decisions about everyone who was there, although some are left out."""

LOOKS: Mapping[str, tuple[Any, dict[str, str], int]] = {
    "plain": (VISITS, SPAN, 2),
    "zoned": (ZONED, SPAN, 7),
    "ticks": (TICKS, SPAN, 1),
    "aware": (ZONED, AWARE, 1_200),
}
"""The table, the window and the length of the list: what the texts about them depend on."""


def made(notion: str, question: str, decision: str, look: str = "plain") -> World | None:
    """The world of these choices; None where they are refused."""
    asked, extra = NOTIONS[notion]
    visits, span, places = LOOKS[look]
    decide = dict((DECISIONS | OF_ALL)[decision])  # type: ignore[operator]
    listed = decide.pop("places", None)
    query = lw.count_visitors(visits, LIST, **span, **QUESTIONS[question])
    for error in ({}, {"error_at_most": "1/5"}):
        try:
            planned = decide_by(lw.plan, query, asked, **{**decide, **error}).listing(listed)
        except LeewardError:
            continue
        kind = OfAll if planned.left_out_counts else World
        return kind(", ".join((notion, question, decision, look)), planned, places, **extra)
    return None


@functools.cache
def worlds() -> tuple[World, ...]:
    """Every combination that is not refused; the looks with one notion."""
    grid = itertools.product(NOTIONS, QUESTIONS, DECISIONS)
    found = [made(*choices) for choices in grid] + [
        made("dp", "latest", "both", look) for look in LOOKS if look != "plain"
    ]
    certain = itertools.product(
        ("addition-only", "removal-only", "dp", "personalised"), ("latest", "earliest", "one place"), OF_ALL
    )
    found += [made(*choices) for choices in certain]
    return tuple(world for world in found if world is not None)
