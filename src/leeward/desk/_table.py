# SPDX-License-Identifier: Apache-2.0
"""The first step of a question about a table: whose rows they are, and whether there is a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter

from leeward.desk._columns import column, offered_times, times
from leeward.desk._desk import Desk
from leeward.desk._first_step import first_step
from leeward.query._source import EACH_ROW
from leeward.tables._detected import Detected
from leeward.tables._guess import WHO, likely, writing_of


def routes(desk: Desk) -> APIRouter:
    return first_step(desk, "table", "rows", answered, _offered, each_row=EACH_ROW)


def answered(data: Mapping[str, Any], found: Detected, form: Mapping[str, str]) -> dict[str, Any]:
    """Return ``[data]`` as a form answers it.

    Raises:
        LeewardError: an answer is missing, or cannot be.
    """
    kept = {key: data[key] for key in ("table", "visits_table", "decimal") if key in data} | writing_of(found)
    who = form.get("person", "")
    kept["person"] = who if who == EACH_ROW else column(who, found, "who")
    return kept | (times(found, form) if form.get("time") else {})


def _offered(found: Detected, data: Mapping[str, Any]) -> dict[str, str]:
    """What is chosen before anybody chooses: what was answered before, or else who the columns are likely to name."""
    person = data.get("person") or likely([one.name for one in found.columns], WHO) or ""
    return {"person": person, **offered_times(found, data), "time": data.get("time", "")}
