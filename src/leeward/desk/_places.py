# SPDX-License-Identifier: Apache-2.0
"""The second step: the public list of places, or a grid over a public box."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from fastapi import APIRouter, Request, Response

from leeward.desk._desk import Desk
from leeward.desk._drafts import Draft
from leeward.desk._look import looked_at
from leeward.desk._steps import after, shown
from leeward.desk._views import page, see
from leeward.errors import LeewardError, SpecError, no_column
from leeward.tables._detected import Detected, detected
from leeward.tables._guess import NAMED, WHERE, decimal_of, likely, position, writing_of

BOX: Final = {"west": "West", "south": "South", "east": "East", "north": "North", "metres": "Metres"}


def routes(desk: Desk) -> APIRouter:
    """Return the step."""
    router = APIRouter()

    def step(request: Request, draft: Draft, file: str, sheet: str, typed: Mapping[str, str], no: str = "") -> Response:
        by_name, places = "place" in draft.sections["data"], draft.sections.get("places", {})
        saved = desk.table(draft, "places", "table") if "table" in places else ""
        file, sheet = file or saved, sheet or (places.get("places_table", "") if file in ("", saved) else "")
        seen: dict[str, Any] = {"found": None, "rows": (), "refused": "", "file": file, "sheet": sheet, "sheets": ()}
        if by_name and file:
            seen = looked_at(desk, file, sheet)
        before = places if file == saved else {}
        chosen = (_offered(seen["found"], draft, before) if by_name else _box(places)) | dict(typed)
        seen["refused"] = seen["refused"] or no
        return page(
            request,
            "places" if by_name else "grid",
            422 if no else 200,
            **shown(draft, "places"),
            **seen,
            chosen=chosen,
            box=BOX,
            files=desk.lists(draft),
        )

    @router.get("/drafts/{name}/places")
    def ask(request: Request, name: str, file: str = "", sheet: str = "") -> Response:
        return step(request, desk.drafts.read(name), file, sheet, {})

    @router.post("/drafts/{name}/places")
    def answer(request: Request, name: str) -> Response:
        draft, form = desk.drafts.read(name), request.state.form
        try:
            if "place" in draft.sections["data"]:
                sheet = form.get("sheet") or None
                path = desk.public(draft, form.get("file", ""), sheet)
                found = detected(str(path), sheet)
                keys = {"table": draft.path_to(path)} | listed(found, form)
            else:
                keys = {"grid": {key: _number(form.get(key, ""), title) for key, title in BOX.items()}}
            desk.drafts.save(draft.with_section("places", keys))
        except LeewardError as error:
            return step(request, draft, form.get("file", ""), form.get("sheet", ""), form, str(error))
        return see(after(draft, "places"))

    return router


def listed(found: Detected, form: Mapping[str, str]) -> dict[str, Any]:
    """Return ``[places]`` as a form answers it, but for the name of the file.

    Raises:
        LeewardError: an answer is missing, or cannot be.
    """
    names = [one.name for one in found.columns]
    given = {key: form.get(key, "") for key in ("place", "name", "latitude", "longitude")}
    for name in given.values():
        if name and name not in names:
            raise no_column(name, names)
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


def _box(places: Mapping[str, Any]) -> dict[str, str]:
    return {key: str(value) for key, value in places.get("grid", {}).items()}


def _number(text: str, title: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise SpecError(f"{title}: '{text}'", "it is not a number", "Give one, such as 139.7") from None
