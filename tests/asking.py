"""Statistics asked for by one flat set of words, for tests that vary what is asked."""

from __future__ import annotations

from typing import Any

from leeward.query import Groups, Kind, Records, Statistic, statistic

OF_KIND = ("p", "levels", "people", "grid")


def statistic_by(records: Records, kind: Any, **given: Any) -> Statistic:
    """Return the statistic; what is said of its kind goes there, and ``groups`` and ``others`` to the groups."""
    own = {key: given.pop(key) for key in OF_KIND if key in given}
    by, groups, others = given.pop("by", None), given.pop("groups", None), given.pop("others", None)
    lists = by if groups is None else {by: groups}
    asked = lists if others is None else Groups({} if lists is None else lists, others)
    return statistic(records, Kind(kind, **own) if own else kind, by=asked, **given)
