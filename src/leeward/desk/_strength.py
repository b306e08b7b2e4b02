# SPDX-License-Identifier: Apache-2.0
"""How strong the promise is, what the answer is then worth, and what it costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import PurePath
from typing import Any, Final

from fastapi import APIRouter

from leeward._plain import plain
from leeward.desk._desk import Desk
from leeward.desk._drafts import Draft
from leeward.desk._form_step import form_step
from leeward.desk._risk import risks
from leeward.desk._worth import (
    NumbersPlan,
    depends,
    error_curve,
    errors,
    least_epsilon,
    least_epsilon_within,
    odds,
)
from leeward.errors import RAISE_CAP, InputError, LeewardError, LowUtilityError
from leeward.exact._real import exact
from leeward.planner._number_plan import EXAMPLES, NumberPlan
from leeward.planner._people import a, those_there
from leeward.planner._rank_plan import RankPlan
from leeward.planner._useless import refuse_useless
from leeward.report._figures import decision_curve
from leeward.report._words import of_counted
from leeward.session._dry_run import DryRun, dry_run
from leeward.spec import Spec
from leeward.spec._first_question import with_point


@dataclass(frozen=True)
class Asked:
    """What is tried out on the page: each is a part of its address.

    Attributes:
        epsilon: of the release.
        count: of how many people a place has, for the wish; or how many a mean is over.
        chance: how often such a place is to be called so, in percent.
        within: how far a number may be off.
        cap: the most that all releases together may cost.
        dataset: the public name of the data.
        version: the public label of their content.
    """

    epsilon: str
    count: str
    chance: str
    within: str
    cap: str
    dataset: str
    version: str


FIRST: Final = "1"
"""The label that the content of a table has where none is given."""


def routes(desk: Desk) -> APIRouter:
    def shows(draft: Draft, typed: Mapping[str, str], refused: str) -> tuple[str, dict[str, Any]]:
        asked = _asked(draft, typed)
        known: dict[str, Any] = {
            "wish": "",
            "wished": "",
            "plan": None,
            "by_rank": False,
            "examples": (),
            "noun": "place",
            "many": "people",
            "stops": False,
        }
        try:
            spec = draft.spec(**sections(desk, draft, asked))
            planned = _planned(desk, draft, asked)
            seen = _known(spec)
            known |= seen | (_of_decisions(seen) if spec.decides else _of_numbers(seen, planned, asked))
            known |= _wish_of_words(spec, asked) if spec.decides else _wish_of_error(planned, asked)
        except LeewardError as error:
            refused = refused or str(error)
        return "strength", known | {"asked": asked, "account": desk.account(asked.dataset), "refused": refused}

    def answered(draft: Draft, form: Mapping[str, str]) -> Draft:
        made = sections(desk, draft, _asked(draft, form))
        spec = draft.spec(**made)
        refuse_dear(dry_run(spec.plans(), spec.ledger()))
        for section, keys in made.items():
            draft = draft.with_section(section, keys)
        return draft

    return form_step(desk, "strength", shows, answered)


def sections(desk: Desk, draft: Draft, asked: Asked) -> dict[str, dict[str, Any]]:
    """Return ``[protect]`` and ``[budget]`` as they are tried out."""
    protect = {key: value for key, value in draft.sections["protect"].items() if key != "epsilon"}
    budget = {"ledger": draft.path_to(desk.ledger), "dataset": asked.dataset, "cap": asked.cap}
    return {
        "protect": {"notion": protect.pop("notion"), "epsilon": asked.epsilon, **protect},
        "budget": budget | ({} if asked.version == FIRST else {"version": asked.version}),
    }


def _asked(draft: Draft, given: Mapping[str, str]) -> Asked:
    protect, budget = draft.sections.get("protect", {}), draft.sections.get("budget", {})
    stem = PurePath(draft.sections["data"][draft.table]).name.partition(".")[0]
    usual = "0" if "decide" in draft.sections else "1000"
    return Asked(
        epsilon=with_point(given.get("epsilon", protect.get("epsilon", "1")).strip()),
        count=given.get("count", usual).strip(),
        chance=with_point(given.get("chance", "").strip()),
        within=with_point(given.get("within", "").strip()),
        cap=with_point(given.get("cap", budget.get("cap", "4")).strip()),
        dataset=given.get("dataset", budget.get("dataset", stem)).strip(),
        version=given.get("version", budget.get("version", FIRST)).strip(),
    )


def _known(spec: Spec) -> dict[str, Any]:
    """What is known of a release before anything is charged, without a look at the data."""
    one = dry_run(spec.plans(), spec.ledger())
    made, useless = one.plans[0], ""
    try:
        refuse_useless(made, one.keys)
    except LowUtilityError as error:
        useless = error.because
    dear = ""
    try:
        refuse_dear(one)
    except InputError as error:
        dear = str(error)
    left, price = one.stands.left, to_pay(one)
    return priced(one) | {
        "plan": made,
        "risks": risks(made.notion.epsilon * len(one.plans)),  # whoever sees all windows gains what each lets them
        "useless": useless,
        "dear": dear,
        "more": None if left is None or not price or left < price else int((left - price) / price),
    }


def priced(one: DryRun) -> dict[str, Any]:
    """Return what a page shows of a release that is not paid for: what is promised, and what becomes of the budget."""
    left, price = one.stands.left, to_pay(one)
    return {
        "statement": one.statements[0],
        "many": one.plans[0].counted.many,
        "windows": len(one.plans),
        "price": price,
        "stored": all(one.stands.answered),
        "left": left,
        "after": None if left is None else left - price,
    }


def to_pay(one: DryRun) -> Fraction:
    """Return what is charged now: nothing where the answer is stored, or was paid for by a run that broke off."""
    return sum((price.epsilon for price in one.prices.values()), Fraction(0))


def refuse_dear(one: DryRun) -> None:
    """Refuse what is left of the budget does not pay for."""
    price, left = to_pay(one), one.stands.left
    if left is not None and price > left:
        raise InputError(
            f"A release at a price of {price}",
            f"{left} is left of the budget",
            f"Choose a smaller ε; or if more may be spent on these people, {RAISE_CAP}",
        )


def _planned(desk: Desk, draft: Draft, asked: Asked) -> Callable[[str], NumbersPlan]:
    """Return what plans a number at an ε: in one window, because it is off as far in each."""
    uncut = {key: at for key, at in draft.sections.get("window", {}).items() if key != "every"}
    one = {"window": uncut} if uncut else {}

    def planned(epsilon: str) -> NumbersPlan:
        (made,) = draft.spec(**sections(desk, draft, replace(asked, epsilon=epsilon)), **one).plans()
        assert isinstance(made, NumberPlan | RankPlan)
        return made

    return planned


def _of_decisions(known: Mapping[str, Any]) -> dict[str, Any]:
    """How often a word is said; and where the asking stops at the first of which nothing is said, in how many groups."""
    made = known["plan"]
    noun, stops = made.counted.noun, made.mechanism.stop_after is not None
    return {
        "figures": {"decision": decision_curve(known["statement"])},
        "odds": odds(made),
        "noun": noun,
        "a_noun": a(noun),
        "of_whom": those_there(noun, known["many"], counted=of_counted(known["statement"])),
        "stops": stops,
        "groups": made.query.scans if stops else 1,
    }


def _wish_of_words(spec: Spec, asked: Asked) -> dict[str, Any]:
    """The least ε at which a word is said as often as is wished."""
    if not asked.chance:
        return {}
    count, chance = _count(asked.count), _chance(asked.chance)
    people = "person" if count == 1 else "people"
    return {"wish": least_epsilon(spec, count, chance) or "", "wished": f"{asked.chance} % at {count:,} {people}"}


def _of_numbers(known: Mapping[str, Any], planned: Callable[[str], NumbersPlan], asked: Asked) -> dict[str, Any]:
    """How far a number is off."""
    made, over = known["plan"], _count(asked.count)
    if depends(made) and over not in EXAMPLES:
        raise InputError(f"{over} {known['many']}", "it is not one of the choices", "Choose one of them")
    return {
        "errors": errors(made),
        "examples": EXAMPLES if depends(made) else (),
        "by_rank": isinstance(made, RankPlan),
        "figures": {"error": error_curve(planned, asked.epsilon, over)},
    }


def _wish_of_error(planned: Callable[[str], NumbersPlan], asked: Asked) -> dict[str, Any]:
    """The least ε at which a number is off by no more than is wished."""
    if not asked.within:
        return {}
    error = exact(asked.within).rational
    if error is None or error <= 0:
        raise InputError(f"Off by at most {plain(asked.within)}", "it is not a number above 0", "Give one")
    found = least_epsilon_within(planned, error, _count(asked.count))
    return {"wish": found or "", "wished": f"an error of at most {plain(asked.within)}"}


def _count(text: str) -> int:
    if not text.isdecimal() or len(text) > 9:
        raise InputError(f"'{plain(text)}' people", "it is not a number of people", "Give one, such as 0")
    return int(text)


def _chance(text: str) -> Fraction:
    found = exact(text).rational
    if found is None or not 0 < found < 100:
        raise InputError(f"{plain(text)} %", "it is not between 0 and 100", "Give, say, 90")
    return found / 100
