# SPDX-License-Identifier: Apache-2.0
"""The second step of a question about a table: what is asked, of which public groups or range."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from fastapi import APIRouter

from leeward.desk._columns import column
from leeward.desk._desk import Desk
from leeward.desk._drafts import Draft
from leeward.desk._form_step import form_step
from leeward.desk._promise import promise_of
from leeward.errors import SpecError
from leeward.query._source import EACH_ROW
from leeward.spec._first_question import (
    KINDS,
    check_groups,
    group_keys,
    listed_groups,
    number_keys,
    promises,
    ways_to_combine,
)
from leeward.tables._detected import Detected, detected
from leeward.tables._guess import GROUP, MARKS, free_numbers, likely, number_of, numeric

ASKED: Final = {kind: said for kind, said in KINDS.items() if kind != "visitors"}
"""What may be asked of a table, in words."""

NEEDS: Final[Mapping[str, frozenset[str]]] = {
    kind: frozenset(
        {"count": (), "above": ("levels",), "percentile": ("lower", "upper", "step", "p")}.get(
            kind, ("lower", "upper", "step")
        )
    )
    for kind in ASKED
}
"""What is public of a number, by the kind of the question."""


def routes(desk: Desk) -> APIRouter:
    def shows(draft: Draft, typed: Mapping[str, str], refused: str) -> tuple[str, dict[str, Any]]:
        query, found = draft.sections.get("query", {}), desk.private(draft)
        kind = typed.get("kind", query.get("kind", ""))
        if not kind:
            return "kinds", {"kinds": ASKED, "chosen": query.get("kind", "")}
        _check_kind(kind)
        chosen = _before(draft, query if query.get("kind") == kind else {}, found) | dict(typed)
        by_itself = draft.sections["data"]["person"] == EACH_ROW
        return "question", {
            "kind": kind,
            "said": ASKED[kind],
            "needs": NEEDS[kind],
            "found": found,
            "numbers": [one for one in found.columns if one.name in numeric(found)],
            "ways": {} if by_itself else ways_to_combine(kind),
            "lists": desk.lists(draft),
            "chosen": chosen,
            "sheets": desk.sheets(chosen["list"]) if refused else (),
        }

    def answered(draft: Draft, form: Mapping[str, str]) -> Draft:
        made = asked(desk, draft, form.get("kind", ""), form)
        made.check_so_far()
        return made

    return form_step(desk, "question", shows, answered)


def _check_kind(kind: str) -> None:
    if kind not in ASKED:
        raise SpecError("What is asked", "it is not one of the choices", "Choose one of them")


def asked(desk: Desk, draft: Draft, kind: str, form: Mapping[str, str]) -> Draft:
    """Return a draft with ``[query]`` as a form answers it; a promise that such a question cannot have is open again.

    Raises:
        LeewardError: an answer is missing, or cannot be.
    """
    _check_kind(kind)
    found, query = desk.private(draft), dict[str, Any](kind=kind)
    data = {key: value for key, value in draft.sections["data"].items() if key != "decimal"}
    combine = form.get("combine", "refuse")
    if combine not in ways_to_combine(kind):
        raise SpecError("What becomes of a person's several rows", "it is not chosen", "Choose one of the answers")
    if kind != "count":
        name, public = column(form.get("column", ""), found, "how much"), {"combine": combine}
        for key in NEEDS[kind]:
            public[key] = form.get(key, "").strip()
            if not public[key]:
                raise SpecError(TITLES[key], "it is not given", "Give it: it is public")
        query |= number_keys(kind, name, public)
        data |= number_of(found, name, form.get("decimal") if form.get("decimal") in MARKS else None)
    if group := form.get("group", ""):
        query["by"] = group_keys(found, column(group, found, "which group"), _groups(desk, draft, group, form))
    elif form.get("groups", "").strip() or form.get("list"):
        raise SpecError("The groups", "no column of them is chosen", "Choose the column, or clear the groups")
    if kind == "count" and combine != "refuse":
        query["combine"] = combine
    made = draft.with_section("data", data).with_section("query", query)
    return made if promise_of(made) in promises(query) else made.without("protect", "decide")


TITLES: Final = {
    "lower": "The least number there may be",
    "upper": "The greatest number there may be",
    "step": "What numbers are rounded to, or the width of an interval",
    "p": "The percentiles",
    "levels": "The levels",
}
"""What is asked of a number, as the page calls it."""


def _groups(desk: Desk, draft: Draft, group: str, form: Mapping[str, str]) -> list[Any]:
    """Return the public groups that a form lists, one a line; or those of a public list.

    Where a form sends back what the page shows of those that are kept, they stay as they are: a list may have groups with
    spaces around them, or of several lines.
    """
    kept = draft.sections.get("query", {}).get("by", {}).get(group, [])
    if kept and not form.get("list") and form.get("groups", "") == _shown(kept):
        return list(kept)
    lines = [line.strip() for line in form.get("groups", "").splitlines() if line.strip()]
    named = form.get("list", "")
    if bool(lines) == bool(named):
        raise SpecError(
            "The groups",
            "they are named twice" if named else "none is named",
            "Name all there may be, or choose a list",
        )
    if lines:
        check_groups(lines)
        return lines
    sheet = form.get("sheet") or None
    if sheet is None and len(sheets := desk.sheets(named)) > 1:
        raise SpecError(
            f"The list of groups '{named}'", f"it has {len(sheets)} sheets", "Choose below the one that lists them"
        )
    path = str(desk.public(draft, named, sheet))
    seen = detected(path, sheet)
    if seen.column(group) is None:
        raise SpecError(
            f"The list of groups '{named}'",
            f"it has no column that is called '{group}', as in the private table",
            "Call it so there, or name the groups here",
        )
    return listed_groups(path, seen, sheet, group)


def _shown(groups: Sequence[Any]) -> str:
    """Write groups one a line; line breaks within them too are as a browser sends them back, which `Guard` has read."""
    return "\n".join(str(one) for one in groups).replace("\r\n", "\n").replace("\r", "\n")


def _before(draft: Draft, query: Mapping[str, Any], found: Detected) -> dict[str, str]:
    """What is chosen before anybody chooses: what was answered before, or else the likeliest columns."""
    fields = (*TITLES, "column", "decimal", "group", "groups", "list", "sheet")
    none = dict.fromkeys(fields, "") | {"combine": "refuse"}
    if query:
        ((group, listed),) = query["by"].items() if "by" in query else (("", []),)
        p = query.get("p", "")
        several = {"p": p if isinstance(p, str) else ", ".join(p), "levels": ", ".join(query.get("levels", []))}
        texts = {key: query[key] for key in ("column", "combine", "lower", "upper", "step") if key in query}
        decimal = "comma" if "decimal" in draft.sections["data"] else "point"
        of_groups = {"group": group, "groups": _shown(listed)}
        return none | texts | several | {"decimal": decimal} | of_groups
    data = draft.sections["data"]
    free = free_numbers(found, data["person"], data.get("time"))
    group = likely([one.name for one in found.columns], GROUP) or ""
    return none | {"column": free[0] if len(free) == 1 else "", "step": "1", "group": group}
