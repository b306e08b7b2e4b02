# SPDX-License-Identifier: Apache-2.0
"""What is asked: a spec without the curator's part, held against what is offered. All of it is public, and so is a refusal.

Where a curator would be told a fact about the data and asked what to do (people over a bound, people with several rows, a
declared number of people that is not the true one), the question must say it beforehand: an answer that is refused because
of what the rows hold would be an answer without noise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from leeward._plain import echo, listed
from leeward._toml import check_size
from leeward.errors import SpecError
from leeward.planner._selection_plan import AnyPlan
from leeward.query._source import EACH_ROW
from leeward.service._offers import DataSet
from leeward.spec import Spec

SECTIONS: Final = ("query", "window", "protect", "decide", "publish", "keep")
"""What a question may say: sections of a spec, and a filter of rows."""


def admitted(data_set: DataSet, asked: Mapping[str, Any]) -> AnyPlan:
    """Return the plan of a question that may be asked of a data set.

    Args:
        data_set: the data set.
        asked: sections of a spec, as TOML or JSON reads them.

    Raises:
        LeewardError: it is malformed, is not offered, or can be refused without data.
    """
    try:
        check_size(asked)
    except (ValueError, RecursionError):
        raise SpecError(
            "The question", "a number in it is too long, or its parts lie too deep in one another", "Write it shorter"
        ) from None
    for section in asked:
        if section not in SECTIONS:
            raise SpecError(
                f"[{section}]",
                "it is the curator who says what the data are and where they are charged",
                f"A question has {listed(SECTIONS)}",
            )
    query = asked.get("query", {})
    if isinstance(query, dict) and isinstance(kind := query.get("kind", "visitors"), str):
        _refuse_other("[query] kind", kind, data_set.offer.kinds)  # first: other keys depend on it
    spec = data_set.spec(_with_filter(data_set, asked))
    _refuse_unoffered(data_set, spec)
    _refuse_what_rows_decide(spec)
    if spec.windowed and (spec.windows is not None or spec.window is None or spec.window.every or spec.window.windows):
        raise SpecError("Several windows", "each question is about one, and is paid for alone", "Ask one at a time")
    (plan,) = spec.plans()
    return plan


def _with_filter(data_set: DataSet, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sections asked, with the filter in its place: beside the curator's own, never instead of it."""
    sections = {section: keys for section, keys in asked.items() if section != "keep"}
    keep = asked.get("keep", {})
    if not isinstance(keep, dict) or not all(isinstance(values, list) and values for values in keep.values()):
        raise SpecError("keep", "it is not a list of values for each column", 'Write {"ward": ["north"]}')
    if not keep:
        return sections
    data, offered = data_set.parts["data"], data_set.offer.groups
    _refuse_values("keep", keep, offered)
    if set(keep) & set(data.get("keep", {})):
        raise SpecError("keep", "the curator filters by this column already", "Leave it out")
    return sections | {"data": {**data, "keep": {**data.get("keep", {}), **keep}}}


def _refuse_unoffered(data_set: DataSet, spec: Spec) -> None:
    offer, query = data_set.offer, spec.query
    _refuse_other("[protect] notion", spec.protect.notion, offer.notions)
    if query.column is not None:
        _refuse_other("[query] column", query.column, offer.columns)
    if isinstance(query.by, dict):
        cut = [column for column, groups in query.by.items() if isinstance(groups, dict)]
        for column in cut:
            _refuse_other("[query] by", column, offer.columns)
        _refuse_values("[query] by", {name: v for name, v in query.by.items() if name not in cut}, offer.groups)


def _refuse_other(what: str, asked: str, offered: Iterable[str]) -> None:
    if asked not in offered:
        named = listed([f"'{each}'" for each in offered])
        raise SpecError(
            f"{what} = {echo(asked)}",
            "the curator does not offer it of this data set",
            f"Offered: {named}" if named else "Nothing of the kind is offered",
        )


def _refuse_values(what: str, asked: Mapping[str, Any], offered: Mapping[str, list[Any]]) -> None:
    for column, values in asked.items():
        _refuse_other(what, column, offered)
        known = [(type(value), value) for value in offered[column]]
        if any((type(value), value) not in known for value in values):
            raise SpecError(
                f"{what}: a value of '{column}'",
                "it is not one of the public values that the curator lists",
                f"Listed: {listed([echo(value) for value in offered[column]])}",
            )


def _refuse_what_rows_decide(spec: Spec) -> None:
    """Refuse what the rows would decide whether to answer."""
    protect, query = spec.protect, spec.query
    if spec.of_visits and protect.places_per_person is not None and protect.if_more == "refuse":
        raise SpecError(
            "[protect] if_more is missing",
            "whether somebody is at more places than places_per_person is a fact about the data, and no question may stop"
            " at one",
            'Say which places count then: if_more = "latest"',
        )
    if not spec.of_visits and query.combine == "refuse" and spec.data.person != EACH_ROW:
        raise SpecError(
            "[query] combine is missing",
            "whether somebody has several rows is a fact about the data, and no question may stop at one",
            'Say what counts then: combine = "sum", "min" or "max"',
        )
    if query.people is not None:
        raise SpecError(
            "[query] people",
            "whether it is the true number of people is a fact about the data, and no question may stop at one",
            "Leave it out: the number is then private",
        )
