"""A table described by one flat set of words, for tests that vary what is said of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from leeward.query import Source

Made = TypeVar("Made")

OF_SOURCE = ("table", "delimiter", "encoding", "decimal", "time_format", "time_unit")


def describe_by(make: Callable[..., Made], /, source: Any, **given: Any) -> Made:
    """Return what `make` describes; what is said of the source itself goes there."""
    own = {key: given.pop(key) for key in OF_SOURCE if key in given}
    return make(Source(source, **own) if own else source, **given)
