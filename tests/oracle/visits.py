"""Count visitors row by row, slowly, sharing nothing with the engine."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]


def missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def visitors(
    rows: Sequence[Row],
    places: Sequence[Any],
    inside: Callable[[Any], bool],
    keep: Mapping[str, Sequence[Any]],
    k: int | None,
    if_more: str,
) -> dict[str, Any]:
    """What the engine should say about rows with keys ``person``, ``place``, ``time`` and those of ``keep``.

    Returns:
        ``counts`` (None where people exceed the bound under "refuse"), ``over``, ``dropped`` and ``kept``.
    """
    written = ["unreadable_time", "null_time", "incomparable_time", "date_alone", "outside_window"]
    dropped = dict.fromkeys(["filtered", "null_person", *written, "unreadable_place", "null_place", "unknown_place"], 0)
    order = {place: rank for rank, place in enumerate(places)}
    diary: dict[Any, list[tuple[Any, int]]] = {}
    kept = 0
    for row in rows:
        if any(missing(row[column]) or row[column] not in allowed for column, allowed in keep.items()):
            dropped["filtered"] += 1
        elif missing(row["person"]):
            dropped["null_person"] += 1
        elif missing(row["time"]):
            dropped["null_time"] += 1
        elif not inside(row["time"]):
            dropped["outside_window"] += 1
        elif missing(row["place"]):
            dropped["null_place"] += 1
        elif row["place"] not in order:
            dropped["unknown_place"] += 1
        else:
            kept += 1
            diary.setdefault(row["person"], []).append((row["time"], order[row["place"]]))
    over = 0
    counts = [0] * len(places)
    for entries in diary.values():
        # Walk the person's visits from the most to the least wanted, and take the first k new places met.
        if if_more == "latest":
            entries = sorted(entries, key=lambda entry: entry[1])
            entries = sorted(entries, key=lambda entry: entry[0], reverse=True)
        else:
            entries = sorted(entries)
        met: list[int] = []
        for _, rank in entries:
            if rank not in met:
                met.append(rank)
        if k is not None and len(met) > k:
            over += 1
        for rank in met[:k]:
            counts[rank] += 1
    refused = if_more == "refuse" and over > 0
    return {"counts": None if refused else counts, "over": over, "dropped": dropped, "kept": kept}
