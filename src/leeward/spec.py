"""The spec file: a release described in TOML, checked key by key before anything is read.

Sections: ``[data]``, ``[places]``, ``[window]`` (or ``windows``), ``[protect]``, ``[decide]``, ``[publish]``, ``[budget]``.
Paths are relative to the spec file. Unknown keys are refused with the nearest known one; numbers that a promise depends on
are strings, because a TOML float is not the decimal it prints as.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from leeward.errors import InputError, SpecError, nearest
from leeward.notion import AdditionOnly, BoundedDP, Notion, Presence, RemovalOnly, ReplaceDP, UnboundedDP
from leeward.notion.metric import Manhattan, Maximum, NormalisedManhattan
from leeward.query import CountVisitors, Grid, Places, Visits, Window, count_visitors, grid, moment, places, visits
from leeward.query.statistic import Combine, Statistic, records, statistic
from leeward.real import exact
from leeward.release import Budget
from leeward.utility.number_plan import NumberPlan, plan_number
from leeward.utility.plan import USEFUL_FROM, MechanismName, Plan, What, plan

NOTIONS: dict[str, type[Notion]] = {
    "presence": Presence,
    "addition-only": AdditionOnly,
    "removal-only": RemovalOnly,
    "dp": UnboundedDP,
}


NUMBER_NOTIONS: dict[str, type[Notion]] = {
    "manhattan": Manhattan,
    "normalised-manhattan": NormalisedManhattan,
    "maximum": Maximum,
    "hamming": ReplaceDP,
    "addition-only": AdditionOnly,
    "removal-only": RemovalOnly,
    "dp": UnboundedDP,
    "bounded-dp": BoundedDP,
}


def _named(known: dict[str, type[Notion]], name: str) -> type[Notion]:
    if name not in known:
        raise SpecError(
            f'[protect] notion = "{name}"', "there is no such notion for this question", nearest(name, known)
        )
    return known[name]


def _number_notion(kind: type[Notion], asked: Statistic, epsilon: str, unit: str | None) -> Notion:
    """Return a notion for one number a person; the metric ones know the universe of the numbers and the unit of ε."""
    if kind is ReplaceDP and asked.people is not None:
        return BoundedDP(epsilon)  # Hamming distance between tables with as many numbers
    if not issubclass(kind, Manhattan):
        if unit is not None:
            raise SpecError("[protect] unit", "this notion does not measure how far a number moves", "Leave it out")
        return kind(epsilon)
    if asked.values is None:
        raise SpecError("A metric notion for a histogram of groups", "groups are not near or far", 'Use notion = "dp"')
    if kind is NormalisedManhattan:
        if unit is not None:
            raise SpecError("[protect] unit", "ε is about the largest change a number can make here", "Leave it out")
        return NormalisedManhattan(epsilon, asked.values, nobody=asked.people is None)
    written = re.fullmatch(r"\s*([0-9./]+)\s*(\S*)\s*", unit or "1")
    if written is None:
        raise SpecError(f'[protect] unit = "{unit}"', "it is no amount", 'Write, say, unit = "10 W" or unit = "1"')
    metric: Any = kind  # Manhattan or Maximum: the two that take a unit
    made: Notion = metric(epsilon, asked.values, unit=written[1], nobody=asked.people is None)
    return made


def _exact_text(value: object) -> str:
    try:
        return str(exact(value))  # type: ignore[arg-type]
    except InputError as error:
        raise ValueError(str(error)) from None


ExactText = Annotated[str, BeforeValidator(_exact_text)]
Moment = datetime | date | str


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Data(_Section):
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


class Query(_Section):
    """``[query]``: a statistic of one number a person; without this section, visitors are counted by place."""

    kind: Literal["visitors", "sum", "mean", "percentile", "median", "min", "max", "histogram"] = "visitors"
    column: str | None = None
    lower: ExactText | None = None
    upper: ExactText | None = None
    step: ExactText = "1"
    p: ExactText | None = None
    people: int | None = None
    grid: ExactText | None = None
    by: dict[str, list[str | int]] | None = None
    combine: Combine = "refuse"


class GridBox(_Section):
    """``[places] grid``: cells over a public box, square (``metres``) or H3 (``h3`` = resolution)."""

    west: float | int
    south: float | int
    east: float | int
    north: float | int
    metres: float | int | None = None
    h3: int | None = None


class PublicPlaces(_Section):
    """``[places]``: the public list, as a table or as a grid."""

    table: str | None = None
    place: str | None = None
    latitude: str | None = None
    longitude: str | None = None
    name: str | None = None
    places_table: str | None = None
    grid: GridBox | None = None

    @model_validator(mode="after")
    def _one_list(self) -> PublicPlaces:
        if (self.table is None) == (self.grid is None):
            raise ValueError("name either a table or a grid as the public list of places")
        if self.table is not None and self.place is None:
            raise ValueError('name the column of the table that holds the places: place = "…"')
        return self


class Span(_Section):
    """A half-open window of time."""

    start: Moment
    end: Moment


class Windows(_Section):
    """``[window]``: one window, or several as ``windows``."""

    start: Moment | None = None
    end: Moment | None = None
    every: str | None = None
    windows: list[Span] | None = None

    @model_validator(mode="after")
    def _complete(self) -> Windows:
        single = self.start is not None and self.end is not None
        if single == bool(self.windows) or (self.start is None) != (self.end is None):
            raise ValueError("give start and end, or a list windows = [{ start = …, end = … }, …]")
        if self.every is not None and self.windows:
            raise ValueError("give either every, which cuts start to end into windows, or a list of windows")
        return self


class Protect(_Section):
    """``[protect]``: the notion, its ε, and what bounds one person's effect."""

    notion: str
    epsilon: ExactText
    unit: str | None = None
    places_per_person: int | None = None
    if_more: Literal["refuse", "latest", "earliest"] = "refuse"


class Decide(_Section):
    """``[decide]``: what *safe* and *dangerous* mean, and how often they may be wrong where they can be."""

    safe_at_most: int | None = None
    dangerous_at_least: int | None = None
    error_at_most: ExactText | None = None
    useful_from: ExactText = USEFUL_FROM


class Publish(_Section):
    """``[publish]``: what is shown, and by which mechanism."""

    what: What = "decisions"
    mechanism: MechanismName = "auto"
    stop_after: int | None = None


class Account(_Section):
    """``[budget]``: where the price is charged."""

    ledger: str
    dataset: str
    cap: ExactText | None = None
    version: str = "1"


class Spec(_Section):
    """A whole spec. `read_spec` makes it from a file."""

    data: Data
    query: Query = Query()
    places: PublicPlaces | None = None
    window: Windows | None = None
    windows: list[Span] | None = None
    protect: Protect
    decide: Decide = Decide()
    publish: Publish = Publish()
    budget: Account
    folder: Path = Field(default=Path(), exclude=True)

    @model_validator(mode="after")
    def _complete(self) -> Spec:
        visitors = self.query.kind == "visitors"
        needed = {"visits": self.data.visits, "person": self.data.person, "time": self.data.time} if visitors else {}
        needed |= {} if visitors else {"table": self.data.table}
        for key, value in needed.items():
            if value is None:
                raise ValueError(f"[data] {key} is missing. Add {_example(key)}")
        if visitors and self.places is None:
            raise ValueError("the section [places] is missing. Add it: the public list of places")
        if visitors and (self.window is None) == (self.windows is None):
            raise ValueError("give the section [window], or a list windows = [{ start = …, end = … }, …]")
        if not visitors and (self.places or self.window or self.windows or self.data.visits):
            raise ValueError(f"a {self.query.kind} has no visits, places or windows: leave them out")
        return self

    @property
    def spans(self) -> list[Span]:
        """The windows asked for, in order."""
        if self.windows is not None:
            return self.windows
        assert self.window is not None
        if self.window.windows:
            return self.window.windows
        assert self.window.start is not None
        assert self.window.end is not None
        if self.window.every is not None:
            return _cut(self.window.start, self.window.end, self.window.every)
        return [Span(start=self.window.start, end=self.window.end)]

    def visits(self) -> Visits:
        """Return the description of the private table."""
        d = self.data
        assert d.visits is not None
        assert d.person is not None
        return visits(
            self._paths(d.visits),
            person=d.person,
            place=d.place,
            time=d.time,
            latitude=d.latitude,
            longitude=d.longitude,
            keep=d.keep,
            timezone=d.timezone,
            time_unit=d.time_unit,
            table=d.visits_table,
        )

    def public_places(self) -> Places | Grid:
        """Return the description of the public list."""
        p = self.places
        assert p is not None
        if p.grid is not None:
            return grid(**p.grid.model_dump(exclude_none=True))
        assert p.table is not None
        assert p.place is not None
        return places(
            str(self.folder / p.table),
            place=p.place,
            latitude=p.latitude,
            longitude=p.longitude,
            name=p.name,
            table=p.places_table,
        )

    def statistic(self) -> Statistic:
        """Return the question of a spec whose ``[query] kind`` is not visitors."""
        d, q = self.data, self.query
        assert d.table is not None
        table = records(
            self._paths(d.table), person=d.person, combine=q.combine, keep=d.keep or None, table=d.visits_table
        )
        if q.by is not None and len(q.by) != 1:
            raise SpecError("[query] by", "it names several columns", 'Name one: by = { income = ["low", "high"] }')
        by, groups = next(iter(q.by.items())) if q.by else (None, None)
        kind: Any = q.kind
        named = q.model_dump(include={"column", "lower", "upper", "step", "p", "people", "grid"})
        return statistic(table, kind, by=by, groups=groups, **named)

    def _paths(self, named: str | list[str]) -> str | list[str]:
        if isinstance(named, str):
            return str(self.folder / named)
        return [str(self.folder / path) for path in named]

    def queries(self) -> list[CountVisitors]:
        """Return one question a window."""
        private, public = self.visits(), self.public_places()
        return [
            count_visitors(
                private,
                public,
                start=span.start,
                end=span.end,
                places_per_person=self.protect.places_per_person,
                if_more=self.protect.if_more,
            )
            for span in self.spans
        ]

    def notion(self) -> Notion:
        """Return the privacy notion.

        Raises:
            SpecError: there is none of that name, or not for this kind of question.
        """
        name, epsilon, unit = self.protect.notion, self.protect.epsilon, self.protect.unit
        if self.query.kind == "visitors":
            if unit is not None:
                raise SpecError("[protect] unit", "visits have no size", "Leave it out")
            return _named(NOTIONS, name)(epsilon)
        return _number_notion(_named(NUMBER_NOTIONS, name), self.statistic(), epsilon, unit)

    def plans(self) -> list[Plan] | list[NumberPlan]:
        """Return one plan a window, or the plan of a statistic: what can be refused without data is refused here."""
        if self.query.kind != "visitors":
            return [plan_number(self.statistic(), self.notion())]
        return self.visitor_plans()

    def visitor_plans(self) -> list[Plan]:
        """Return one plan a window, for a spec about visitors.

        Raises:
            SpecError: it is about something else.
        """
        if self.query.kind != "visitors":
            raise SpecError(f'[query] kind = "{self.query.kind}"', "this is for visitors", "Use `leeward release`")
        notion = self.notion()
        return [
            plan(
                query,
                notion,
                safe_at_most=self.decide.safe_at_most,
                dangerous_at_least=self.decide.dangerous_at_least,
                error_at_most=self.decide.error_at_most,
                useful_from=self.decide.useful_from,
                what=self.publish.what,
                mechanism=self.publish.mechanism,
                stop_after=self.publish.stop_after,
            )
            for query in self.queries()
        ]

    def ledger(self) -> Budget:
        """Return where the price is charged; a relative SQLite path is relative to the spec file."""
        url, prefix = self.budget.ledger, "sqlite:///"
        if url.startswith(prefix) and not os.path.isabs(url.removeprefix(prefix)):
            url = prefix + str((self.folder / url.removeprefix(prefix)).resolve())
        return Budget(url, self.budget.dataset, self.budget.cap, self.budget.version)


_UNITS = {"min": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}
_MOST_WINDOWS = 10_000


def _cut(start: Moment, end: Moment, every: str) -> list[Span]:
    """Cut a span into windows of one length; the last may be shorter. Lengths are those of the clock that is written."""
    written = re.fullmatch(r"(\d+) *(min|h|d)", every.strip())
    if written is None or int(written[1]) == 0:
        raise SpecError(f'[window] every = "{every}"', "it is no length of time", 'Write it like "30min", "1h" or "1d"')
    whole = Window(moment("start", start), moment("end", end))
    length = int(written[1]) * _UNITS[written[2]]
    if (whole.end - whole.start) / length > _MOST_WINDOWS:
        raise SpecError(
            f'[window] every = "{every}"', f"it makes more than {_MOST_WINDOWS:,} windows", "Use longer ones"
        )
    spans, at = [], whole.start
    while at < whole.end:
        spans.append(Span(start=at, end=min(at + length, whole.end)))
        at += length
    return spans


def read_spec(path: str | os.PathLike[str]) -> Spec:
    """Read and check a spec file.

    Raises:
        SpecError: it is missing, is no TOML, or a key or value is not as described.
    """
    file = Path(path)
    try:
        given = tomllib.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        near = [p.name for p in file.parent.glob("*.toml")] if file.parent.is_dir() else []
        raise SpecError(f"The spec '{file}'", "there is no such file", nearest(file.name, near)) from None
    except (OSError, UnicodeDecodeError):
        raise SpecError(f"The spec '{file}'", "it cannot be read as text in UTF-8", "Check the path") from None
    except tomllib.TOMLDecodeError as error:
        raise SpecError(
            f"The spec '{file}'", f"it is not TOML ({error})", "Strings need quotes, sections [brackets]"
        ) from None
    return check_spec(given, folder=file.resolve().parent)


def check_spec(given: dict[str, Any], *, folder: str | os.PathLike[str] = ".") -> Spec:
    """Check a spec given as nested dicts, as TOML reads it.

    Raises:
        SpecError: a key or value is not as described; the message names the first such key.
    """
    if "folder" in given:
        raise SpecError("The key 'folder'", "it is not known", nearest("folder", _keys_at([])))
    try:
        return Spec.model_validate({**given, "folder": Path(folder)})
    except ValidationError as error:
        raise _taught(error) from None


def _taught(error: ValidationError) -> SpecError:
    # an unknown key usually also leaves a known one missing: say the unknown one, it is what was mistyped
    first = min(error.errors(), key=lambda e: e["type"] != "extra_forbidden")
    where = [str(part) for part in first["loc"]]
    key = where[-1] if where else ""
    section = f"[{where[0]}] " if len(where) > 1 else ""
    if first["type"] == "extra_forbidden":
        known = _keys_at(where[:-1])
        return SpecError(f"{section}{key}", "this key is not known", nearest(key, known))
    if first["type"] == "missing":
        return SpecError(f"{section}{key} is missing", "it is required", f"Add {_example(key)}")
    if first["type"] == "value_error":
        return SpecError(f"{section}{key}".strip() or "The spec", str(first["ctx"]["error"]), "")
    # pydantic also names the types it tried: the key is the last part of the path that is one
    key = next((part for place, part in reversed([*enumerate(where)]) if part in _keys_at(where[:place])), key)
    return SpecError(
        f"{section}{key}", first["msg"][0].lower() + first["msg"][1:], "See the guide for what the key means"
    )


def _keys_at(where: Iterable[str]) -> list[str]:
    model: type[BaseModel] = Spec
    for part in where:
        field = model.model_fields.get(part)
        if field is None:
            continue
        for candidate in (field.annotation, *getattr(field.annotation, "__args__", ())):
            for inner in (candidate, *getattr(candidate, "__args__", ())):
                if isinstance(inner, type) and issubclass(inner, BaseModel):
                    model = inner
    return [name for name in model.model_fields if name != "folder"]


def _example(key: str) -> str:
    examples = {
        "epsilon": 'epsilon = "1"',
        "notion": 'notion = "addition-only"',
        "safe_at_most": "safe_at_most = 2",
        "ledger": 'ledger = "sqlite:///budget.db"',
        "dataset": 'dataset = "a-public-name"',
        "visits": 'visits = "visits.parquet"',
        "table": 'table = "records.parquet"',
        "person": 'person = "the column that says who"',
        "time": 'time = "the column that says when"',
    }
    return examples.get(key, f"the section [{key}]" if key in Spec.model_fields else f"{key} = …")
