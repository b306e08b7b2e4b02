# SPDX-License-Identifier: Apache-2.0
"""What a verification found: exact numbers as attributes, and all of it in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from leeward._displayed import Displayed
from leeward.errors import InputError
from leeward.exact._real import Real
from leeward.exact._weight import Weight, exp, weighted_sum

Outcome = Literal["private", "not private", "undecided"]

Interval = tuple[float, float]
"""Floats (lower, upper) that are proved to enclose an exact number."""

_LONG = 40
"""A closed form of more characters than this is shown as a number."""


@dataclass(frozen=True)
class Verdict(Displayed):
    """Whether ``Pr[z | x] ≤ e^{d(x → x')} · Pr[z | x']`` for all ordered pairs of secrets and all outputs.

    True in a condition iff the mechanism was proved private.

    Attributes:
        outcome: "private", "not private" or "undecided".
        reason: why, in a sentence.
        pairs: how many ordered pairs with a finite distance were compared.
        worst_pair: (x, x') where the bound is met or missed most; None if every distance is ∞ or there is no pair.
        worst_output: the output z there.
        allowed: d(x → x') of the worst pair.
        log_ratio: encloses ln(Pr[z | x] / Pr[z | x']) there; ∞ where the output rules x' out.
        excess: encloses the largest ln(Pr[z | x] / Pr[z | x']) − d(x → x') over all pairs and outputs.
        scale: encloses the least c such that the mechanism is c·d-private.
        exact_scale: that c exactly, where it was found in closed form and proved.
        tight: whether the bound is attained with equality at a positive distance, so that no smaller d would do.
        note: what must be known about the matrix itself.
    """

    outcome: Outcome
    reason: str
    pairs: int
    worst_pair: tuple[Any, Any] | None
    worst_output: Any
    allowed: Real | None
    log_ratio: Interval | None
    excess: Interval | None
    scale: Interval
    exact_scale: Real | None
    tight: bool
    note: str = ""

    def __bool__(self) -> bool:
        return self.outcome == "private"

    def __str__(self) -> str:
        lines = [f"{self.outcome}{', and tight' if self.tight else ''}: {self.reason}"]
        if self.worst_pair is not None:
            (x, y), (low, high) = self.worst_pair, self.log_ratio or (0.0, 0.0)
            lines.append(
                f"  worst pair: x = {x!r} passed off as x' = {y!r}, at output {self.worst_output!r}: "
                + (
                    "possible from x, impossible from x'"
                    if low == float("inf")
                    else f"ln Pr[z|x]/Pr[z|x'] = {show(low, high)}, allowed d(x → x') = {self.allowed}"
                )
            )
        exactly, about = str(self.exact_scale), show(*self.scale)
        least = about if self.exact_scale is None or len(exactly) > _LONG else exactly
        lines.append(f"  least c such that it is c·d-private: {least}")
        lines.append(f"  compared: {self.pairs:,} ordered pairs at finite distance, every output")
        return "\n".join(lines + ([f"  note: {self.note}"] if self.note else []))


@dataclass(frozen=True)
class DeltaVerdict(Displayed):
    """Whether ``Σ_z max(Pr[z | x] − e^{d(x → x')} · Pr[z | x'], 0) ≤ δ``, for neighbours or for all ordered pairs.

    True in a condition iff that was proved. The sum is the largest amount by which any set of outputs breaks the bound.

    Attributes:
        outcome: "private", "not private" or "undecided".
        reason: why, in a sentence.
        pairs: how many ordered pairs were compared: those one step apart, or all with a finite distance.
        worst_pair: (x, x') that needs the largest δ; None if there is no pair.
        delta: the δ asked about.
        needed: encloses the least δ that would do for all of these pairs.
        exact_needed: that δ exactly; None where not computed.
        note: what must be known about the matrix itself.
        step: the largest d(x → x') of a step, the ε of (ε, δ); None if the same δ was asked at every distance.
    """

    outcome: Outcome
    reason: str
    pairs: int
    worst_pair: tuple[Any, Any] | None
    delta: Weight
    needed: Interval
    exact_needed: Weight | None
    note: str = ""
    step: Real | None = None

    def __bool__(self) -> bool:
        return self.outcome == "private"

    def group(self, steps: int) -> tuple[Real, Weight]:
        """Return what (ε, δ) between neighbours is worth over i steps: (i·ε, δ·Σ_{j<i} e^{jε}), ε that of the largest step.

        It may be more than 1 and then says nothing. It follows from the promise whether that is kept or not.

        Raises:
            InputError: for no step, or where the same δ was asked at every distance: then a group has that δ as well.
        """
        if self.step is None or steps < 1:
            raise InputError(
                f"A group of {steps}" if self.step is not None else "A group under the same δ at every distance",
                "it has at least one member" if self.step is not None else "it has that δ as well",
                "Give a positive number of steps to the verdict of verify(…, delta=…)",
            )
        return self.step * steps, self.delta * weighted_sum((exp(self.step * j), 1) for j in range(steps))

    def __str__(self) -> str:
        lines = [f"{self.outcome}: {self.reason}"]
        if self.worst_pair is not None:
            x, y = self.worst_pair
            lines.append(f"  worst pair: x = {x!r} passed off as x' = {y!r}")
        lines.append(f"  least δ that would do: {show(*self.needed)}; asked: {float(self.delta):.6g}")
        if self.step is None:
            lines.append(f"  compared: {self.pairs:,} ordered pairs at finite distance, every set of outputs")
        else:
            lines.append(f"  compared: {self.pairs:,} ordered pairs one step apart, every set of outputs")
            epsilon, delta = self.group(2)
            lines.append(
                "  for a group, over i steps: i·ε and δ·(1 + e^ε + … + e^((i−1)ε)); over 2 steps:"
                f" {float(epsilon):.6g} and {float(delta):.6g}"
            )
        return "\n".join(lines + ([f"  note: {self.note}"] if self.note else []))


def show(low: float, high: float) -> str:
    """Write a certified interval as the number it pins down, or as its two ends."""
    if low == high or f"{low:.10g}" == f"{high:.10g}":
        return f"{low:.10g}"
    return f"between {low:.12g} and {high:.12g}"
