# SPDX-License-Identifier: Apache-2.0
"""The fifth step: how strong the promise is, what the answer is then worth, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePath
from typing import Any

from fastapi import APIRouter, Request, Response

from leeward._plain import plain, short_percent
from leeward._statement import DecidingStatement
from leeward.desk._desk import Desk
from leeward.desk._drafts import Draft
from leeward.desk._risk import risks
from leeward.desk._steps import shown
from leeward.desk._views import page, see
from leeward.errors import InputError, LeewardError, LowUtilityError
from leeward.exact._real import exact
from leeward.exact._weight import Weight, weight
from leeward.mechanism._calibration import least_multiple
from leeward.planner._plan import Plan, plan_decisions
from leeward.planner._useless import refuse_useless
from leeward.report._figures import decision_curve
from leeward.session._dry_run import DryRun, dry_run
from leeward.spec import Spec


@dataclass(frozen=True)
class Asked:
    """What is tried out on the page: each is a part of its address.

    Attributes:
        epsilon: of the release.
        count: of how many people a place has, for the wish.
        chance: how often such a place is to be called so, in percent.
        cap: the most that all releases together may cost.
        dataset: the public name of the data.
    """

    epsilon: str
    count: str
    chance: str
    cap: str
    dataset: str


def routes(desk: Desk) -> APIRouter:
    """Return the step."""
    router = APIRouter()

    def step(request: Request, draft: Draft, asked: Asked, refused: str = "") -> Response:
        known: dict[str, Any] = {"wish": "", "wished": "", "plan": None}
        try:
            spec = draft.spec(**sections(desk, draft, asked))
            known |= _known(desk, spec)
            known |= _wish(spec, asked)
        except LeewardError as error:
            refused = refused or str(error)
        return page(
            request,
            "strength",
            422 if refused and request.method == "POST" else 200,
            **shown(draft, "strength"),
            **known,
            asked=asked,
            account=desk.account(asked.dataset),
            refused=refused,
        )

    @router.get("/drafts/{name}/strength")
    def ask(request: Request, name: str) -> Response:
        draft = desk.drafts.read(name)
        shown(draft, "strength")  # refuses what comes too early
        return step(request, draft, _asked(draft, dict(request.query_params)))

    @router.post("/drafts/{name}/strength")
    def answer(request: Request, name: str) -> Response:
        draft, form = desk.drafts.read(name), request.state.form
        shown(draft, "strength")
        asked = _asked(draft, form)
        try:
            made = sections(desk, draft, asked)
            spec = draft.spec(**made)
            dry_run(spec.decision_plans(), spec.ledger())
            for section, keys in made.items():
                draft = draft.with_section(section, keys)
            desk.drafts.save(draft)
        except LeewardError as error:
            return step(request, draft, asked, str(error))
        return see(f"/drafts/{name}/check")

    return router


def sections(desk: Desk, draft: Draft, asked: Asked) -> dict[str, dict[str, Any]]:
    """Return ``[protect]`` and ``[budget]`` as they are tried out."""
    protect = {key: value for key, value in draft.sections["protect"].items() if key != "epsilon"}
    return {
        "protect": {"notion": protect.pop("notion"), "epsilon": asked.epsilon, **protect},
        "budget": {"ledger": draft.path_to(desk.ledger), "dataset": asked.dataset, "cap": asked.cap},
    }


def _asked(draft: Draft, given: Mapping[str, str]) -> Asked:
    protect, budget = draft.sections.get("protect", {}), draft.sections.get("budget", {})
    stem = PurePath(draft.sections["data"]["visits"]).name.partition(".")[0]
    return Asked(
        epsilon=given.get("epsilon", protect.get("epsilon", "1")).strip(),
        count=given.get("count", "0").strip(),
        chance=given.get("chance", "").strip(),
        cap=given.get("cap", budget.get("cap", "4")).strip(),
        dataset=given.get("dataset", budget.get("dataset", stem)).strip(),
    )


def _known(desk: Desk, spec: Spec) -> dict[str, Any]:
    """What is known of a release before anything is charged, without a look at the data."""
    one: DryRun = dry_run(spec.decision_plans(), spec.ledger())
    made, statement = one.plans[0], one.statements[0]
    assert isinstance(made, Plan)
    assert isinstance(statement, DecidingStatement)
    useless = ""
    try:
        refuse_useless(made, one.keys)
    except LowUtilityError as error:
        useless = error.because
    left = one.stands.left
    price = Fraction(0) if all(one.stands.charged) else one.paid[0].epsilon
    return {
        "plan": made,
        "statement": statement,
        "figures": {"decision": decision_curve(statement)},
        "odds": _odds(made),
        "risks": risks(made.notion.epsilon),
        "useless": useless,
        "keys": one.keys,
        "price": price,
        "stored": all(one.stands.answered),
        "left": left,
        "after": None if left is None else left - price,
        "more": None if left is None or not price or left < price else int((left - price) / price),
    }


def _odds(made: Plan) -> list[tuple[int, list[str]]]:
    """How often a place is called safe, and dangerous, by how many people are there: near the threshold, and far."""
    curve, limit = made.decision_curve(), made.safe_at_most
    at = made.dangerous_at_least if limit is None else limit
    assert at is not None
    near = {0, 1, 2, at - 1, at, at + 1, at + 2, 2 * at, 4 * at}
    counts = [count for count in curve if count in near] or list(curve)[:6]
    return [(c, [_said(chance) for chance in curve[c] if chance is not None]) for c in counts]


def _said(chance: Weight) -> str:
    """Write a chance: only what never happens reads so."""
    if chance == 0:
        return "never"
    return "under 0.1 %" if chance < "1/1000" else short_percent(float(chance))


def _wish(spec: Spec, asked: Asked) -> dict[str, Any]:
    """The least ε at which a wish is met."""
    if not asked.chance:
        return {}
    count, chance = _count(asked.count), _chance(asked.chance)
    found = least_epsilon(spec, count, chance)
    return {"wish": "" if found is None else found, "wished": f"{asked.chance} % at {count:,}"}


def least_epsilon(spec: Spec, count: int, chance: Fraction) -> str | None:
    """Return the least ε, in thousandths, at which a place with so many people is called safe, or dangerous, so often.

    Args:
        spec: a whole spec that decides one of the two.
        count: of people.
        chance: how often.

    Returns:
        ε as a decimal; None where none up to 10 is enough, or such a place should not be called so.
    """
    query, notion = spec.decided()[0], spec.notion()
    decide: dict[str, Any] = {**spec.decide.model_dump(), **spec.publish.model_dump()}

    def meets(epsilon: Fraction) -> bool:
        made = plan_decisions(query, notion.with_epsilon(epsilon), **decide)
        rule = made.sanitizer or made.alarm
        return rule is not None and rule.probability(count) >= weight(chance)

    limit, least = spec.decide.safe_at_most, spec.decide.dangerous_at_least
    if (limit is not None and count > limit) or (limit is None and least is not None and count < least):
        return None
    try:
        found = least_multiple(meets, "0.001", 10)
    except LowUtilityError:
        return None
    return format((Decimal(found.numerator) / Decimal(found.denominator)).normalize(), "f")


def _count(text: str) -> int:
    if not text.isdecimal() or len(text) > 9:
        raise InputError(f"'{plain(text)}' people", "it is not a number of people", "Give one, such as 0")
    return int(text)


def _chance(text: str) -> Fraction:
    found = exact(text).rational
    if found is None or not 0 < found < 100:
        raise InputError(f"{plain(text)} %", "it is not between 0 and 100", "Give, say, 90")
    return found / 100
