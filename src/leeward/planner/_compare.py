# SPDX-License-Identifier: Apache-2.0
"""Before anything is spent: every notion and every mechanism that could answer a question, side by side.

`compare` makes each row with `leeward.plan`, the function that `leeward.release` carries out, so what is shown here is what
a release then does. The recommendation keeps what the notion asked for protects; what would give some of that up is listed,
and the listing says what.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Rational
from typing import Any, Generic

from leeward._displayed import Displayed, Drawn
from leeward._plain import echo
from leeward._taught import taught
from leeward.accounting._budget_notion import budget_notion
from leeward.errors import InputError, NoiseError, NotPrivateError, RefusedError
from leeward.exact._real import Exact, Real, inf, plainly, whole
from leeward.mechanism import Geometric, NormMechanism, SubsampledCount
from leeward.mechanism._threshold_rule import CountNoise, chance_given
from leeward.noise import DirectedGeometric
from leeward.notion import Notion, UnboundedDP
from leeward.planner._decisions import can_be_wrong, decisions
from leeward.planner._everyone import admits, unbounded
from leeward.planner._expected import Counts, check_counts
from leeward.planner._option import Option, errors_of, with_counts
from leeward.planner._plan import Deciding, Plan, Planned, moved, only_falls, plan_decisions
from leeward.planner._plan_of import Asked as Question
from leeward.planner._row import AnyRow, Rows, at_epsilon, notions_beside, with_prices
from leeward.planner._useless import refuse_useless
from leeward.query import CountVisitors
from leeward.query._selection import Counted
from leeward.query._sensitivity import sensitivity_each
from leeward.query._statistic import Statistic

MOST_NORM_PLACES = 16
"""Norm noise grows with the number of places; beyond so many it is not listed."""


_MOST_RELEASES = 10**12
"""More than anybody makes; and totals of more would have no floating-point number."""


@taught
@dataclass(frozen=True)
class Scenario:
    """What is known or assumed beside a question when its answers are compared; a release takes none of it.

    Attributes:
        places: how many places the public list has; None if that is not known.
        counts: how many places hold how many people, ``{0: 4101, 1: 214}``: public or assumed, never from the data.
        releases: how many releases like this one are planned in all: what is left of the budget must pay for them.
        delta: δ at which their total is given; and that of the rows that need one, where none is given.
        assumed_error: α for notions that can be wrong, where ``error_at_most`` is not given.
        counted_in: what the budget is counted in, such as ``presence/person``; by default the notion asked for.
        left: what is left of the budget, in ε of that; None if that is not known.
        answered: how many of the releases, as written, have a stored answer already, which costs nothing.
        left_delta: what is left of its δ; None if that is not known.
        accept_useless: whether what is asked for is wanted even if it would say next to nothing.

    Raises:
        InexactError: for a float δ or α.
        InputError: one of them is malformed.
    """

    places: int | None = None
    counts: Counts | None = None
    releases: int = 1
    delta: Exact = "1e-6"
    assumed_error: Exact = "0.001"
    counted_in: str | None = None
    left: Fraction | None = None
    answered: int = 0
    left_delta: Fraction | None = None
    accept_useless: bool = False

    def __post_init__(self) -> None:
        plain = {
            "places": None if self.places is None else whole(self.places, "places"),
            "counts": None if self.counts is None else check_counts(self.counts),
            "releases": whole(self.releases, "releases"),
            "left": plainly(self.left),
            "left_delta": plainly(self.left_delta),
            "answered": whole(self.answered, "answered", 0),
        }
        if self.releases > _MOST_RELEASES:
            raise InputError("More than a trillion releases", "their total is beyond what is shown", "Give fewer")
        chance_given(self.delta, "delta", or_zero=True)
        chance_given(self.assumed_error, "assumed_error")
        if not isinstance(self.counted_in, str | None):
            raise InputError(
                f"counted_in = {echo(self.counted_in)}",
                "it names what a budget is counted in",
                'Give "presence/person"',
            )
        if not isinstance(self.accept_useless, bool):
            raise InputError(
                f"accept_useless = {echo(self.accept_useless)}", "it is yes or no", "Give True, or leave it out"
            )
        for name, left in (("left", self.left), ("left_delta", self.left_delta)):
            if left is not None and (not isinstance(left, Rational) or left < 0):
                raise InputError(
                    f"{name} = {echo(left)}",
                    "it is not an amount of a budget",
                    "Give a Fraction of at least 0, or None",
                )
        for name, value in plain.items():
            object.__setattr__(self, name, value)

    @property
    def size(self) -> int:
        """How many places expectations are about: those of the counts, else of the list, else 1."""
        return sum(self.counts.values()) if self.counts else self.places or 1


@dataclass(frozen=True)
class Ways(Displayed, Rows[AnyRow], Generic[Question, AnyRow]):
    """A comparison of ways to answer a question of which nothing is decided: every row, and what was asked.

    Attributes:
        query: the question.
        notion: the notion asked for.
        scenario: what is known or assumed beside them.
        options: the rows, that which `leeward.release` carries out first.
        refusal: why it refuses what was asked; empty if it does not.
    """

    query: Question
    notion: Notion
    scenario: Scenario
    options: tuple[AnyRow, ...]
    refusal: str

    @property
    def counted_in(self) -> str:
        """What the budget is counted in, as a ledger writes it."""
        return self.scenario.counted_in or budget_notion(self.notion, rows=self.query.of_rows)


@dataclass(frozen=True)
class Asked(Deciding):
    """What is to be decided, and by which plan as written: the arguments of `leeward.compare`.

    Attributes:
        query: the question.
        notion: the notion asked for.
        scenario: what is known or assumed beside them.
    """

    query: Counted
    notion: Notion
    scenario: Scenario

    @property
    def leaves_out(self) -> bool:
        """Whether the bound leaves people out where *safe* is asked for, so that it matters whom that is about."""
        return self.query.truncates and self.safe_at_most is not None

    @property
    def of_everyone(self) -> bool:
        """Whether *safe* is to be about everyone who was there although the bound leaves some of them out."""
        return self.leaves_out and self.about == "everyone"

    @property
    def counted_in(self) -> str:
        """What the budget is counted in, as a ledger writes it."""
        return self.scenario.counted_in or budget_notion(self.notion, rows=self.query.of_rows)

    @property
    def epsilon(self) -> Real:
        """The ε at which notions are compared: that of the notion asked for; of a graded one, its price of presence."""
        return at_epsilon(self.notion)

    def plan(self, notion: Notion, **changes: Any) -> Plan:
        """Return the plan under a notion, as written but for some arguments, for a list as long as is known."""
        changed = replace(self, **changes)
        return plan_decisions(changed.query, notion, changed).listing(self.scenario.places)


@dataclass(frozen=True)
class Comparison(Drawn, Rows[Option]):
    """Every row, and what was asked. `leeward.planner._recommend` chooses among them.

    Attributes:
        asked: what was asked.
        options: every notion and mechanism, the one asked for first; refused ones are there with their reasons.
        as_written: what `leeward.release` would do as asked; None if it refuses.
        refusal: then why.
    """

    asked: Asked
    options: tuple[Option, ...]
    as_written: Plan | None
    refusal: str
    usual = "geometric"

    def __str__(self) -> str:
        return "\n".join(map(str, self.options))


def compare_decisions(query: Counted, notion: Notion, how: Deciding, scenario: Scenario) -> Comparison:
    """Compare all notions and mechanisms for decisions about places, or groups; see `leeward.compare`."""
    if isinstance(query, Statistic):
        scenario = replace(scenario, places=query.cells)
        if query.levels and scenario.counts is not None:
            raise InputError(
                "counts for levels",
                "how many are above each level hangs together, and they are asked from the highest down, not in any order",
                "Leave counts out",
            )
    asked = Asked(query=query, notion=notion, scenario=scenario, **vars(how))
    as_written, refusal = _as_written(asked)
    options = tuple(_finished(option, asked) for option in _options(asked, as_written))
    return Comparison(asked, options, as_written, refusal)


def _as_written(asked: Asked) -> tuple[Plan | None, str]:
    try:
        made = asked.plan(asked.notion)
        if not asked.scenario.accept_useless:
            refuse_useless(made, made.places)
    except RefusedError as refused:
        return None, str(refused)
    return made, ""


def _options(asked: Asked, as_written: Plan | None) -> Iterator[Option]:
    if as_written is not None:
        yield _of(as_written)
    done = None if as_written is None else _of(as_written).mechanism
    for notion in notions_beside(asked.notion, visitors=isinstance(asked.query, CountVisitors)):
        own = notion == asked.notion
        if asked.query.most_counts is not None and not (own and done == "geometric"):
            yield _planned(asked, notion, "geometric")
        if asked.leaves_out and admits(asked.query, notion) and not (own and done == "everyone"):
            yield _planned(asked, notion, "everyone")
        for stopping in _stopping(asked, notion):
            if not (own and done == stopping):
                yield _planned(asked, notion, stopping)
        yield from _norm(asked, notion)
        if isinstance(notion, UnboundedDP) and asked.query.most_counts is not None and asked.query.noun != "level":
            yield _subsampled(asked, notion)


def _stopping(asked: Asked, notion: Notion) -> tuple[Planned, ...]:
    """Return the mechanisms that stop, where there is a row of theirs.

    The adaptive one is listed where it may win: where counts may show that there are crowds. If nobody were anywhere it
    would call fewer places safe than the sanitized one, because each look publishes some of them.
    """
    only_safe = asked.safe_at_most is not None and asked.dangerous_at_least is None
    if not only_safe or not only_falls(_all_places(asked), notion):
        return ()
    listed = asked.mechanism == "adaptive" or asked.scenario.counts is not None
    return ("sanitized", "adaptive") if listed else ("sanitized",)


def _all_places(asked: Asked) -> Counted:
    """Return what mechanisms that stop are asked of everyone: they need no bound, and without one nobody is left out."""
    query = asked.query
    return unbounded(query) if asked.of_everyone and isinstance(query, CountVisitors) else query


def _of(made: Plan) -> Option:
    noise = made.mechanism
    return Option(noise.name, made, made.decisions, noise.law, notion=made.notion, price=made.price)


def _planned(asked: Asked, notion: Notion, mechanism: Planned) -> Option:
    price = notion.epsilon
    changes: dict[str, Any] = {"mechanism": mechanism, "stop_after": asked.stop_after or 1, "query": _all_places(asked)}
    try:
        alpha = None
        if mechanism in ("geometric", "everyone"):
            alpha = _alpha(asked, Geometric(moved(Geometric, notion, asked.query).line).law)
            changes = {"mechanism": "geometric", "stop_after": None}
        if asked.leaves_out:
            of_all = mechanism == "everyone" or (asked.of_everyone and mechanism != "geometric")
            changes |= {"about": "everyone" if of_all else "counted"}
            changes |= {"left_out": asked.left_out if mechanism == "everyone" else 0}
        made = asked.plan(notion, error_at_most=alpha, **changes)
    except (RefusedError, NoiseError) as refused:  # the noise of one row is no reason to show none
        return Option(mechanism, notion=notion, price=price, refused=str(refused))
    return _of(made)


def _alpha(asked: Asked, law: CountNoise) -> Exact | None:
    """Return the error that is granted, or assumed, where under this noise what is decided can be wrong."""
    can_err = can_be_wrong(law, safe=asked.safe_at_most is not None, dangerous=asked.dangerous_at_least is not None)
    return (asked.error_at_most or asked.scenario.assumed_error) if can_err else None


def _norm(asked: Asked, notion: Notion) -> Iterator[Option]:
    """Norm noise: for the notions under which one person moves every count by at most 1, all the same way."""
    size, alone = asked.scenario.places, asked.query.most_counts == 1
    if size is None or alone or asked.query.noun == "level" or not 2 <= size <= MOST_NORM_PLACES:
        return
    try:
        line = sensitivity_each(notion, asked.query).line
    except NotPrivateError:
        return
    if line.fall != notion.epsilon or line.rise not in (inf, line.fall):
        return
    try:
        law = NormMechanism(line, size).noise.marginal()
    except NoiseError as refused:
        yield Option("norm", notion=notion, price=notion.epsilon, refused=str(refused))
        return
    decided = decisions(
        law,
        safe_at_most=asked.safe_at_most,
        dangerous_at_least=asked.dangerous_at_least,
        error_at_most=_alpha(asked, law),
    )
    note = (
        f"One noise for all {size} places together, whose size grows with their number and not with how many of them one"
        " person visits. `leeward release` does not draw it; leeward.mechanism.NormMechanism does"
    )
    yield Option("norm", notion=notion, price=notion.epsilon, decisions=decided, law=law, note=note)


SUBSAMPLED = (
    "Never recommended for one count: it can be computed from the two-sided geometric answer (clamped at 0 and thinned), so"
    " it never says more than that one"
)
"""Why the subsampled count of *One-Sided Differential Privacy*, equation (3), is not recommended for a scalar count."""


def _subsampled(asked: Asked, notion: Notion) -> Option:
    k = asked.query.most_counts or 1
    rate = notion.epsilon / k
    try:
        count = SubsampledCount(notion.epsilon, places_per_person=k)
        usual = DirectedGeometric(rate, rate).variance()
    except NoiseError as refused:
        return Option("subsampled count", notion=notion, price=notion.epsilon, refused=str(refused))
    deviations = ", ".join(f"{float(count.variance(c)) ** 0.5:.3g}" for c in (0, 1, 10))
    spread = (
        f"Standard deviation at 0, 1 and 10 {asked.query.many}: {deviations}; two-sided: {float(usual) ** 0.5:.3g}"
        " everywhere"
    )
    if k == 1:
        return Option("subsampled count", notion=notion, price=notion.epsilon, note=f"{SUBSAMPLED}. {spread}")
    equal = float((usual - count.variance(0)) / (count.variance(1) - count.variance(0)))
    better = f"its variance is the smaller one for counts below {equal:.3g}" if equal > 0 else "its variance is larger"
    note = (
        f"One coin a person and upward noise, for {k} places a person: {better}, and it is made for counts, not for 'safe'."
        f" {spread}. `leeward release` does not draw it; leeward.mechanism.SubsampledCount does"
    )
    return Option("subsampled count", notion=notion, price=notion.epsilon, note=note)


def _finished(option: Option, asked: Asked) -> Option:
    """Add the prices in the budget's notion and in the notion asked for, and what counts make of it."""
    expected, remapped = with_counts(option, asked.scenario.counts)
    errors = errors_of(option, asked.scenario.counts)
    option = with_prices(option, asked.notion, asked.counted_in, rows=asked.query.of_rows)
    return replace(option, expected=expected, errors=errors, remapped=remapped)
