# SPDX-License-Identifier: Apache-2.0
"""The second step: the public list of places, or a grid over a public box."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from fastapi import APIRouter

from leeward.desk._desk import Desk
from leeward.desk._drafts import Draft
from leeward.desk._form_step import form_step
from leeward.desk._look import looked_at
from leeward.errors import SpecError
from leeward.tables._detected import Detected, detected
from leeward.tables._guess import NAMED, WHERE, decimal_of, likely, position, writing_of

BOX: Final = {"west": "West", "south": "South", "east": "East", "north": "North", "metres": "Metres"}


def routes(desk: Desk) -> APIRouter:
    def shows(draft: Draft, typed: Mapping[str, str], refused: str) -> tuple[str, dict[str, Any]]:
        by_name, places = "place" in draft.sections["data"], draft.sections.get("places", {})
        saved = desk.table(draft, "places", "table") if "table" in places else ""
        file, sheet = typed.get("file", ""), typed.get("sheet", "")
        file, sheet = file or saved, sheet or (places.get("places_table", "") if file in ("", saved) else "")
        seen: dict[str, Any] = {"found": None, "rows": (), "refused": "", "file": file, "sheet": sheet, "sheets": ()}
        if by_name and file:
            seen = looked_at(desk, file, sheet)
        before, box = places if file == saved else {}, {key: str(at) for key, at in places.get("grid", {}).items()}
        chosen = (_offered(seen["found"], draft, before) if by_name else box) | dict(typed)
        more = {"chosen": chosen, "box": BOX, "files": desk.lists(draft), "refused": seen["refused"] or refused}
        return "places" if by_name else "grid", seen | more

    def answered(draft: Draft, form: Mapping[str, str]) -> Draft:
        if "place" not in draft.sections["data"]:
            grid = {key: _number(form.get(key, ""), title) for key, title in BOX.items()}
            return draft.with_section("places", {"grid": grid})
        sheet = form.get("sheet") or None
        path = desk.public(draft, form.get("file", ""), sheet)
        return draft.with_section("places", {"table": draft.path_to(path)} | listed(detected(str(path), sheet), form))

    return form_step(desk, "places", shows, answered)


def listed(found: Detected, form: Mapping[str, str]) -> dict[str, Any]:
    """Return ``[places]`` as a form answers it, but for the name of the file.

    Raises:
        LeewardError: an answer is missing, or cannot be.
    """
    given = {key: form.get(key, "") for key in ("place", "name", "latitude", "longitude")}
    for name in given.values():
        if name:
            found.check(name)
    if not given["place"]:
        raise SpecError(
            "The column that names the place", "it is not chosen", "Choose the one that the visits use, too"
        )
    if bool(given["latitude"]) != bool(given["longitude"]):
        raise SpecError("One coordinate", "a place on a map has two", "Choose both columns, or neither")
    sheet = {"places_table": form["sheet"]} if form.get("sheet") else {}
    chosen = {key: name for key, name in given.items() if name}
    return sheet | writing_of(found) | chosen | decimal_of(found, given["latitude"], given["longitude"])


def _offered(found: Detected | None, draft: Draft, places: Mapping[str, Any]) -> dict[str, str]:
    if found is None:
        return {}
    if places:
        return {key: places.get(key, "") for key in ("place", "name", "latitude", "longitude")}
    names = [one.name for one in found.columns]
    place = likely(names, (draft.sections["data"]["place"], *WHERE)) or ""
    texts = [one.name for one in found.columns if one.looks == "texts" and one.name != place]
    where = position(found)
    return {
        "place": place,
        "name": likely(texts, NAMED) or "",
        "latitude": where.get("latitude", ""),
        "longitude": where.get("longitude", ""),
    }


def _number(text: str, title: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise SpecError(f"{title}: '{text}'", "it is not a number", "Give one, such as 139.7") from None
