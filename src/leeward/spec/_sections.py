# SPDX-License-Identifier: Apache-2.0
"""The sections of a spec file, as pydantic models: which keys there are, and what each may hold."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from leeward._toml import ExactText, Section
from leeward.errors import SpecError
from leeward.notion._osdp import Reading
from leeward.planner._everyone import About
from leeward.planner._plan import MechanismName, What
from leeward.planner._statistic_plan import PercentileMechanism
from leeward.query._ask_statistic import KindName
from leeward.query._records import Combine
from leeward.query._selection import Which
from leeward.query._source import Engine
from leeward.query._unlisted_groups import IfMoreGroups

Moment = datetime | date | str


class Data(Section):
    """``[data]``: the private table (``visits``, or ``table`` for a statistic), and what its columns mean."""

    visits: str | list[str] | None = None
    visits_table: str | None = None
    table: str | list[str] | None = None
    person: str | None = None
    place: str | None = None
    time: str | None = None
    latitude: str | None = None
    longitude: str | None = None
    keep: dict[str, list[str | int | bool]] = Field(default_factory=dict)
    timezone: str | None = None
    time_unit: Literal["s", "ms", "us"] | None = None
    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    time_format: str | None = None
    engine: Engine = "duckdb"
    spark: dict[str, str] | None = None


Groups = list[str | int] | dict[str, str | int | float]
"""``[query] by``: the public values of a column, or the ends of intervals of its numbers; which ends, the question says."""


class Query(Section):
    """``[query]``: a statistic of one number a person, or a name; without this section, visitors are counted by place."""

    kind: Literal["visitors", KindName, Which, "unlisted groups"] = "visitors"
    column: str | None = None
    lower: ExactText | None = None
    upper: ExactText | None = None
    step: ExactText | None = None
    p: ExactText | list[ExactText] | None = None
    people: int | None = None
    grid: ExactText | None = None
    levels: list[ExactText] | None = None
    by: dict[str, Groups] | str | None = None
    most_groups: int = 1_000
    others: str | int | None = None
    combine: Combine = "refuse"
    mechanism: PercentileMechanism = "auto"
    accept_useless: bool = False

    @field_validator("by", mode="before")
    @classmethod
    def _are_groups(cls, by: Any) -> Any:
        lists = [each for each in by.values() if isinstance(each, list)] if isinstance(by, dict) else []
        if any(type(group) not in (str, int) for each in lists for group in each):
            raise ValueError(
                "a group is a text or a whole number, as the column holds it; in CSV files all are texts, and elsewhere a"
                ' column of truth values or other numbers is stored as texts first: by = { column = ["true", "false"] }'
            )
        return by


class GridBox(Section):
    """``[places] grid``: cells over a public box, square (``metres``) or H3 (``h3`` = resolution)."""

    west: float | int
    south: float | int
    east: float | int
    north: float | int
    metres: float | int | None = None
    h3: int | None = None


class PublicPlaces(Section):
    """``[places]``: the public list, as a table or as a grid."""

    table: str | None = None
    place: str | None = None
    latitude: str | None = None
    longitude: str | None = None
    name: str | None = None
    places_table: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    grid: GridBox | None = None

    @model_validator(mode="after")
    def _one_list(self) -> PublicPlaces:
        if (self.table is None) == (self.grid is None):
            raise ValueError("name either a table or a grid as the public list of places")
        if self.table is not None and self.place is None:
            raise ValueError('name the column of the table that holds the places: place = "…"')
        if self.grid is not None and (of_tables := sorted(self.model_fields_set - {"grid"})):
            raise ValueError(f"{of_tables[0]} is about a table of places, and a grid is none. Leave it out")
        return self


class Span(Section):
    """A half-open window of time."""

    start: Moment
    end: Moment


class Windows(Section):
    """``[window]``: one window, or several as ``windows``."""

    start: Moment | None = None
    end: Moment | None = None
    every: str | None = None
    windows: list[Span] | None = None

    @model_validator(mode="after")
    def _complete(self) -> Windows:
        single = self.start is not None and self.end is not None
        if self.windows == []:
            raise ValueError("windows = [] lists none. Leave it out, or write [{ start = …, end = … }, …]")
        if single == bool(self.windows) or (self.start is None) != (self.end is None):
            raise ValueError("give start and end, or a list windows = [{ start = …, end = … }, …]")
        if self.every is not None and self.windows:
            raise ValueError("give either every, which cuts start to end into windows, or a list of windows")
        return self


Rows = dict[str, list[str | int | bool]]
"""Rows whose columns all hold one of the listed values."""


class Stated(Section):
    """``[protect] policies``: one policy, a proposition about a row that may become known where it holds."""

    within: Rows | None = None
    outside: Rows | None = None

    @model_validator(mode="after")
    def _one(self) -> Stated:
        if (self.within is None) == (self.outside is None):
            raise ValueError(f"a policy has one of within and outside. Write {A_POLICY}")
        return self


A_POLICY = 'policies = [{ outside = { diagnosis = ["flu"] } }]: that a row is none of these may become known'


class Protect(Section):
    """``[protect]``: the notion, its ε, and what bounds one person's effect."""

    notion: str
    epsilon: ExactText | None = None
    presence: ExactText | None = None
    absence: ExactText | None = None
    unit: str | None = None
    policies: list[Stated] | None = None
    absent_too: bool | None = None
    sensitive: Rows | None = None
    reading: Reading | None = None
    edges: list[list[str | int]] | None = None
    partition: list[list[str | int]] | None = None
    places_per_person: int | None = None
    groups_per_person: int | None = None
    if_more: IfMoreGroups = "refuse"
    delta: ExactText | None = None

    def one_rate(self) -> str:
        """Return ε, for the notions that have one."""
        if self.presence is not None or self.absence is not None:
            raise SpecError(
                "[protect] presence and absence", "this notion has one price", "Give epsilon, or a graded notion"
            )
        if self.epsilon is None:
            raise SpecError("[protect] epsilon is missing", "it is required", 'Add epsilon = "1"')
        return self.epsilon

    def two_rates(self) -> tuple[str, str]:
        """Return ε_presence and ε_absence, for the graded notions."""
        if self.epsilon is not None or self.presence is None or self.absence is None:
            raise SpecError(
                f'[protect] notion = "{self.notion}"',
                "it has a price for each direction",
                'Give presence = "1" and absence = "4" instead of epsilon',
            )
        return self.presence, self.absence


class Decide(Section):
    """``[decide]``: what *safe* and *dangerous* mean, and how often they may be wrong where they can be."""

    safe_at_most: int | None = None
    dangerous_at_least: int | None = None
    error_at_most: ExactText | None = None
    useful_from: ExactText | None = None
    about: About = "counted"
    left_out: int | list[int] = 0


class Publish(Section):
    """``[publish]``: what is shown, and by which mechanism."""

    what: What = "decisions"
    mechanism: MechanismName = "auto"
    stop_after: int | None = None


class Account(Section):
    """``[budget]``: where the price is charged."""

    ledger: str
    dataset: str
    cap: ExactText | None = None
    version: str = "1"
    notion: str | None = None
    cap_delta: ExactText | None = None
