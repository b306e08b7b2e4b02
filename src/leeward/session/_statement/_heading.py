"""What every statement has: who made it, about which data, under which notion, at which price."""

from __future__ import annotations

import functools
from datetime import UTC, datetime
from typing import Any

from leeward.exact._real import Real
from leeward.notion import Notion, of_rows
from leeward.version import __version__


@functools.singledispatch
def privacy_statement(plan: Any, *, places: int, dataset: str, version: str) -> dict[str, Any]:
    """Return the statement of a planned release over this many public keys, without the entry id.

    Parameters are exact strings ("1/3", "inf"); probabilities are decimals of at most 12 digits; "0" is exactly 0.
    """
    raise TypeError(f"no statement is known for a {type(plan).__name__}")


def heading(notion: Notion, price: Real, dataset: str, version: str, *, rows: bool = False) -> dict[str, Any]:
    """Return the part that all statements share; ``rows``: every row is a person of its own.

    The promise is that of everything that is published, at the ε of its whole price: after c stops it is c times the notion.
    """
    kept = notion.with_epsilon(price)
    words = of_rows(kept.words) if rows else kept.words
    return {
        "leeward": __version__,
        "created": datetime.now(UTC).date().isoformat(),
        "dataset": dataset,
        "version": version,
        "notion": {
            "name": notion.name,
            "epsilon": str(kept.epsilon),
            "unit": words.unit,
            "definition": words.definition,
            "protects": words.protects,
            "does_not_protect": words.reveals,
            "cover": words.cover,
        },
        "price": str(price),
    }


def direction(up: Real, down: Real) -> str:
    """Say which way noise of these rates goes."""
    if down.is_infinite:
        return f"never negative, of rate {up} upwards"
    if up.is_infinite:
        return f"never positive, of rate {down} downwards"
    return f"of rate {up} upwards and {down} downwards"


SIDES = {
    "addition-only": "One-Sided Differential Privacy (differentialprivacy.org), Definition 1 and Proposition 3.",
    "removal-only": "One-Sided Differential Privacy (differentialprivacy.org), Definition 2 and Proposition 4.",
    "presence": "Takagi et al., Definitions IV.1 and IV.2 with one policy for every listed place, all at once.",
    "dp": "Ghosh, Roughgarden, Sundararajan (2009): the two-sided geometric mechanism is ε-differentially private.",
}
"""What else a notion's releases rely on."""
