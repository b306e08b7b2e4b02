# SPDX-License-Identifier: Apache-2.0
"""The sections of a spec of ``[perturb] kind = "series"``, and what of them does not go together."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, Literal

from pydantic import Field

from leeward._plain import echo
from leeward._toml import ExactText, Section, check
from leeward.errors import SpecError
from leeward.ledger._person_budgets import reports_paid_for
from leeward.local._as_they_are import AsTheyAre
from leeward.local._level_keys import Level, check_pair
from leeward.local.series._budget import Budget
from leeward.local.series._closeness import Closeness
from leeward.local.series._readings import Columns, Missing
from leeward.local.series._repeats import Repeat
from leeward.local.series._schedule import Per
from leeward.mechanism._series import Between, SeriesNoise


class Data(Section):
    """``[data]``: the private table, what its columns mean, and the unit of its readings."""

    table: str
    time: str
    value: str
    unit: str
    meter: str | None = None

    @property
    def columns(self) -> Columns:
        """The names of its columns."""
        return Columns(self.time, self.value, self.meter)


class Period(Section):
    """``[time]``: the public clock."""

    start: str | datetime
    end: str | datetime
    every: str
    zone: str | None = None


class PublicValues(Section):
    """``[values]``: the public bounds and grid."""

    lower: str
    upper: str
    step: str
    missing: Missing = "refuse"


class Protect(Section):
    """``[protect]``: ε, the distance it is about, and the noise."""

    between: Between = "maximum"
    epsilon: ExactText | None = None
    unit: str | None = None
    within: str | None = None
    factor: ExactText | None = None
    window: int = 1
    noise: SeriesNoise | None = None
    level: str | None = None
    levels: dict[str, Level] | None = None

    def closeness(self, level: str | None = None) -> Closeness:
        """Return what is asked for, of a level where one is named: what it leaves out is the section's own."""
        keys = self.model_dump(exclude={"noise", "level", "levels"})
        if level is not None and self.levels is not None:
            keys = self.levels[level].over(keys)
        return Closeness(**keys)


class Publish(AsTheyAre):
    """``[publish]``: readings or totals, what is done with noisy readings, and which other columns go out with them."""

    what: Literal["readings", "totals", "tree"] = "readings"
    per: Per = "day"
    levels: list[Per] | None = None
    shares: dict[str, ExactText] | None = None
    by: str | None = None
    smooth: int = 1
    clamp: bool = False
    prior: str | None = None


class Attacker(Section):
    """``[attacker]``: what an appliance adds to readings, when, on how many days, and whether the table holds that."""

    adds: list[str]
    first: str | datetime
    days: list[int] = Field(default_factory=lambda: [1])
    ran: bool = True


class Spec(Section):
    """A whole spec of this kind."""

    data: Data
    time: Period
    values: PublicValues
    protect: Protect
    publish: Publish = Publish()
    budget: Budget | None = None
    repeat: Repeat | None = None
    attacker: Attacker | None = None


_EXAMPLES: Final = {
    "data": '[data] table = "readings.parquet", time = "time", value = "kw", unit = "kW"',
    "table": 'table = "readings.parquet"',
    "time": 'time = "the column of times" in [data], and a section [time] with start, end and every',
    "value": 'value = "the column of readings"',
    "unit": 'unit = "kW"',
    "start": "start = 2026-01-01T00:00:00",
    "end": "end = 2026-02-01T00:00:00",
    "every": 'every = "15 min"',
    "values": '[values] lower = "0 kW", upper = "12 kW", step = "1 W"',
    "lower": 'lower = "0 kW"',
    "upper": 'upper = "12 kW"',
    "step": 'step = "1 W"',
    "protect": '[protect] between = "maximum", epsilon = "1", unit = "100 W"',
    "store": 'store = "meters.db", a file of its own',
    "secret": 'secret = "meters.key", a file of at least 16 secret bytes',
    "attacker": '[attacker] adds = ["2 kW", "2 kW"], first = 2026-01-15T19:00:00',
    "adds": 'adds = ["2 kW", "2 kW"], for each reading while the appliance runs',
    "first": "first = 2026-01-15T19:00:00, when the first of these readings is due",
    "reports_a_day": "reports_a_day = 1, so that a second run that publishes a day of a meter again is refused",
}


def read_spec(given: Mapping[str, Any]) -> Spec:
    """Read a spec of this kind, and refuse what does not go together.

    Raises:
        SpecError: a key or value is not as described.
    """
    spec = check(Spec, given, _EXAMPLES)
    publish, data = spec.publish, spec.data
    if publish.what != "readings" and (publish.keep_columns is not None or publish.drop_columns is not None):
        raise SpecError(
            "[publish] keep_columns, drop_columns",
            "they are of the columns that go out with readings, and totals have columns of their own",
            'Leave them out, or what = "readings"',
        )
    if publish.what != "readings" and (publish.smooth, publish.clamp, publish.prior) != (1, False, None):
        raise SpecError(
            "[publish] smooth, clamp, prior", "they are for readings", 'Leave them out, or what = "readings"'
        )
    if publish.what == "readings" and "per" in publish.model_fields_set:
        raise SpecError("[publish] per", "it is the span of a total", 'Leave it out, or write what = "totals"')
    _check_tree(spec)
    _check_budget(spec)
    _check_repeat(spec)
    if publish.what == "readings" and publish.by is not None:
        raise SpecError("[publish] by", "it groups the meters of totals", 'Write what = "totals", or "tree"')
    if publish.by in {data.time, data.value}:
        raise SpecError(
            f"[publish] by = {echo(publish.by)}",
            "it is the column of times, or of readings, and the names of groups are published as they are",
            "Name a column that says which meters belong together",
        )
    return spec


def _check_tree(spec: Spec) -> None:
    """Refuse what is of trees where none is published, and what is not known of them."""
    publish = spec.publish
    if publish.what != "tree":
        if publish.levels is not None or publish.shares is not None:
            raise SpecError("[publish] levels, shares", "they are of a tree of totals", 'Write what = "tree"')
    elif spec.protect.levels is not None:
        raise SpecError(
            "[protect] levels with a tree of totals",
            "all nodes of a level have one law, and meters of other levels of ε have another",
            'Leave level and levels out; or publish totals of one span, what = "totals"',
        )


def _check_meters(spec: Spec, section: str, because: str) -> None:
    """Refuse a section about meters where no column names them."""
    if spec.data.meter is None:
        raise SpecError(
            f"[{section}] without [data] meter",
            because,
            'Name the column of meters, meter = "…"; of one meter, with the same name in every row',
        )


def _check_budget(spec: Spec) -> None:
    """Refuse a budget of nobody, and days of totals that are not paid for: a total cannot go without one of its parts."""
    if spec.budget is None:
        return
    _check_meters(spec, "budget", "budgets are kept for each meter")
    if spec.publish.what != "readings" and spec.budget.over == "withhold":
        raise SpecError(
            '[budget] over = "withhold" with totals',
            "a total without the readings that are not paid for would be another total",
            "Leave over out; the run is then refused",
        )
    reports_paid_for(spec.budget.reports_a_day)


def _check_repeat(spec: Spec) -> None:
    """Refuse to remember readings of nobody, or totals."""
    if spec.repeat is None:
        return
    _check_meters(spec, "repeat", "a noisy reading is kept for each meter and time")
    if spec.publish.what != "readings":
        raise SpecError(
            "[repeat] with totals",
            "noisy readings are kept, one for each meter and time, and a total is none: it would stand although readings of"
            " its span come in later",
            "Leave [repeat] out and keep the file that is written; [budget] refuses a run that would draw its days again",
        )


def asked_of_levels(spec: Spec) -> dict[str, Closeness]:
    """Return what each level asks for; where all meters have one ε, what a level without a name does."""
    protect, data = spec.protect, spec.data
    check_pair(protect.level, protect.levels)
    if protect.levels is None:
        return {"": protect.closeness()}
    if data.meter is None:
        raise SpecError(
            "[protect] levels without [data] meter",
            "a level is that of a meter, for all of its readings",
            'Name the column of meters, meter = "…"; or leave level and levels out',
        )
    if protect.level in {data.meter, data.time, data.value}:
        raise SpecError(
            f"[protect] level = {echo(protect.level)}",
            "it is the column of meters, of times or of readings, and levels go out as they are",
            "Name the public column that says the level of each meter",
        )
    return {name: protect.closeness(name) for name in protect.levels}
