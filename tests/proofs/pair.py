"""A mechanism beside a notion under which it is private, and the ε at which that is proved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.proofs.universes import Proved

from leeward.exact import Real, exact

EPSILONS = tuple(exact(text) for text in ("1/3", "0.1", "1", "20"))


@dataclass(frozen=True)
class Pair:
    """A mechanism and a notion under which it is private.

    Attributes:
        mechanism: in words or code, as the page shows it.
        notion: the same.
        make: from ε to the exact matrix and the notion's distance on its secrets.
        one_way: whether the notion has a direction that it does not promise: there the mechanism must be ruled out.
        tight: whether ε is attained; if not, the mechanism is private for a smaller multiple of the notion.
    """

    mechanism: str
    notion: str
    make: Callable[[Real], Proved]
    one_way: bool = False
    tight: bool = True
