# SPDX-License-Identifier: Apache-2.0
"""How far a step of policies moves the counts of public groups, where a record is one row of the table.

A step of ADP, OSDP or Blowfish leads from some records to some others only. Of a sum, a mean or a percentile nothing better
than "any other record" is derived from that. Of counts of groups it is: which moves occur is gone through, over the records
that the groups, the filter and the policies tell apart (`leeward.query._counting`), so the rates are exact.

The policies are propositions about a row, so this is for tables in which every row is a person of its own. Where policies
are over columns, the filter takes part: a policy that does not speak of a filtered column lets it change, and then a count
rises. Where records are listed, as the nodes of a Blowfish graph are, they are the values of the column by which rows are
grouped.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping, Sequence

from leeward.errors import InputError
from leeward.notion import Change, where
from leeward.notion._condition import Condition, Where
from leeward.query._counting import CountWhere, Histogram
from leeward.query._effect import Effect
from leeward.query._source import Allowed


def effect_on_groups(
    by: str, groups: Sequence[Allowed], keep: Mapping[str, Sequence[Allowed]], change: Change
) -> Effect | None:
    """Return the exact moves of the counts of rows in each group under a step of policies; None if none are derived.

    Args:
        by: the column that says in which group a row is.
        groups: its values that are counted, one count each.
        keep: only rows whose column holds one of these values are counted.
        change: the step.
    """
    if change.records is not None:
        if keep or not set(groups) <= set(change.records):
            return None  # other columns than this one decide what is counted, or it is not what the records are
        return CountWhere(tuple(functools.partial(operator.eq, group) for group in groups)).effect(change)
    if not change.conditions or not all(isinstance(a, Where) for c in change.conditions for a in c.atoms):
        return None
    try:
        return _asked(by, groups, keep).effect(change)
    except InputError:  # more kinds of record than are gone through
        return None


def _asked(by: str, groups: Sequence[Allowed], keep: Mapping[str, Sequence[Allowed]]) -> CountWhere | Histogram:
    if not keep:
        return Histogram(by, tuple(groups))
    kept = [where(column, one_of=allowed) for column, allowed in keep.items()]
    conditions: list[Condition] = [where(by, equals=group) for group in groups]
    return CountWhere(tuple(functools.reduce(operator.and_, kept, condition) for condition in conditions))
