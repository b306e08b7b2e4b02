# SPDX-License-Identifier: Apache-2.0
"""The sections of a spec file that perturbs positions, as TOML gives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import Field, field_validator, model_validator

from leeward._spark import Spark
from leeward._toml import ExactText, Section, check
from leeward.distance._plane import Norm
from leeward.distance._regions import Back
from leeward.ledger._person_budgets import Over
from leeward.local._as_they_are import AsTheyAre
from leeward.local._level_keys import Level
from leeward.local._stores import StoreSection
from leeward.local.location._terms import LevelOf, Missing, Otherwise, Outside
from leeward.query._source import check_zone


class Data(Section):
    """``[data]``: the private table, and what its columns mean."""

    table: str
    latitude: str | None = None
    longitude: str | None = None
    person: str | None = None
    time: str | None = None
    timezone: str | None = None
    engine: Literal["spark"] | None = None
    spark: dict[str, str] | None = None

    @field_validator("timezone")
    @classmethod
    def _zone(cls, name: str | None) -> str | None:
        if name is not None:
            check_zone(name)
        return name


class PublicBox(Section):
    """``[box]``: the public region, in degrees (WGS 84)."""

    west: float | int
    south: float | int
    east: float | int
    north: float | int


class Protect(Section):
    """``[protect]``: ε, as a factor within a length or for a unit of length, and what happens to odd positions."""

    within: str | None = None
    factor: ExactText | None = None
    epsilon: ExactText | None = None
    unit: str | None = None
    norm: Norm = "euclidean"
    step: str | None = None
    outside: Outside = "refuse"
    missing: Missing = "refuse"
    level: str | None = None
    levels: dict[str, Level] | None = None
    level_of: LevelOf = "person"

    def keys(self, level: str | None = None) -> dict[str, Any]:
        """Return what makes a mechanism, of a level where one is named: what it leaves out is the section's own."""
        own = self.model_dump(exclude={"level", "levels", "level_of"})
        return own if level is None or self.levels is None else self.levels[level].over(own)


class PublicPlaces(Section):
    """``[places]``: a public list that reports are moved to, or over which the best mechanism is taken."""

    table: str
    latitude: str
    longitude: str
    weight: str | None = None
    use: Literal["remap", "best", "exponential"] = "remap"


class Elastic(Section):
    """``[elastic]``: the weight that each public place is to find within a length of it."""

    within: str
    least: ExactText


class RegionPolicy(Section):
    """``[regions.of.NAME]``: how far places of a region may pass as any other, and what length that counts as."""

    within: str
    counts_as: str
    back: Back = "usual"


class Regions(Section):
    """``[regions]``: which public places lie in a region, by a column of their list or by polygons."""

    column: str
    geojson: str | None = None
    of: dict[str, RegionPolicy]


class Output(AsTheyAre):
    """``[output]``: H3 cells instead of positions, a picture, and which other columns go out."""

    h3: int | None = None
    map: bool = False


class Budget(StoreSection):
    """``[budget]``: how many reports of one person in one day are paid for; of several levels, what they cost together."""

    reports_a_day: int | None = None
    a_day: Level | None = None
    over: Over = "refuse"


class Repeat(StoreSection):
    """``[repeat]``: the same report for the same person on the same grid point."""


class Track(Section):
    """``[track]``: test and report for the positions of one person after another, and what they may cost together."""

    near: str
    test: ExactText = "1/3"
    every: str | None = None
    in_all: Level | None = None
    in_window: Level | None = None
    window: str | None = None
    otherwise: Otherwise = "withhold"


class Attacker(Section):
    """``[attacker]``: public places where people may be, with the prior of somebody who knows them, and what he sees."""

    table: str
    latitude: str
    longitude: str
    weight: str | None = None
    reports: list[int] = Field(default_factory=lambda: [1, 10, 100])
    between: str | None = None


_ROLES = ("latitude", "longitude", "person", "time")


class Location(Section):
    """A whole spec of this kind."""

    data: Data
    box: PublicBox
    protect: Protect
    places: PublicPlaces | None = None
    output: Output = Output()
    budget: Budget | None = None
    repeat: Repeat | None = None
    track: Track | None = None
    elastic: Elastic | None = None
    regions: Regions | None = None
    attacker: Attacker | None = None

    @model_validator(mode="after")
    def _felt(self) -> Location:
        drawn = self.places is not None and self.places.use != "remap"
        if (self.elastic or self.regions) and not drawn:
            raise ValueError(
                "[elastic] and [regions] say how far public places are felt to be apart, and reports are to be drawn"
                ' over these: [places] table = "cells.csv", latitude = "lat", longitude = "lon",'
                ' use = "exponential" (or "best")'
            )
        if self.elastic is not None and self.places is not None and self.places.weight is None:
            raise ValueError('[elastic] counts the weight of places, and none is named: [places] weight = "people"')
        exponential = self.places is not None and self.places.use == "exponential"
        if (self.elastic or self.regions or exponential) and self.protect.levels is not None:
            raise ValueError(
                '[elastic], [regions] and use = "exponential" are of one ε for everybody: leave out [protect] levels'
            )
        if self.regions is not None and not self.regions.of:
            raise ValueError('[regions] names none: [regions.of.hospital] within = "1 km", counts_as = "200 m"')
        return self

    @model_validator(mode="after")
    def _person(self) -> Location:
        if self.data.person is None and (self.budget is not None or self.repeat is not None):
            raise ValueError('budgets and repeated reports are per person: name the column, [data] person = "…"')
        if self.track is not None and (self.data.person is None or self.data.time is None):
            raise ValueError('a track is a person\'s rows by time: name the columns, [data] person = "…", time = "…"')
        if self.track is not None and (self.budget or self.repeat or self.protect.levels):
            raise ValueError(
                "[track] has limits of its own, and shows reports again by itself: leave out [budget], [repeat] and levels"
            )
        if self.data.timezone is not None and self.budget is None:
            raise ValueError("[data] timezone says where the days of a budget are counted, and there is no [budget]")
        if self.attacker is not None and self.track is not None and self.attacker.between is None:
            raise ValueError(
                '[attacker] beside [track]: how often rows come decides what is drawn. Add between = "5 min"'
            )
        if self.attacker is not None and self.track is None and self.attacker.between is not None:
            raise ValueError("[attacker] between is how far rows of a track are apart, and there is none: leave it out")
        named = {key: name for key in _ROLES if (name := getattr(self.data, key)) is not None}
        named |= {} if self.protect.level is None else {"level": self.protect.level}
        if len(set(named.values())) < len(named):
            # whose every place is another person has no bound on reports
            roles = ", ".join(f'{key} = "{name}"' for key, name in named.items())
            raise ValueError(f"one column cannot be two things: {roles}. Name each once")
        return self

    @model_validator(mode="after")
    def _in_spark(self) -> Location:
        data = self.data
        if data.spark is not None:
            Spark(data.spark)
        if data.engine is None:
            if data.spark is not None:
                raise ValueError(
                    '[data] spark says how Spark is started, and nothing is asked of it: add engine = "spark"'
                )
            return self
        beside: dict[str, object] = {"[places]": self.places, "[track]": self.track, "[repeat]": self.repeat}
        beside |= {"[protect] levels": self.protect.levels, "[output] h3": self.output.h3}
        for name, held in beside.items():
            if held is not None:
                raise ValueError(
                    f'{name} beside [data] engine = "spark": its workers draw each row by itself, from the public box and'
                    f" promise alone. Leave {name} out; or leave engine out, and this machine does it"
                )
        if self.budget is not None and self.budget.over == "withhold":
            raise ValueError(
                '[budget] over = "withhold" beside [data] engine = "spark": which rows of a person come first, nobody says'
                ' there. Write over = "refuse"; or leave engine out'
            )
        return self


_EXAMPLES: Final = {
    "data": '[data] table = "positions.parquet", latitude = "lat", longitude = "lon"',
    "table": 'table = "positions.parquet"',
    "latitude": 'latitude = "the column of latitudes"',
    "longitude": 'longitude = "the column of longitudes"',
    "box": "[box] west = 139.5, south = 35.5, east = 140.0, north = 35.9",
    "protect": '[protect] within = "200 m", factor = "2"',
    "within": 'within = "200 m"',
    "least": 'least = "500"',
    "counts_as": 'counts_as = "200 m"',
    "store": 'store = "people.db"',
    "secret": 'secret = "people.key", a file of at least 16 secret bytes',
}


def read_spec(given: Mapping[str, Any]) -> Location:
    """Check a spec of this kind, given as nested dicts.

    Raises:
        SpecError: a key or value is not as described.
    """
    return check(Location, given, _EXAMPLES)
