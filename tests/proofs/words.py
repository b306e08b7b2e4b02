"""How the tables of the page say what was found."""

from __future__ import annotations

from leeward.verification import Verdict


def least_scale(found: Verdict) -> str:
    """The least c for which the mechanism is c·d-private: exact where it is rational, else three digits."""
    exactly = found.exact_scale
    if exactly is not None and exactly.is_infinite:
        return "∞"
    if exactly is not None and exactly.rational is not None:
        return str(exactly.rational)
    low, high = found.scale
    assert high - low < 1e-6
    if 0.9995 <= high < 1:
        return "just under 1"
    return f"{high:.3f}"


def row(*cells: str) -> str:
    """One line of a table."""
    return f"| {' | '.join(cells)} |"


def in_turn(values: list[str]) -> str:
    """Values at each ε in turn, or the one they all have."""
    return values[0] if len(set(values)) == 1 else ", ".join(values)
