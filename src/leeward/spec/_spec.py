# SPDX-License-Identifier: Apache-2.0
"""A whole spec: what its keys mean together, and the plans that follow from it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, cast, get_args

from pydantic import Field, model_validator

from leeward import planner
from leeward._paths import resolve
from leeward._plain import echo
from leeward._postgres import resolve_budget, resolve_table
from leeward._toml import Section, check, keys_at, read_toml
from leeward.errors import SpecError, nearest
from leeward.notion import Notion, ReplaceDP
from leeward.notion._named import NAMED
from leeward.planner._plan import Plan
from leeward.planner._selection_plan import AnyPlan
from leeward.query import (
    CountVisitors,
    Grid,
    Groups,
    Kind,
    Places,
    Selection,
    Source,
    Spark,
    Visits,
    Window,
    count_visitors,
    grid,
    moment,
    places,
    select,
    visits,
)
from leeward.query._ask_statistic import statistic
from leeward.query._records import Records, records
from leeward.query._selection import Which
from leeward.query._source import Engine, no_person
from leeward.query._statistic import Statistic
from leeward.query._unlisted_groups import AnyQuestion, UnlistedGroups, unlisted_groups
from leeward.session._budget import Budget
from leeward.spec._notions import GRADED, NUMBER_NOTIONS, named, number_notion
from leeward.spec._policies import POLICY_NOTIONS, not_derived, refuse_unused
from leeward.spec._sections import Account, Data, Decide, Protect, PublicPlaces, Publish, Query, Span, Windows
from leeward.spec._windows import cut

EXAMPLES = {
    "epsilon": 'epsilon = "1"',
    "notion": 'notion = "addition-only"',
    "safe_at_most": "safe_at_most = 2",
    "ledger": 'ledger = "sqlite:///budget.db"',
    "dataset": 'dataset = "a-public-name"',
    "visits": 'visits = "visits.parquet"',
    "table": 'table = "records.parquet"',
    "time": 'time = "the column that says when"',
}
"""How keys are written that a message says to add."""

_OF_VISITORS = {
    "data": {"visits", "place", "latitude", "longitude"},
    "protect": {"places_per_person", "if_more"},
}
_WRITTEN = {"delimiter", "encoding", "decimal"}
"""Keys that say how a table is written."""
_OF_A_TABLE = {"person", "keep", "time", "timezone"}
"""Keys that say what the columns of a private table are."""
_IN_TWO_WAYS = {"percentile", "median", "min", "max"}
"""Kinds of statistics that more than one mechanism can release."""
_COUNTS = {"count", "histogram"}
"""Kinds of statistics that count people by public groups."""
_OF_STATISTICS = {"data": {"table"}, "query": {*Query.model_fields} - {"kind", "accept_useless"}}
_OF_UNLISTED = {"query": {"most_groups"}, "protect": {"groups_per_person", "delta"}}
_NOT_OF_UNLISTED = {
    "data": _OF_VISITORS["data"],
    "query": {*Query.model_fields} - {"kind", "by", "most_groups", "accept_useless"},
    "protect": {"places_per_person"},
}


class Spec(Section):
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
        visitors, names = self.of_visits, self.names
        for key in ("visits", "person", "time") if visitors else ("table", "person"):
            if getattr(self.data, key) is None:
                raise ValueError(
                    str(no_person("[data] ")) if key == "person" else f"[data] {key} is missing. Add {EXAMPLES[key]}"
                )
        if visitors and self.places is None:
            raise ValueError("the section [places] is missing. Add it: the public list of places")
        if (self.window is not None and self.windows is not None) or (visitors and not self.windowed):
            raise ValueError("give the section [window], or a list windows = [{ start = …, end = … }, …]")
        if self.windows == []:
            raise ValueError("windows = [] lists none. Write windows = [{ start = …, end = … }, …]")
        if self.windowed and self.data.time is None:
            raise ValueError(f"[data] time is missing: [window] is about it. Add {EXAMPLES['time']}")
        when = [key for key in ("time", "timezone", "time_unit", "time_format") if getattr(self.data, key) is not None]
        if when and not self.windowed:
            raise ValueError(
                f"[data] {when[0]} means nothing without [window]. Give start and end there, or leave it out"
            )
        histogram, above = self.query.kind in _COUNTS, self.query.kind == "above"
        of_groups = histogram and bool({"decide", "publish"} & self.model_fields_set)
        if ((visitors and not names) or of_groups or above) and not self.decides:
            where = "place" if visitors else "level" if above else "group"
            raise ValueError(f"[decide] says nothing of any {where}. Give safe_at_most, dangerous_at_least or both")
        if self.query.kind == "count" and self.decides and not self.query.by:
            raise ValueError('[decide] says something of each public group. Name them: by = { ward = ["a", "b"] }')
        if "mechanism" in self.query.model_fields_set and self.query.kind not in _IN_TWO_WAYS:
            raise ValueError(f"[query] mechanism means nothing for {self._asked}: it is for percentiles. Leave it out")
        unused = {"decide", "publish"} if names else set[str]()
        unused |= set() if visitors else {"places"}
        unused |= set() if visitors or histogram or above else {"decide", "publish"}
        for section in sorted(self.model_fields_set & unused):
            raise ValueError(f"{self._asked} has no [{section}]. Leave it out")
        self._refuse_unmeant()
        return self

    def _refuse_unmeant(self) -> None:
        """Refuse keys that mean nothing for what is asked."""
        visitors, by = self.of_visits, self.query.by
        senseless = [_NOT_OF_UNLISTED if self.unlisted else _OF_STATISTICS if visitors else _OF_VISITORS]
        senseless += [] if self.unlisted else [_OF_UNLISTED]
        for section, keys in (pair for each in senseless for pair in each.items()):
            if given := sorted(getattr(self, section).model_fields_set & keys):
                asked = "where visitors are counted" if visitors else f"for {self._asked}"
                raise ValueError(f"[{section}] {given[0]} means nothing {asked}. Leave it out")
        if self.unlisted and not isinstance(by, str):
            raise ValueError('[query] by names the one column of the groups. Write by = "town", without a list')
        if not self.unlisted and isinstance(by, str):
            raise ValueError(
                f"[query] by = {echo(by)} says nothing of its groups, which are public. Write"
                f' by = {{ {echo(by)} = ["a", "b"] }}; or kind = "unlisted groups" where nobody knows them beforehand'
            )

    @property
    def names(self) -> bool:
        """Whether a name is asked for, and not numbers or decisions."""
        return self.query.kind in get_args(Which)

    @property
    def unlisted(self) -> bool:
        """Whether groups are asked for that nobody has listed."""
        return self.query.kind == "unlisted groups"

    @property
    def decides(self) -> bool:
        """Whether something is said to be safe or dangerous, or both."""
        return self.decide.safe_at_most is not None or self.decide.dangerous_at_least is not None

    @property
    def of_visits(self) -> bool:
        """Whether visitors are counted by place: of a name, where no table of records is given."""
        return self.query.kind == "visitors" or (self.names and self.data.table is None)

    @property
    def _asked(self) -> str:
        """What is asked, in words."""
        if self.unlisted:
            return "groups that are not listed"
        if not self.names:
            return f"a {self.query.kind}"
        return f"the {self.query.kind} {'place' if self.of_visits else 'group'}"

    @property
    def windowed(self) -> bool:
        """Whether it is about one window or several."""
        return self.window is not None or self.windows is not None

    @property
    def spans(self) -> list[Span]:
        """The windows asked for, in order; none where rows of all times count."""
        if self.windows is not None:
            return self.windows
        if self.window is None:
            return []
        if self.window.windows:
            return self.window.windows
        assert self.window.start is not None
        assert self.window.end is not None
        if self.window.every is not None:
            return cut(self.window.start, self.window.end, self.window.every, self.data.timezone)
        return [Span(start=self.window.start, end=self.window.end)]

    def visits(self) -> Visits:
        """Return the description of the private table."""
        assert self.data.visits is not None
        named = self.data.model_dump(include=_OF_A_TABLE | {"place", "latitude", "longitude"})
        return visits(self._source(self.data.visits), engine=self._engine, **named)

    def _source(self, table: str | list[str]) -> Source:
        """Return the private table, with what is said of how it is written."""
        written = self.data.model_dump(include={*_WRITTEN, "time_format", "time_unit"})
        return Source(resolve_table(table, self.folder), table=self.data.visits_table, **written)

    @property
    def _engine(self) -> Engine | Spark:
        if self.data.spark is None:
            return self.data.engine
        if self.data.engine != "spark":
            raise SpecError(
                "[data] spark", "it says how Spark is started, and Spark does not count", 'Give engine = "spark" too'
            )
        return Spark(self.data.spark)

    def public_places(self) -> Places | Grid:
        """Return the description of the public list."""
        p = self.places
        assert p is not None
        if p.grid is not None:
            return grid(**p.grid.model_dump(exclude_none=True))
        assert p.table is not None
        table = resolve_table(p.table, self.folder)
        source = Source(table, table=p.places_table, **p.model_dump(include=_WRITTEN))
        return places(source, **p.model_dump(include={"place", "latitude", "longitude", "name"}))

    def records(self) -> Records:
        """Return the description of the private table, where it is not one of visits."""
        assert self.data.table is not None
        named = self.data.model_dump(include=_OF_A_TABLE)
        return records(self._source(self.data.table), combine=self.query.combine, engine=self._engine, **named)

    def statistic(self, start: datetime | None = None, end: datetime | None = None) -> Statistic:
        """Return the question where it is not about visits: of a name, the counts that it is found by."""
        q = self.query
        name: Any = "histogram" if self.names else q.kind
        kind = Kind(name, **q.model_dump(include={"p", "people", "grid", "levels"}))
        lists: Any = q.by
        by = None if lists is None and q.others is None else Groups(lists or {}, q.others)
        of_number = q.model_dump(include={"column", "lower", "upper", "step"})
        return statistic(self.records(), kind, by=by, **of_number, start=start, end=end)

    def _groups(self, **window: Any) -> UnlistedGroups:
        """Return the question for groups that nobody has listed."""
        protect, by = self.protect, self.query.by
        assert isinstance(by, str)
        m: Any = {} if protect.groups_per_person is None else {"groups_per_person": protect.groups_per_person}
        m |= {"if_more": protect.if_more, "most_groups": self.query.most_groups}
        return unlisted_groups(self.records(), by, **m, **window)

    def _visitors(self, **window: Any) -> CountVisitors:
        """Return the question how many visitors there were."""
        if_more: Any = self.protect.if_more  # which refuses what is for groups alone
        k = self.protect.places_per_person
        return count_visitors(self.visits(), self.public_places(), places_per_person=k, if_more=if_more, **window)

    def counted(self) -> list[AnyQuestion]:
        """Return what an engine counts: one question a window, or the one where there is none."""
        ask: Callable[..., AnyQuestion]
        ask = self._visitors if self.of_visits else self._groups if self.unlisted else self.statistic
        windows = [{"start": moment("start", span.start), "end": moment("end", span.end)} for span in self.spans]
        first = ask(**windows[0] if windows else {})
        asked = [first, *(replace(first, window=Window(**ends)) for ends in windows[1:])]
        _refuse_twice([query.window for query in asked if query.window is not None])
        return asked

    def questions(self) -> Sequence[AnyQuestion | Selection]:
        """Return one question a window, or the one where there is none."""
        which: Any = self.query.kind
        return [select(cast(Any, each), which) for each in self.counted()] if self.names else self.counted()

    def notion(self) -> Notion:
        """Return the privacy notion.

        Raises:
            SpecError: no notion has that name, or not for this kind of question.
        """
        name, unit = self.protect.notion, self.protect.unit
        refuse_unused(self.protect)
        if self.unlisted:
            return self._notion_of_unlisted()
        if name in POLICY_NOTIONS:
            return self._policies()
        if self.of_visits:
            if unit is not None:
                raise SpecError("[protect] unit", "visits have no size", "Leave it out")
            if name in GRADED:
                return GRADED[name](*self.protect.two_rates())
            return named(NAMED, name)(self.protect.one_rate())
        named(NUMBER_NOTIONS, name)  # before its price is asked for, which of one that is not known may be two
        return number_notion(name, self.statistic(), self.protect.one_rate(), unit)

    def _notion_of_unlisted(self) -> Notion:
        """Return a notion whose steps are of one person at one ε; the others are refused."""
        protect, name = self.protect, self.protect.notion
        if name in {*POLICY_NOTIONS, *GRADED, *NUMBER_NOTIONS} - {*NAMED, "hamming"}:
            raise SpecError(
                f'[protect] notion = "{name}" for groups that are not listed',
                "what it costs that a group is shown, and how often it must not be, is derived for steps that withdraw,"
                " insert or replace one person, all at one ε",
                "List the groups; or use addition-only, removal-only, dp, bounded-dp or add-remove-replace-dp",
            )
        if protect.unit is not None:
            raise SpecError("[protect] unit", "groups have no size", "Leave it out")
        return named({**NAMED, "hamming": ReplaceDP}, name)(protect.one_rate())

    def _policies(self) -> Notion:
        """Return a notion of policies, where noise is derived from them: for counts of groups of rows."""
        rates = self.protect.one_rate()
        if (
            not (self.query.kind in _COUNTS or (self.names and not self.of_visits))
            or self.query.by is None
            or self.query.column is not None
        ):
            raise not_derived(self.protect, self.query.kind)
        asked = cast(Statistic, self.counted()[0])
        if not asked.of_rows:
            raise SpecError(
                f'[protect] notion = "{self.protect.notion}" with person = "{self.data.person}"',
                "a policy is about one row, and whoever has several would have several records",
                'Write person = "each row" where everybody has one row, or use notion = "bounded-dp"',
            )
        return POLICY_NOTIONS[self.protect.notion](self.protect, asked, rates)

    def asking(self) -> dict[str, Any]:
        """Return what `leeward.plan` and `leeward.compare` take beside a question and a notion."""
        if self.decides:
            return {"decide": planner.Decide(**self.decide.model_dump()), **self.publish.model_dump()}
        return {"mechanism": self.query.mechanism, "delta": self.protect.delta}

    def plans(self) -> list[AnyPlan]:
        """Return one plan a window, or the one where there is none: what can be refused without data is refused here."""
        notion, asking, made = self.notion(), self.asking(), cast(Callable[..., AnyPlan], planner.plan)
        return [made(query, notion, **asking) for query in self.questions()]

    def visitor_plans(self) -> list[Plan]:
        """Return one plan a window, for a spec about visitors.

        Raises:
            SpecError: it is about something else.
        """
        if self.query.kind != "visitors":
            raise SpecError(f'[query] kind = "{self.query.kind}"', "this is for visitors", "Use `leeward release`")
        return cast(list[Plan], self.plans())

    def ledger(self) -> Budget:
        """Return where the price is charged."""
        b = self.budget
        ledger = resolve_budget(b.ledger, self.folder)
        return Budget(ledger, b.dataset, b.cap, b.version, b.notion, cap_delta=b.cap_delta)


def _refuse_twice(windows: Sequence[Window]) -> None:
    """Refuse a list of windows that has one twice, however it is written."""
    asked = [tuple(window.public().values()) for window in windows]
    if twice := [window for window in asked if asked.count(window) > 1] if len(set(asked)) < len(asked) else []:
        start, end = twice[0]
        raise SpecError(f"The window from {start} to {end}", "it is listed twice", "List each window once")


def read_spec(path: str | os.PathLike[str]) -> Spec:
    """Read and check a spec file.

    Raises:
        SpecError: it is missing, is not TOML, or a key or value is not as described.
    """
    given, folder = read_toml(path)
    return check_spec(given, folder=folder)


def check_spec(given: dict[str, Any], *, folder: str | os.PathLike[str] = ".") -> Spec:
    """Check a spec given as nested dicts, as TOML reads it.

    Raises:
        SpecError: a key or value is not as described; the message names the first such key.
    """
    if isinstance(given.get("query"), list):
        raise SpecError(
            "[[query]]", "this takes a spec of one question", "Write one [query], or ask several with `leeward release`"
        )
    if "folder" in given:
        raise SpecError("The key 'folder'", "it is not known", nearest("folder", keys_at(Spec, [])))
    return check(Spec, {**given, "folder": resolve(folder)}, EXAMPLES)
