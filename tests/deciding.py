"""Plans and comparisons asked for by one flat set of words, for tests that vary what is decided."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from leeward.planner import Decide

Made = TypeVar("Made")

DECIDED = ("safe_at_most", "dangerous_at_least", "error_at_most", "useful_from", "about", "left_out")


def decide_by(make: Callable[..., Made], /, *asked: Any, **given: Any) -> Made:
    """Return what `make` plans or compares; what is decided goes into one `Decide`."""
    own = {key: given.pop(key) for key in DECIDED if key in given}
    return make(*asked, **({"decide": Decide(**own)} if own else {}), **given)
