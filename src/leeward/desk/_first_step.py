# SPDX-License-Identifier: Apache-2.0
"""The first step of a draft, be it about visits or about a table: which columns of the private table say what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from fastapi import APIRouter

from leeward.desk._desk import Desk
from leeward.desk._drafts import Draft
from leeward.desk._form_step import form_step
from leeward.desk._look import looked_at
from leeward.tables._detected import Detected

Answered: TypeAlias = Callable[[Mapping[str, Any], Detected, Mapping[str, str]], dict[str, Any]]
"""Returns ``[data]`` as a form answers it, from what it was, what the table is, and the form."""

Offered: TypeAlias = Callable[[Detected, Mapping[str, Any]], dict[str, str]]
"""Returns what is chosen before anybody chooses, from what the table is, and ``[data]``."""


def first_step(desk: Desk, about: str, template: str, answered: Answered, offered: Offered, **more: Any) -> APIRouter:
    """Return the step.

    Args:
        desk: whose it is.
        about: ``visits`` or ``table``: its name in addresses, and the key of ``[data]`` that names the private table.
        template: its page.
        answered: see `Answered`.
        offered: see `Offered`.
        more: what else the page shows.
    """

    def shows(draft: Draft, typed: Mapping[str, str], refused: str) -> tuple[str, dict[str, Any]]:
        data = draft.sections["data"]
        seen = looked_at(desk, desk.table(draft, "data", about), data.get("visits_table", ""))
        chosen = ({} if seen["found"] is None else offered(seen["found"], data)) | dict(typed)
        return template, {**seen, **more, "chosen": chosen, "refused": seen["refused"] or refused}

    def made(draft: Draft, form: Mapping[str, str]) -> Draft:
        data = answered(draft.sections["data"], desk.private(draft), form)
        made = draft.with_section("data", data)
        return made if "time" in data else made.without("window")

    return form_step(desk, about, shows, made)
