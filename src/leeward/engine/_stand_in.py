# SPDX-License-Identifier: Apache-2.0
"""Made-up numbers of the shape of an exact answer: with these it is shown what an answer will look like."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from leeward.engine._numbers import answer_of
from leeward.query import CountVisitors
from leeward.query._statistic import DrawnFrom
from leeward.query._unlisted_groups import AnyQuestion, UnlistedGroups, as_words

_PEOPLE = 100


def stand_in(query: AnyQuestion, keys: int, drawn_from: DrawnFrom = "answer") -> NDArray[np.int64]:
    """Return what a mechanism might draw from, made up from the question alone.

    Groups that nobody has listed are three, of 100, 1,000 and 10,000 people. At the listed places, or in the groups and
    intervals, there are 0, 1, 2, 3, 0, 1, … people. Of a number, all people that are declared, or 100 in each group, have
    the one in the middle of its bounds.
    """
    if isinstance(query, UnlistedGroups):
        words = as_words([f"a made-up group {i}" for i in range(1, 4)])
        rows = np.column_stack([words, [10**k * _PEOPLE for k in range(3)]])
        head = np.zeros((1, rows.shape[1]), np.int64)
        head[0, 0] = 1
        return np.concatenate([head, rows])
    if isinstance(query, CountVisitors) or query.counts_people:
        counts = np.arange(keys, dtype=np.int64) % 4
        return np.append(counts, 0) if drawn_from == "answer and left out" else counts
    assert query.values is not None
    group = np.arange(max(1, len(query.groups)), dtype=np.int64)
    number = np.full_like(group, query.values.steps // 2)
    people = np.full_like(group, _PEOPLE if query.people is None else query.people)
    if drawn_from == "tally":
        return np.stack([group, number, people], axis=1)
    return answer_of(query, group, number, people)
