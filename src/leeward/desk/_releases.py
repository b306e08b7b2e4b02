# SPDX-License-Identifier: Apache-2.0
"""What was released: each release with its report and files, and the history of the budget with what each bought."""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse
from pydantic import TypeAdapter

from leeward._paths import read_small
from leeward._statement import Statement, WindowsStatement
from leeward.desk._desk import Desk
from leeward.desk._release import Made
from leeward.desk._views import page, refusal
from leeward.errors import DataError, LeewardError
from leeward.ledger import Entry, Ledger
from leeward.outputs import MANIFEST
from leeward.outputs._disk import digest_or_none
from leeward.report._html import shown_of
from leeward.report._windows import windows_title, windows_together
from leeward.session._bought import bought as bought_by

REPORT_HEADERS: Final = {
    # a report is whole in itself: it runs its own scripts, named by their digests in it, apart from the desk
    "Content-Security-Policy": "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline';"
    " style-src 'unsafe-inline'; img-src data: blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
}
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,70}")
_ABOUT: Final = {
    "report.html": "the report, for everybody",
    "answers.csv": "the answers, for a spreadsheet",
    "answers.parquet": "the answers, for programs",
    "places.parquet": "the squares of the grid",
    "release.json": "what is promised, for programs",
}


@dataclass(frozen=True)
class Kept:
    """A release that is kept.

    Attributes:
        name: of its folder.
        folder: the folder.
        files: the names of its files that are as they were written.
        statements: what it promises, window by window; one where there are no several windows.
        headline: what it says, in a sentence.
        sure: what may be concluded from it, in sentences; of several windows from the first.
    """

    name: str
    folder: Path
    files: tuple[str, ...]
    statements: tuple[Statement, ...]
    headline: str
    sure: tuple[str, ...]

    @property
    def statement(self) -> Statement:
        """What it promises, of several windows in the first."""
        return self.statements[0]


@dataclass(frozen=True)
class _Read:
    """A release as it was read: what its headline is made from."""

    answers: pa.Table
    places: pa.Table
    statement: Statement


def routes(desk: Desk) -> APIRouter:
    router = APIRouter()

    @router.get("/releases/{name}")
    def show(request: Request, name: str) -> Response:
        one = kept(desk, name)
        made = next((job for job in reversed(desk.jobs.ended()) if isinstance(job, Made) and job.folder == name), None)
        files = [(file, _ABOUT.get(file, "")) for file in _ABOUT if file in one.files]
        account = desk.account(one.statement.dataset)
        return page(request, "released", one=one, files=files, made=made, account=account, root=desk.files.root)

    @router.get("/releases/{name}/{file}")
    def file(name: str, file: str) -> Response:
        one = kept(desk, name)
        if file not in one.files or file not in _ABOUT:
            return refusal(404, "This release has no such file, or it was changed since it was written.")
        if file == "report.html":
            return FileResponse(one.folder / file, media_type="text/html; charset=utf-8", headers=REPORT_HEADERS)
        return FileResponse(one.folder / file, media_type="application/octet-stream", filename=f"{name}-{file}")

    @router.get("/history")
    def history(request: Request) -> Response:
        ledger = Ledger.find(desk.ledger)
        accounts = [] if ledger is None else ledger.show()
        bought = {} if ledger is None else {of.entry: one for one in all_kept(desk) for of in one.statements}
        entries = [] if ledger is None else in_words(ledger.history(), bought)
        spent = [] if ledger is None else ledger.shares()
        return page(request, "history", accounts=accounts, entries=entries[::-1], shares=spent, ledger=desk.ledger.name)

    return router


def kept(desk: Desk, name: str) -> Kept:
    """Return a release.

    Raises:
        DataError: there is none of that name, or it is not as it was written.
    """
    folder = desk.released / name
    if not _NAME.fullmatch(name) or os.path.islink(folder) or not os.path.isfile(folder / MANIFEST):
        raise DataError("This release", "there is none of that name", "Choose one under “Budget and releases”")
    try:
        return _kept(folder)
    except (OSError, ValueError, LookupError, TypeError, ArithmeticError, RecursionError, pa.ArrowException):
        raise DataError(
            "This release", "it is not as it was written", "Ask again: the stored answer costs nothing"
        ) from None


def _kept(folder: Path) -> Kept:
    """Read a release; whoever made the folder may have put there what is none, with digests that fit."""
    listed: dict[str, Any] = json.loads(read_small(folder / MANIFEST))["files"]
    files = tuple(file for file in listed if "/" not in file and digest_or_none(folder / file) in listed[file])
    if not {"release.json", "answers.parquet"} <= {*files}:
        raise ValueError(files)
    statements = _statements((folder / "release.json").read_bytes())
    answers = pq.read_table(folder / "answers.parquet")
    if len(statements) > 1:
        sure = (*statements[0].guaranteed, windows_together(statements))
        return Kept(folder.name, folder, files, statements, windows_title(statements), tuple(filter(None, sure)))
    said = shown_of(_Read(answers, pa.table({}), statements[0]))
    return Kept(folder.name, folder, files, statements, said.headline, tuple(said.may))


def _statements(text: bytes) -> tuple[Statement, ...]:
    """Return what a file of a release states, window by window."""
    read: TypeAdapter[Statement | WindowsStatement] = TypeAdapter(Statement | WindowsStatement)
    found = read.validate_json(text)
    return found.windows if isinstance(found, WindowsStatement) else (found,)


def all_kept(desk: Desk) -> list[Kept]:
    """Return all releases that are as they were written."""
    found = list[Kept]()
    for name in sorted(desk.files.kept(desk.released)):
        try:
            found.append(kept(desk, name))
        except LeewardError:
            continue
    return found


_KINDS: Final = {
    "released": "An answer",
    "reserved": "A charge without an answer: it broke off. Asking the same again goes on, and costs nothing more",
    "withdrawn": "A charge was taken back: no answer was made",
    "taken-over": "A release that had broken off went on",
    "opened": "The budget was opened",
    "set-cap": "The cap was changed",
    "accepted-restored": "An older copy of the ledger was accepted",
    "new-key": "The ledger went on with a new key",
    "moved": "The ledger was moved",
}


def in_words(history: Sequence[Entry], bought: Mapping[str | None, Kept]) -> list[dict[str, Any]]:
    """Return what the entries of a ledger say, in words; the reservation of a release that ended is told with its end."""
    costs, ended = defaultdict[str, Fraction](Fraction), {one.id for one in history if one.kind in _ENDS}
    for one in history:
        costs[one.id] += one.cost
    asked = {one.id: one.key for one in history if one.kind == "asked-by"}
    shown = [one for one in history if one.kind != "asked-by" and (one.kind != "reserved" or one.id not in ended)]
    return [
        _entry_in_words(one, bought, costs[one.id] if one.kind in ("released", "reserved") else Fraction(0))
        | {"analyst": asked.get(one.id)}
        for one in shown
    ]


_ENDS: Final = ("released", "withdrawn")


def _entry_in_words(entry: Entry, bought: Mapping[str | None, Kept], cost: Fraction) -> dict[str, Any]:
    """Return what an entry of the ledger says, in words."""
    one = bought.get(entry.id)
    about = _KINDS.get(entry.kind, entry.kind)
    if entry.kind == "released":
        what = bought_by(entry.key) or "an answer"
        about = one.headline if one is not None else what[0].upper() + what[1:]
    mine = None if one is None else next(each for each in one.statements if each.entry == entry.id)
    return {
        "time": f"{entry.time:%Y-%m-%d %H:%M}",
        "dataset": entry.dataset,
        "what": about,
        "name": None if one is None else one.name,
        "question": None if mine is None else mine.query.text,
        "cost": cost,
    }
