# SPDX-License-Identifier: Apache-2.0
"""The first step: which columns of the visits say who, where and when."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter

from leeward.desk._columns import column, offered_times, times
from leeward.desk._desk import Desk
from leeward.desk._first_step import first_step
from leeward.tables._detected import Detected
from leeward.tables._guess import WHERE, WHO, likely, position, writing_of


def routes(desk: Desk) -> APIRouter:
    return first_step(desk, "visits", "visits", answered, _offered)


def answered(data: Mapping[str, Any], found: Detected, form: Mapping[str, str]) -> dict[str, Any]:
    """Return ``[data]`` as a form answers it.

    Raises:
        LeewardError: an answer is missing, or cannot be.
    """
    kept = {key: data[key] for key in ("visits", "visits_table") if key in data} | writing_of(found)
    kept["person"] = column(form.get("person", ""), found, "who")
    where = {} if form.get("place") else position(found)
    kept |= where or {"place": column(form.get("place", ""), found, "where")}
    return kept | times(found, form)


def _offered(found: Detected, data: Mapping[str, Any]) -> dict[str, str]:
    """What is chosen before anybody chooses: what was answered before, or else what the columns are called."""
    names = [one.name for one in found.columns]
    fresh = "person" not in data
    return {
        "person": data.get("person") or likely(names, WHO) or "",
        "located": "yes" if position(found) else "",
        "place": data.get("place") or (fresh and likely(names, WHERE)) or "",
        **offered_times(found, data),
    }
