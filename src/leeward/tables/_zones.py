# SPDX-License-Identifier: Apache-2.0
"""What clocks of a zone show, for whole columns, by the rules that Python reads.

Arrow reads the zone files of the system alone, and without the rule at their end: for it clocks never change after 2037, or,
where files are short, after the last new rule. A day would begin an hour off, in silence.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from leeward._buffers import as_numpy, texts

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_TICK: Final = timedelta(microseconds=1)
_PER_SECOND: Final = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}

_FAR: Final = 3 * 86_400_000_000
"""Microseconds by which no clock is ahead of another, and more."""

_LOOK: Final = 6 * 3_600_000_000
"""Clocks are not changed there and back within so many microseconds."""


def instants(
    readings: NDArray[np.int64], zone: tzinfo, first: int, stop: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the two instants that each reading of a clock may be: they differ where it is shown twice, or never.

    Args:
        readings: microseconds since 1970, as the clock shows them.
        zone: the zone of the clock.
        first: where the period of interest begins, in microseconds since 1970 in UTC: of readings that are not in it, only
            that is known.
        stop: where it ends.
    """
    at, end = first - _FAR, stop + _FAR
    ahead, jumps = [_ahead(at, zone)], list[int]()
    while at < end:
        if (then := _ahead(at + _LOOK, zone)) != ahead[-1]:
            jumps.append((jump(zone, _moment(at), _moment(at + _LOOK)) - _EPOCH) // _TICK)
            ahead.append(then)
        at += _LOOK
    offsets, moments = np.array(ahead, np.int64), np.array(jumps, np.int64)
    shown = np.stack([moments + offsets[:-1], moments + offsets[1:]])  # by the clock, before and after each jump
    both = [readings - offsets[np.searchsorted(edge, readings, side="right")] for edge in (shown.max(0), shown.min(0))]
    return np.minimum(*both), np.maximum(*both)


def _moment(microseconds: int) -> datetime:
    return _EPOCH + microseconds * _TICK


def _ahead(moment: int, zone: tzinfo) -> int:
    """By how many microseconds clocks of a zone are ahead of UTC."""
    offset = _moment(moment).astimezone(zone).utcoffset()
    assert offset is not None
    return offset // _TICK


def jump(zone: tzinfo, low: datetime, high: datetime) -> datetime:
    """The first tick in (low, high] with another offset than low has; there must be one jump between them."""
    offset = low.astimezone(zone).utcoffset()
    while high - low > _TICK:
        middle = low + (high - low) // 2
        if middle.astimezone(zone).utcoffset() == offset:
            low = middle
        else:
            high = middle
    return high


def as_shown(table: pa.Table) -> pa.Table:
    """Return a table whose instants are texts of what clocks of their zone show: ``2026-07-01 00:00:00.000000+0200``.

    Those of UTC stay, which Arrow writes as it writes all else.
    """
    columns = [
        _shown(column) if pa.types.is_timestamp(column.type) and column.type.tz not in {None, "UTC"} else column
        for column in table.columns
    ]
    return pa.table(columns, names=table.column_names)


def _shown(column: pa.ChunkedArray) -> pa.Array:
    zone = ZoneInfo(column.type.tz) if column.type.tz in available_timezones() else None
    if zone is None:
        return column  # an offset, which no rule changes
    per_second = _PER_SECOND[column.type.unit]
    coded = column.cast(pa.timestamp(column.type.unit, "UTC")).combine_chunks().dictionary_encode()
    made = [_text(tick, per_second, zone) for tick in as_numpy(coded.dictionary.cast(pa.int64())).tolist()]
    return pa.DictionaryArray.from_arrays(coded.indices, texts(made)).cast(pa.string())


def _text(tick: int, per_second: int, zone: tzinfo) -> str:
    seconds, rest = divmod(tick, per_second)
    clock = (_EPOCH + timedelta(seconds=seconds)).astimezone(zone)
    digits = f".{rest:0{len(str(per_second)) - 1}d}" if per_second > 1 else ""
    return f"{clock.replace(tzinfo=None).isoformat(' ')}{digits}{clock:%z}"
