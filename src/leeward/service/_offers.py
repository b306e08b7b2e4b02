# SPDX-License-Identifier: Apache-2.0
"""The curator's configuration: which data sets there are, and what may be asked of each. What is not listed may not."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field

from leeward._paths import resolve, resolve_source
from leeward._plain import echo
from leeward._toml import ExactText, Section, check, read_toml
from leeward.errors import SpecError, nearest
from leeward.exact._real import exact
from leeward.notion._named import NAMED
from leeward.query._ask_statistic import KindName
from leeward.query._selection import Which
from leeward.query._source import EACH_ROW
from leeward.service._brokers import Brokered, Perturbing, read_perturbing
from leeward.service._tokens import NAME, Tokens
from leeward.session._budget import Budget
from leeward.spec import Spec, check_spec
from leeward.spec._notions import GRADED, NUMBER_NOTIONS
from leeward.spec._sections import Account, Data, PublicPlaces

Asks = Literal["visitors", KindName, Which]
"""Kinds of questions that can be offered. Of groups that nobody has listed the length of an answer is drawn as well."""

_NOTIONS: Final = {**NAMED, **GRADED, **NUMBER_NOTIONS}

EXAMPLES: Final = {
    "tokens": 'tokens = "tokens.json"',
    "data_sets": "[data_sets.NAME]",
    "spec": 'spec = "town.toml"',
    "brokers": 'brokers = ["acme"]',
    "kinds": 'kinds = ["visitors"]',
    "notions": 'notions = ["addition-only"]',
    "most_epsilon": 'most_epsilon = "1"',
}
"""How keys are written that a message says to add."""


class Offer(Section):
    """``[data_sets.NAME]``: where the data are described, and what may be asked of them.

    Attributes:
        spec: a file of TOML with ``[data]``, ``[places]`` where there are places, and ``[budget]``; it may be a whole spec.
        about: what analysts are told of it.
        kinds: which kinds of questions.
        notions: under which notions.
        most_epsilon: the most that one release may cost, in units of the budget.
        columns: the columns of numbers that may be asked about.
        groups: the columns by which people may be split or filtered, each with its public values.
    """

    spec: str
    about: str = ""
    kinds: list[Asks] = Field(min_length=1)
    notions: list[str] = Field(min_length=1)
    most_epsilon: ExactText
    columns: list[str] = Field(default_factory=list)
    groups: dict[str, list[str | int | bool]] = Field(default_factory=dict)


class Configuration(Section):
    """The whole file. `read_offers` reads it.

    Attributes:
        tokens: the file of the tokens.
        hosts: names by which a proxy passes requests on, beside the address of the service itself.
        seconds: new answers are given at whole multiples of so many seconds.
        data_sets: by the name under which they are asked.
        perturb: by the name under which brokers send positions.
    """

    tokens: str
    hosts: list[str] = Field(default_factory=list)
    seconds: int = Field(default=2, ge=1, le=600)
    data_sets: dict[str, Offer] = Field(default_factory=dict)
    perturb: dict[str, Brokered] = Field(default_factory=dict)


class _Parts(Section):
    """What is taken of the spec of a data set."""

    data: Data
    places: PublicPlaces | None = None
    budget: Account


@dataclass(frozen=True)
class DataSet:
    """One data set, as it is offered.

    Attributes:
        name: under which it is asked.
        offer: what may be asked of it.
        most: the most that one release may cost.
        parts: what the curator says of it: sections of a spec.
        folder: what paths in them are relative to.
    """

    name: str
    offer: Offer
    most: Fraction
    parts: Mapping[str, Mapping[str, Any]] = field(repr=False)
    folder: Path

    def spec(self, asked: Mapping[str, Any]) -> Spec:
        """Return the spec of a question: what the curator says, and what is asked.

        Raises:
            SpecError: a section is missing, or a key or value is not as described.
        """
        said = {**self.parts, **asked}
        query = asked.get("query")
        if "table" in self.parts["data"] and not (isinstance(query, Mapping) and _reads_numbers(query)):
            # how numbers are written is said of the table, and refused where a question reads none
            said["data"] = {key: value for key, value in said["data"].items() if key != "decimal"}
        return check_spec(said, folder=self.folder)

    def budget(self) -> Budget:
        """Return where its prices are charged."""
        return next(iter(self.probes())).ledger()

    def table(self) -> tuple[Any, ...]:
        """Return which table its spec names, by an absolute path, and how its texts are read, which no question says."""
        data = self.parts["data"]
        return resolve_source(data.get("visits", data.get("table")), self.folder), *map(data.get, _READ_BY)

    def probes(self) -> Iterator[Spec]:
        """Yield questions that read, between them, every column that may be asked about; none of them is ever answered."""
        window: dict[str, Any] = {"start": "2000-01-01T00:00", "end": "2000-01-01T01:00"}
        asked: dict[str, Any] = {"protect": {"notion": "dp", "epsilon": "1"}}
        asked |= {"window": window} if "time" in self.parts["data"] else {}
        if "visits" in self.parts["data"]:
            bound = {"places_per_person": 1, "if_more": "latest"}
            places = {"decide": {"safe_at_most": 1, "error_at_most": "0.01"}, "protect": asked["protect"] | bound}
            data = {"data": {**self.parts["data"], "keep": self._filters()}}
            yield self.spec({**asked, **places, **data})
            return
        kept = {"data": {**self.parts["data"], "keep": self._filters()}}
        combine = {} if self.parts["data"].get("person") == EACH_ROW else {"combine": "min"}
        yield self.spec({**asked, **kept, "query": {"kind": "count", **combine}})
        for column in self.offer.columns:
            query = {"kind": "sum", "column": column, "lower": 0, "upper": 1, **combine}
            yield self.spec({**asked, "query": query})

    def _filters(self) -> dict[str, Any]:
        return {**self.offer.groups, **self.parts["data"].get("keep", {})}


_READ_BY: Final = ("visits_table", "delimiter", "encoding", "decimal", "time_format")
"""Keys of ``[data]`` that say how a table is read, and are no part of a question."""


@dataclass(frozen=True)
class Offers:
    """What a curator offers.

    Attributes:
        tokens: who may ask.
        hosts: see `Configuration`.
        seconds: see `Configuration`.
        data_sets: by their names.
        perturb: by their names.
    """

    tokens: Tokens
    hosts: tuple[str, ...]
    seconds: int
    data_sets: Mapping[str, DataSet]
    perturb: Mapping[str, Perturbing]

    def of_broker(self, name: str) -> list[Perturbing]:
        """Return what a token of this name may send positions to."""
        return [each for each in self.perturb.values() if name in each.brokers]


def _reads_numbers(query: Mapping[str, Any]) -> bool:
    """Whether a question reads a column of numbers: its own, or one that is cut into intervals."""
    by = query.get("by")
    return "column" in query or (isinstance(by, Mapping) and any(isinstance(cut, Mapping) for cut in by.values()))


def read_offers(path: str | os.PathLike[str]) -> Offers:
    """Read a configuration; paths in it are relative to it.

    Raises:
        SpecError: it, or the spec of a data set, is missing, is not TOML, or a key or value is not as described.
    """
    given, folder = read_toml(path)
    found = check(Configuration, given, EXAMPLES)
    if not (found.data_sets or found.perturb):
        raise SpecError(
            "Nothing is offered", "there is no data set, and nothing to be perturbed", "Add [data_sets.NAME]"
        )
    sets = {name: _data_set(name, offer, folder) for name, offer in found.data_sets.items()}
    _refuse_one_label(sets.values())
    for host in found.hosts:
        if not host or not host.isascii() or not host.isprintable() or set(host) & set("/ @,\\"):
            raise SpecError(f"hosts: {echo(host)}", "it is not the name of a host", 'Write, say, "data.example.org"')
    perturb = {name: read_perturbing(name, offer, folder) for name, offer in found.perturb.items()}
    return Offers(Tokens(resolve(found.tokens, folder)), tuple(found.hosts), found.seconds, sets, perturb)


def _refuse_one_label(sets: Iterable[DataSet]) -> None:
    """Refuse two tables under one label of one budget: what is stored of one would be given as the answer of the other."""
    known = dict[tuple[str, str, str], tuple[str, tuple[Any, ...]]]()
    for one in sets:
        budget, table = one.budget(), one.table()
        label = str(budget.ledger), budget.dataset, budget.version
        other, same = known.setdefault(label, (one.name, table))
        if same != table:
            raise SpecError(
                f"[data_sets.{other}] and [data_sets.{one.name}]",
                f"they are of two tables, or read one in two ways, and both are charged as '{budget.dataset}' with version"
                f" '{budget.version}': an answer about one would be given about the other",
                "Give each table a dataset of its own in [budget]",
            )


def _data_set(name: str, offer: Offer, folder: Path) -> DataSet:
    where = f"[data_sets.{name}]"
    if NAME.fullmatch(name) is None:
        raise SpecError(
            f"The data set {echo(name)}", "it is not up to 60 letters, digits, dots, _ and -", "Give it such a name"
        )
    for notion in offer.notions:
        if notion not in _NOTIONS:
            raise SpecError(f"{where} notions: {echo(notion)}", "it cannot be offered", nearest(notion, _NOTIONS))
    most = exact(offer.most_epsilon).rational
    if most is None or most <= 0:
        raise SpecError(f"{where} most_epsilon = {echo(offer.most_epsilon)}", "it is not above 0", 'Write, say, "1"')
    given, base = read_toml(resolve(offer.spec, folder))
    parts = {section: keys for section, keys in given.items() if section in _Parts.model_fields}
    checked = check(_Parts, parts, {"data": "[data]", "budget": "[budget]"})
    if checked.budget.notion is None:
        raise SpecError(
            f"{where}: [budget] notion is missing in '{offer.spec}'",
            "else the first question that anybody asks decides what the budget is counted in",
            'Add, say, notion = "dp"',
        )
    made = DataSet(name, offer, most, parts, base)
    for probe in made.probes():
        probe.plans()
    return made
