# SPDX-License-Identifier: Apache-2.0
"""The third step: from when to when."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from fastapi import APIRouter

from leeward.desk._desk import Desk
from leeward.desk._drafts import Draft
from leeward.desk._form_step import form_step
from leeward.errors import SpecError
from leeward.query import Window, moment

LENGTHS: Final = {
    "": "one window",
    "30min": "half an hour each",
    "1h": "an hour each",
    "1d": "a day each",
    "7d": "a week each",
}
"""Into how long windows the time may be cut, in words."""


def routes(desk: Desk) -> APIRouter:
    def shows(draft: Draft, typed: Mapping[str, str], _: str) -> tuple[str, dict[str, Any]]:
        window = draft.sections.get("window", {})
        chosen = {key: str(window.get(key, "")) for key in ("start", "end", "every")} | dict(typed)
        lengths = LENGTHS | ({chosen["every"]: chosen["every"]} if chosen["every"] not in LENGTHS else {})
        return "window", {"chosen": chosen, "lengths": lengths}

    def answered(draft: Draft, form: Mapping[str, str]) -> Draft:
        made = draft.with_section("window", span(form))
        made.check_so_far()
        return made

    return form_step(desk, "window", shows, answered)


def span(form: Mapping[str, str]) -> dict[str, str]:
    """Return ``[window]`` as a form answers it.

    Raises:
        SpecError: an end is missing or is no time, or the window is empty.
    """
    ends = {key: form.get(key, "").strip() for key in ("start", "end")}
    for key, title in (("start", "The start"), ("end", "The end")):
        if not ends[key]:
            raise SpecError(title, "it is not given", "Give a day and a time")
    Window(*(moment(key, text) for key, text in ends.items()))
    every = form.get("every", "").strip()
    return ends | ({"every": every} if every else {})
