# SPDX-License-Identifier: Apache-2.0
"""The last step: what is asked before a release, and the release."""

from __future__ import annotations

import hashlib
import itertools
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from fastapi import APIRouter, Request, Response

from leeward._private import Private
from leeward._progress import Progress
from leeward._statement import window_of
from leeward.desk._check import found
from leeward.desk._desk import Desk
from leeward.desk._drafts import Draft
from leeward.desk._steps import shown
from leeward.desk._strength import priced, refuse_dear, to_pay
from leeward.desk._views import amount, page, see
from leeward.errors import InputError, LeewardError
from leeward.ledger import Ledger
from leeward.outputs import fresh
from leeward.planner._useless import refuse_useless
from leeward.session._before import opens, refuse_within
from leeward.session._budget import Budget
from leeward.session._dry_run import dry_run
from leeward.session._result import saving
from leeward.session._together import together
from leeward.spec import Spec

RELEASE: Final = "The release"


class Made(Private):
    """A release that was made: where it is, and what only the curator may know of it."""

    __slots__ = ("charged", "folder", "notes", "opened")

    def __init__(self, folder: str, charged: Fraction, opened: bool, notes: list[str]) -> None:
        self.folder, self.charged, self.opened, self.notes = folder, charged, opened, notes


def routes(desk: Desk) -> APIRouter:
    router = APIRouter()

    def step(request: Request, draft: Draft, typed: Mapping[str, str], refused: str = "") -> Response:
        known: dict[str, Any] = {"statement": None}
        try:
            known |= _known(desk, draft)
        except LeewardError as error:
            refused = refused or str(error)
        return page(
            request,
            "release",
            422 if typed else 200,
            **shown(draft, "release"),
            **known,
            typed=typed,
            refused=refused,
            spec_path=(draft.folder / "spec.toml").relative_to(desk.files.root),
        )

    @router.get("/drafts/{name}/release")
    def ask(request: Request, name: str) -> Response:
        return step(request, desk.drafts.read(name), {})

    @router.get("/drafts/{name}/spec.toml")
    def spec(name: str) -> Response:
        draft = desk.drafts.read(name)
        attached = {"Content-Disposition": f'attachment; filename="{name}.toml"'}
        return Response(draft.text(), media_type="application/toml", headers=attached)

    @router.post("/drafts/{name}/release")
    def release(request: Request, name: str) -> Response:
        draft, form = desk.drafts.read(name), request.state.form
        try:
            spec = draft.spec()
            budget = spec.ledger()
            known = dry_run(spec.plans(), budget)
            if form.get("of") != agreed(draft, to_pay(known)):
                raise InputError(
                    "This draft, or its price",
                    "it is another one than the page showed that this was sent from",
                    "Read this page, and send it again if it is what you want",
                )
            if (opened := opens(budget)) is not None and not form.get("opens"):
                raise InputError(f"This opens {opened.said}", "that is not confirmed", "Tick the box, if that is meant")
            keys = frozenset(known.keyed)
        except LeewardError as error:
            return step(request, draft, {"sent": "1", **form}, str(error))
        before = charged_for(budget, keys)

        def work(progress: Progress) -> Made:
            return released(
                desk, draft, spec, progress, doubtful=bool(form.get("doubtful")), useless=bool(form.get("useless"))
            )

        def end(stages: Sequence[str]) -> str:
            return truth(before, charged_for(budget, keys), own="charged" in stages)

        return see(f"/jobs/{desk.jobs.start(RELEASE, name, work, end, draft.text()).number}")

    return router


def released(
    desk: Desk, draft: Draft, spec: Spec, progress: Progress, *, doubtful: bool = False, useless: bool = False
) -> Made:
    """Carry out the release of a draft, and write it to a folder of its own.

    Raises:
        LeewardError: it is refused.
    """
    plans, budget = spec.plans(), spec.ledger()
    with fresh(desk.released, (f"{draft.name}-{number}" for number in itertools.count(1))) as out:
        refuse_within(out, budget, plans[0].counted)
        with saving(out, [""] * len(plans)) as save, together({"": plans}, budget, progress=progress) as made:
            each = made.release(if_doubtful="publish" if doubtful else "refuse", accept_useless={""} if useless else ())
            progress("writing the report")
            save(each)
    notes = [one.curator for one in each]
    charged = sum((Fraction(note.charged) for note in notes), Fraction(0))
    lines = notes[0].lines()
    if len(each) > 1:
        lines = [f"from {window_of(one.statement).start}: {line}" for one in each for line in one.curator.lines()]
    return Made(out.name, charged, any(note.opened for note in notes), lines)


def agreed(draft: Draft, price: Fraction) -> str:
    """Return what stands in the form for what its page shows: a release is of that, at that price, or is not made."""
    return hashlib.sha256(f"{price} {draft.text()}".encode()).hexdigest()


def charged_for(budget: Budget, keys: Collection[str]) -> dict[str, Fraction]:
    """Return what stands in the ledger as charged for questions, reserved or released, by the id of each charge."""
    ledger, found = Ledger.find(budget.ledger), defaultdict[str, Fraction](Fraction)
    for one in [] if ledger is None else ledger.history(budget.dataset):
        if one.key in keys and one.version == budget.version:
            found[one.id] += one.cost
    return {name: cost for name, cost in found.items() if cost}


def truth(before: Mapping[str, Fraction], after: Mapping[str, Fraction], *, own: bool) -> str:
    """Say what a release that has ended has charged, as the ledger has it.

    Args:
        before: what stood as charged for the same questions when it was begun, by the id of each charge.
        after: the same, when it has ended.
        own: whether it held a charge of its own; else what came meanwhile is that of another, which asked the same.
    """
    if not after:
        return "Nothing was charged."
    now = sum((cost for name, cost in after.items() if name not in before), Fraction(0))
    if not now:
        return (
            f"Nothing was charged now; {amount(sum(after.values(), Fraction(0)))} was charged for this question before."
        )
    if own:
        return f"{amount(now)} was charged for it; asking the same again costs nothing more."
    return f"Nothing was charged by it; {amount(now)} was charged meanwhile by another release, which asked the same."


def _known(desk: Desk, draft: Draft) -> dict[str, Any]:
    """What is known of a release before it is paid for, and what is asked of whoever wants it."""
    spec = draft.spec()
    budget = spec.ledger()
    one = dry_run(spec.plans(), budget)
    refuse_dear(one)
    useless = ""
    try:
        refuse_useless(one.plans[0], one.keys)
    except LeewardError as error:
        useless = str(error)
    looked, opened = found(desk, draft), opens(budget)
    return priced(one) | {
        "of": agreed(draft, to_pay(one)),
        "opens": None if opened is None else f"{opened.said}, {opened.others}",
        "useless": useless,
        "looked": looked is not None,
        "doubts": [] if looked is None else looked.found.refusals,
    }
