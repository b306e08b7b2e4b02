# SPDX-License-Identifier: Apache-2.0
"""What every statement has: who made it, about which data, under which notion, at which price."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from leeward._statement import NOT_YET, NotionStated, Published, Statement, reading
from leeward.exact._real import Real
from leeward.notion import Notion
from leeward.planner._selection_plan import AnyPlan
from leeward.planner._unlisted_plan import delta_of
from leeward.version import __version__

_DEFINED = {
    "addition-only": ("One-Sided Differential Privacy (differentialprivacy.org), Definition 1", " and Proposition 3"),
    "removal-only": ("One-Sided Differential Privacy (differentialprivacy.org), Definition 2", " and Proposition 4"),
    "presence": ("Takagi et al., Definitions IV.1 and IV.2 with one policy for every listed place, all at once", ""),
}
"""Where the notion is defined, for those that the field knows by another's name, and where noise is shown to keep it."""

_TWO_SIDED = "Ghosh, Roughgarden, Sundararajan (2009): the two-sided geometric mechanism is ε-differentially private."


def privacy_statement(
    plan: AnyPlan,
    *,
    places: int,
    dataset: str,
    version: str,
    published: Published = NOT_YET,
    promises: Sequence[str] = (),
) -> Statement:
    """Return the statement of a planned release.

    Args:
        plan: the plan.
        places: how many public keys it is over.
        dataset: the public name of the data.
        version: the public label of their content.
        published: what is known of a release only once it is paid for; by default nothing is published yet.
        promises: assumptions beyond the plan's.
    """
    heading = {
        "format": 1,
        **dict(published),
        "leeward": __version__,
        "created": today(),
        "dataset": dataset,
        "version": version,
        "notion": _notion_stated(plan),
        "price": str(plan.price),
    }
    return stated(plan, places, Frame(plan, heading, promises))


@dataclass(frozen=True)
class Frame:
    """What the statement of a plan has in common with those of all others: its heading, and how its lists end.

    Attributes:
        plan: the plan.
        heading: the keys that say who made it, about which data, and what is promised.
        promises: assumptions beyond the plan's.
    """

    plan: AnyPlan
    heading: Mapping[str, Any]
    promises: Sequence[str]

    def around(
        self,
        *,
        assumed: Iterable[str],
        theorems: Iterable[str],
        guaranteed: Iterable[str],
        not_guaranteed: Iterable[str],
        by_noise: bool = False,
    ) -> dict[str, Any]:
        """Return the keys of a `Heading`; what is said of a question of this kind stands before what is said of all."""
        plan, reveals = self.plan, self.plan.words.reveals
        return {
            **self.heading,
            "assumptions": (*assumed, *self.promises),
            "theorems": (*theorems, *_defined_in(plan.notion, by_noise=by_noise)),
            "guaranteed": (*guaranteed, _promised(plan)),
            "not_guaranteed": (*not_guaranteed, *([f"Not protected: {reveals}"] if reveals else [])),
        }


@functools.singledispatch
def stated(plan: Any, places: int, frame: Frame) -> Statement:
    """Return the statement of a kind of plan."""
    raise TypeError(f"no statement is known for a {type(plan).__name__}")


def _notion_stated(plan: AnyPlan) -> NotionStated:
    """Return the promise of everything that is published, at the ε of its whole price: after c stops c times the notion."""
    words = plan.words
    return NotionStated(
        name=plan.notion.name,
        epsilon=str(plan.price),
        unit=words.unit,
        definition=words.definition,
        protects=words.protects,
        does_not_protect=words.reveals,
        alternative=words.alternative,
    )


def _promised(plan: AnyPlan) -> str:
    """Say what all that is published keeps at once, and how its formula is read."""
    and_delta = f" and δ = {delta}" if (delta := delta_of(plan)) else ""
    return (
        "This promise holds for all answers to this question together, and for anything concluded from them."
        f" It limits how much the chance of any answer depends on what is protected: {plan.words.definition},"
        f" with ε = {plan.price}{and_delta}, where {reading(str(plan.price))}"
    )


def _defined_in(notion: Notion, *, by_noise: bool) -> tuple[str, ...]:
    """Return where a notion is defined by another name, and that noise on answers keeps it; nothing where that is known."""
    if notion.name not in _DEFINED:
        return (_TWO_SIDED,) if by_noise and notion.name == "dp" else ()
    where, kept = _DEFINED[notion.name]
    return (f"{where}{kept if by_noise else ''}.",)


def today() -> str:
    """Return the day, in UTC."""
    return datetime.now(UTC).date().isoformat()


def exact_text(number: Real | Fraction | None) -> str | None:
    """Write an exact public number; None for none."""
    return None if number is None else str(number)


def direction(up: Real, down: Real) -> str:
    """Say which way noise of these rates goes."""
    if down.is_infinite:
        return f"never negative, of rate {up} upwards"
    if up.is_infinite:
        return f"never positive, of rate {down} downwards"
    return f"of rate {up} upwards and {down} downwards"
