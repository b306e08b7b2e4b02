"""Parts of the data share a price only where a step cannot change more of them: by enumeration, with the wrong claims."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from tests.own_notions import After

from leeward.accounting import parallel, parts_touched
from leeward.accounting._units import contains, unit
from leeward.distance import Line
from leeward.errors import InputError, NotPrivateError
from leeward.exact import Real, exact, inf
from leeward.mechanism import FiniteMechanism, Geometric
from leeward.notion import (
    ABSENT,
    ADD_FACT,
    DROP_FACT,
    AdditionOnly,
    BoundedDP,
    Change,
    Notion,
    Presence,
    RemovalOnly,
    ReplaceDP,
    UnboundedDP,
    all_tables,
)
from leeward.notion._change import facts
from leeward.verification import verify

PLACES = "abc"


def released(tables: Any, costs: tuple[str, ...], two_sided: bool) -> FiniteMechanism:
    """One noisy count for each place, part i at its own multiple of ε = 1."""
    parts = [Geometric(Line(c if two_sided else inf, c)).on(range(3)) for c in costs]

    def counts(table: Any) -> tuple[int, ...]:
        return tuple(sum(place in (record or ()) for record in table) for place in PLACES)

    return FiniteMechanism.product(parts).pull_back(tables, counts)


def records(most: int) -> list[Any]:
    """Sets of at most so many places, and nobody."""
    return [ABSENT, *(frozenset(s) for n in range(most + 1) for s in itertools.combinations(PLACES, n))]


@pytest.mark.parametrize(
    ("notion", "two_sided", "most", "touched"),
    [
        (AdditionOnly, False, 1, 1),
        (AdditionOnly, False, 2, 2),
        (RemovalOnly, True, 2, 2),
        (UnboundedDP, True, 1, 1),
        (UnboundedDP, True, 2, 2),
        (Presence, False, 1, 1),
        (Presence, False, 2, 2),
        (ReplaceDP, True, 1, 2),
        (BoundedDP, True, 1, 2),
    ],
)
def test_parts_cut_by_place(notion: Any, two_sided: bool, most: int, touched: int) -> None:
    """The right number of parts holds exactly; one less does not."""
    costs = ("1", "2/3", "1/2")
    assert parts_touched(notion("1"), cut="records", parts_per_unit=most) == touched
    mechanism = released(all_tables(records(most), 1), costs, two_sided)
    price = parallel(costs, touched)
    assert verify(mechanism, notion(price)).tight
    assert not verify(mechanism, notion(price * exact("0.999")))
    if touched > 1:
        assert not verify(mechanism, notion(parallel(costs, touched - 1)))


def test_parts_cut_by_people_cost_the_maximum_whatever_the_steps() -> None:
    """The first person's data is in one part, the second's in the other, wherever they were."""
    tables = all_tables(records(1), 2)
    for notion in (ReplaceDP, UnboundedDP, Presence):
        assert parts_touched(notion("1"), cut="people", parts_per_unit=3) == 1
    one = [Geometric(Line(c, c)).on(range(2)) for c in ("1/2", "1")]
    mechanism = FiniteMechanism.product(one).pull_back(tables, lambda t: tuple(int("a" in (r or ())) for r in t))
    price = parallel(["1/2", "1"], 1)
    assert verify(mechanism, ReplaceDP(price)).tight
    assert not verify(mechanism, ReplaceDP(price * exact("0.999")))


def test_costs_add_where_nothing_bounds_the_parts() -> None:
    assert parallel(["1", "1/3", "1/2"], None) == exact("11/6")
    assert parallel(["1", "1/3", "1/2"], 2) == exact("3/2")
    assert parallel(["1", inf], 1) == inf
    assert parallel([], 1) == 0
    assert parallel(["1/2"], 1) == parallel(["0", "1/2"], None) == exact("1/2")  # a part may be free


@pytest.mark.parametrize("costs", [["-1"], ["-1/9", "1"], ["0", "-1", "2"]], ids=str)
def test_no_part_gives_anything_back(costs: list[str]) -> None:
    with pytest.raises(InputError, match="never given back"):
        parallel(costs, None)


def test_single_facts_touch_one_part() -> None:
    class Facts(Notion):
        """ε for each fact."""

        name, words, changes = Presence.name, Presence.words, (DROP_FACT, ADD_FACT)

        def record(self, before: Any, after: Any) -> Real:
            gone, new = facts(before) - facts(after), facts(after) - facts(before)
            return self.epsilon * (len(gone) + len(new))

        def cost(self, change: Change) -> Real:
            return self.epsilon if change in self.changes else inf

    assert parts_touched(Facts("1"), cut="records", parts_per_unit=7) == 1

    class Others(Facts):
        """Says that single facts are its steps, and protects whole records at the price of one."""

        def record(self, before: Any, after: Any) -> Real:
            return Presence(self.epsilon).record(before, after)

    with pytest.raises(NotPrivateError, match="no chain of its changes"):
        parts_touched(Others("1"), cut="records", parts_per_unit=7)


def test_a_step_of_everybody_touches_all_parts() -> None:
    class Everybody(After, notion=Presence):
        """A step may change everybody's record."""

        all_records = True

    assert parts_touched(Everybody("1"), cut="people", parts_per_unit=1) is None


def test_units_nest() -> None:
    assert contains("person", "event")
    assert contains("person-day", "person-day")
    assert not contains("person-day", "person")
    assert not contains("person-day", "person-place")
    assert unit("fact") == "event"


@pytest.mark.parametrize(
    "ask",
    [
        lambda: unit("household"),
        lambda: parts_touched(Presence("1"), cut="value", parts_per_unit=1),  # type: ignore[arg-type]
        lambda: parts_touched(Presence("1"), cut="records", parts_per_unit=0),
    ],
)
def test_what_is_not_known_is_refused(ask: Any) -> None:
    with pytest.raises(InputError):
        ask()
