# SPDX-License-Identifier: Apache-2.0
"""Counts of people by keys that nobody has listed: which keys there are is part of the answer.

Notation. Each person has at most m keys (towns, diagnoses, search terms) out of a set of all keys there could be, which may
be infinite. c(u) is the number of people with key u. What is published is the noisy count c(u) + G_u of each key for which
it reaches a threshold τ; of all others nothing, not even that they are there.

**Keys with nobody are never shown, and need no draw.** Let M_c be what is published of one key with c people: its noisy
count, or nothing. M_0 says nothing, always. A table's answer is one M_{c(u)} for each key u, independent. All but finitely
many are M_0, which have one outcome, so the answer has the same law whether they are drawn or left out: one pass over
the keys that occur draws from exactly this law. Two neighbouring tables differ in the counts of few keys, and all other
factors are the same on both sides.

**One key.** Let q = e^{−b}, N a whole number, and δ₁ = A·q^N the probability of the farthest noise below.

    upwards     P(G = k) = A·q^k on 0, …, N,       A = (1 − q)/(1 − q^{N+1}),        τ = N + 1
    both ways   P(G = k) = A·q^{|k|} on −N, …, N,  A = (1 − q)/(1 + q − 2q^{N+1}),   τ = N + 1
    downwards   P(G = −k) = (1 − q)·q^k on 0, 1, …,                                  τ = 1

*Withdrawing*: noise upwards or both ways keeps Pr[M_c ∈ Z] ≤ e^b·Pr[M_{c−1} ∈ Z] + δ₁ for every c ≥ 1 and all Z, and no less
than δ₁ will do. *Inserting*: noise both ways keeps Pr[M_c ∈ Z] ≤ e^b·Pr[M_{c+1} ∈ Z] + δ₁, and noise downwards keeps it with
no δ at all.

Proof. Withdrawing, c ≥ 2: c + G and c − 1 + G differ by a factor of at most e^b wherever both occur, and only c + N cannot
come from c − 1: with probability δ₁. It is at least τ, so it is shown and seen. What is published is read off the noisy
count, so no set of outcomes is worse, and {c + N} needs all of δ₁. c = 1: M_0 shows nothing; M_1 shows something iff
1 + G ≥ N + 1, with probability δ₁; and nothing is at most e^b times certain. Inserting, both ways, c ≥ 1: the same with
c − N. c = 0: Pr[M_0 says nothing] = 1 ≤ e^b·(1 − δ₁) + δ₁. Downwards, c ≥ 1: Pr[M_c = z] = (1 − q)·q^{c−z} for 1 ≤ z ≤ c and
Pr[nothing] = q^c; c + 1 gives q times either, and more outcomes. c = 0: 1 = e^b·q = e^b·Pr[M_1 says nothing]. ∎

So it is *withdrawing* that needs a δ: where the only person with a key is withdrawn, the key can no longer be shown, and no
multiple of 0 covers a shown key. Inserting that person back needs none. Under removal-only keys nobody knows are shown with
a pure ε, and with the threshold 1.

**Several keys.** A step that changes m' counts by 1 each, at b each, is (m'·b, 1 − (1 − δ₁)^{m'})-private, and where each
of these changes can need its δ₁, with no less. Proof: of each factor a part of mass 1 − δ₁ is at most e^b times the other
side; the product of these parts, of mass (1 − δ₁)^{m'}, is at most e^{m'·b} times it, and all that is left has mass
1 − (1 − δ₁)^{m'}. Conversely on the set where any factor takes its outcome that the other side has not, and only there, the
loss is above m'·b. ∎ Withdrawing or inserting a person changes m' = m counts, replacing one m' = 2m: so

    addition-only   upwards     b = ε/m         δ = 1 − (1 − δ₁)^m
    removal-only    downwards   b = ε/m         δ = 0
    dp              both ways   b = ε/m         δ = 1 − (1 − δ₁)^m
    bounded-dp, add-remove-replace-dp   both ways   b = ε/(2m)   δ = 1 − (1 − δ₁)^{2m}

(replacing needs all of it where each of the new keys has 2N + 1 people or more). These are promises about neighbours, one
step apart, as (ε, δ) always is; over i steps δ becomes δ·(1 + e^ε + … + e^{(i−1)ε}).

**What is certain.** Upwards, a shown count is never below the truth and at most N above it, and a key with τ people or more
is always shown: so whatever is not shown has at most N people. Downwards, a shown count is never above the truth, and a key
that is shown is there. Both ways, a shown count is within N of the truth, and a key with 2N + 1 people is always shown.

**No mechanism shows more.** Let π_c be the chance that a key with c people is shown, by any mechanism that never shows a key
with nobody and is private for one key at (b, δ₁). Withdrawing, π_c ≤ min(1, e^b·π_{c−1} + δ₁), hence π_c ≤ δ₁·(e^{cb} −
1)/(e^b − 1), which upward noise attains for every c up to τ, where it is 1. Inserting without δ, 1 − π_{c+1} ≥ e^{−b}·(1 −
π_c), hence π_c ≤ 1 − e^{−cb}, which downward noise attains. Both ways, π_c ≤ min(e^b·π_{c−1} + δ₁, 1 − e^{−b}·(1 − π_{c−1}
− δ₁), 1), which noise both ways attains (Desfontaines, Voss, Gipson and Mandayam 2022, for the two-sided case). The usual
rule, noise without an end above a threshold, shows less: at ε = 1/10 and δ = 10⁻⁶ it takes 140 people upwards until a key is
always shown, where 116 do here.

Every other notion is refused: metric notions, policies, several ε and notions of one's own have steps whose δ is not
derived.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from typing import ClassVar, Literal, TypeAlias, TypeVar

import flint
import numpy as np
from numpy.typing import NDArray

from leeward._integers import least_between
from leeward._plain import echo
from leeward._taught import taught
from leeward.distance import Line
from leeward.errors import InputError, NoiseError, NotPrivateError
from leeward.exact._real import Exact, inf, whole
from leeward.exact._weight import Weight, weight
from leeward.mechanism._finite import FiniteMechanism
from leeward.mechanism._geometric import integers
from leeward.noise import Bits, DirectedGeometric, SystemBits, add_saturating
from leeward.noise._cut_geometric import LONGEST_REACH, CutGeometric
from leeward.notion import AdditionOnly, BoundedDP, Notion, RemovalOnly, ReplaceDP, UnboundedDP

Key = TypeVar("Key", str, int)

Shown: TypeAlias = int | None
"""What is published of one key: its noisy count, or None for nothing."""

_CHANGED: dict[type[Notion], int] = {AdditionOnly: 1, RemovalOnly: 1, UnboundedDP: 1, BoundedDP: 2, ReplaceDP: 2}
"""How many counts one step changes for each key of a person: a replaced person may leave one and join another."""


@taught
class UnknownKeys:
    """Noisy counts of the keys that enough people have; of all other keys nothing is said.

    Build it with `under`, which derives noise and threshold from a notion, ε and δ; the theorem and its proof are in
    `leeward.mechanism._unknown_keys`.

    Args:
        line: what one count's rise and fall by 1 cost; of the finite ones both are the same.
        reach: N, how far noise goes at most; None where counts cannot fall (noise is downward then, and has no end).

    Raises:
        InputError: if the line protects nothing, its two rates differ, or the reach is missing or of no use.
        NoiseError: if a rate is too small or the noise reaches too far for 64-bit answers.
    """

    name: ClassVar[Literal["unknown keys"]] = "unknown keys"

    def __init__(self, line: Line, reach: int | None) -> None:
        up, down = not line.fall.is_infinite, not line.rise.is_infinite
        if not (up or down):
            raise InputError(f"{line}", "it protects neither direction", "Publish the counts themselves")
        if up and down and line.rise != line.fall:
            raise InputError(f"{line}", "for two different rates no δ is derived", "Give both the same rate")
        if up is (reach is None):
            because = (
                "where nobody is withdrawn, noise needs no end" if reach is not None else "noise upwards needs an end"
            )
            raise InputError(f"reach = {echo(reach)}", because, f"{'Give' if up else 'Leave out'} the reach")
        self.line, self.reach = line, None if reach is None else whole(reach, "reach", 1, says="noise goes so far")
        self.threshold = 1 if self.reach is None else self.reach + 1
        self.law: CutGeometric | DirectedGeometric = (
            DirectedGeometric(inf, line.rise)
            if self.reach is None
            else CutGeometric(line.fall, self.reach, both_ways=down)
        )

    @classmethod
    def under(cls, notion: Notion, delta: Exact | None = None, *, keys_per_person: int = 1) -> UnknownKeys:
        """Return the mechanism that is (ε, δ)-private under a notion, with the least threshold.

        Args:
            notion: addition-only, removal-only, dp, bounded-dp or add-remove-replace-dp; ε is its own.
            delta: the δ that is promised, above 0 and below 1; None under removal-only, which needs none.
            keys_per_person: m, how many keys one person has at most.

        Raises:
            NotPrivateError: for every other notion.
            InputError: if δ is missing, not needed, or out of range; or m is not a whole number of at least 1.
            NoiseError: if noise would have to reach too far.
        """
        if not isinstance(notion, Notion):
            raise InputError(f"{echo(notion)} for a notion", "it is not a notion", 'Give, say, lw.AdditionOnly("1")')
        if type(notion) not in _CHANGED:
            raise NotPrivateError(
                f"Keys that are not listed, under {notion.name}",
                "what it costs that a key is shown, and how often it must not be, is derived for steps that withdraw, insert"
                " or replace one person, all at one ε",
                "List the keys; or use addition-only, removal-only, dp, bounded-dp or add-remove-replace-dp",
            )
        changed = _CHANGED[type(notion)] * whole(keys_per_person, "keys_per_person")
        rate = notion.epsilon / changed
        if isinstance(notion, RemovalOnly):
            if delta is not None:
                raise InputError(
                    f"delta = {echo(delta)} under removal-only",
                    "nobody is ever withdrawn, so no δ is needed: the promise is a pure ε",
                    "Leave delta out",
                )
            return cls(Line(rate, inf), None)
        if delta is None:
            raise InputError(
                f"Keys that are not listed, under {notion.name}, without delta",
                "where the only person with a key is withdrawn, the key cannot be shown any more, and no ε covers that",
                'Give a small probability, delta = "1e-6": far less than one in so many people as there are',
            )
        line = Line(inf if isinstance(notion, AdditionOnly) else rate, rate)
        return cls(line, _least_reach(line, _probability(delta), changed))

    # ---- the law, exactly

    @property
    def delta_of_key(self) -> Weight:
        """δ₁: the δ of one count's change by 1."""
        return self.law.end if isinstance(self.law, CutGeometric) else weight(0)

    def delta(self, changed: int = 1) -> Weight:
        """Return the exact δ of a step that changes so many counts by 1 each: 1 − (1 − δ₁)^changed."""
        return 1 - (1 - self.delta_of_key) ** whole(changed, "changed")

    def chance_shown(self, people: int) -> Weight:
        """Return the probability that a key with so many people is shown: 0 for none."""
        people = whole(people, "people", 0)
        return self.law.tail(self.threshold - people) if people else weight(0)

    def always_shown_from(self) -> int | None:
        """Return the least number of people with whom a key is certainly shown; None where no number is certain."""
        if self.reach is None:
            return None
        return self.threshold if self.line.rise.is_infinite else self.threshold + self.reach

    def outcomes(self, people: int) -> dict[Shown, Weight]:
        """Return what is published of a key with so many people, with the exact probability of each."""
        people = whole(people, "people", 0)
        if not people:
            return {None: weight(1)}
        top = people if self.reach is None else people + self.reach
        least = self.threshold if self.reach is None else max(self.threshold, people - self.reach)
        found: dict[Shown, Weight] = {z: p for z in range(least, top + 1) if (p := self.law.pmf(z - people))}
        hidden = 1 - self.chance_shown(people)
        return {**({None: hidden} if hidden else {}), **found}

    def on(self, tables: Iterable[tuple[int, ...]]) -> FiniteMechanism:
        """Return the exact matrix on tables, each given by the counts of the same few keys.

        An output is a tuple of what is published of each.
        """
        return FiniteMechanism.from_rows({table: self._row(table) for table in map(tuple, tables)})

    def _row(self, table: tuple[int, ...]) -> dict[tuple[Shown, ...], Weight]:
        rows: dict[tuple[Shown, ...], Weight] = {}
        for each in itertools.product(*(self.outcomes(people).items() for people in table)):
            rows[tuple(z for z, _ in each)] = math.prod((p for _, p in each), start=weight(1))
        return rows

    # ---- drawing

    def release(self, counts: Mapping[Key, int], bits: Bits | None = None) -> dict[Key, int]:
        """Return the noisy counts of the keys that are shown, by key.

        Args:
            counts: how many people have each key that occurs; a key with none is as if it were not there.
            bits: the entropy source.

        Raises:
            InputError: if the keys are neither all texts nor all whole numbers, or a count is not a whole number of at least
                0.
        """
        if not isinstance(counts, Mapping):
            raise InputError(f"Counts as a {type(counts).__name__}", "each has its key", 'Give, say, {"flu": 12}')
        if (
            any(isinstance(key, bool) or not isinstance(key, str | int) for key in counts)
            or len(set(map(type, counts))) > 1
        ):
            raise InputError("Keys of several types", "they are put in order", "Give all as texts, or as whole numbers")
        keys, exactly = list(counts), integers(np.array([*counts.values()]) if counts else np.zeros(0, np.int64))
        shown, noisy = self.shown(exactly, bits or SystemBits())
        return dict(sorted((keys[i], z) for i, z in zip(shown.tolist(), noisy.tolist(), strict=True)))

    def shown(self, counts: NDArray[np.int64], bits: Bits) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the places of the keys that are shown, ascending, and the noisy count of each.

        Args:
            counts: how many people have each key that occurs, shape (keys,).
            bits: the entropy source.

        Raises:
            InputError: a count is below 0.
        """
        if (counts < 0).any():
            raise InputError("A count below 0", "it says how many people have a key", "Count them anew")
        noisy = add_saturating(counts, self.law.sample(len(counts), bits))
        places = np.flatnonzero((noisy >= self.threshold) & (counts > 0))
        return places, noisy[places]

    def __repr__(self) -> str:
        return f"UnknownKeys({self.line}, reach={self.reach})"


def _probability(delta: Exact) -> Weight:
    given = weight(delta)
    if not 0 < given < 1:
        raise InputError(
            f"delta = {echo(delta)}", "it is a probability above 0 and below 1", 'Give, say, delta = "1e-6"'
        )
    return given


def _least_reach(line: Line, delta: Weight, changed: int) -> int:
    """Return the least N of at least 1 with 1 − (1 − δ₁)^changed ≤ δ: the farther noise reaches, the smaller its end."""

    def keeps(reach: int) -> bool:
        return _kept(CutGeometric(line.fall, reach, both_ways=not line.rise.is_infinite).end, delta, changed)

    most = 1
    while most < LONGEST_REACH and not keeps(most):
        most *= 2
    if not keeps(most):
        raise NoiseError(
            "Noise that ends so rarely", f"it would reach farther than {LONGEST_REACH:,}", "Take a larger ε or δ"
        )
    return least_between(keeps, most // 2, most)  # 0, or too short


def _kept(end: Weight, delta: Weight, changed: int) -> bool:
    """Whether (1 − end)^changed ≥ 1 − δ: by intervals; exactly where they do not tell, because the two are equal."""
    for precision in (128, 512, 2048):
        with flint.ctx.workprec(precision):
            over = (1 - end.arb(precision)) ** changed - (1 - delta.arb(precision))
        if over > 0 or over < 0:
            return bool(over > 0)
    return (1 - end) ** changed >= 1 - delta
