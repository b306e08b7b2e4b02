"""What a release of groups that nobody has listed publishes, enumerated over all tiny tables and ordered neighbours.

Each table is read and counted by the engine, the plan draws from these counts, once for each noise that there is, and what
it stores is what the answers are read from: everything but the sampler. The noise itself is the oracle's, in Fractions, and
so are neighbours and the search for the worst set of answers. An answer is the published table as it stands: which groups
are in it, in which order, with which counts.

So a false promise is found: the broken variants below, each of them, break their δ.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from tests.ledger.single import peek
from tests.oracle import unknown_keys as oracle

import leeward as lw
from leeward.engine import open_data, read_keys
from leeward.exact import log
from leeward.noise import Bits, SystemBits
from leeward.notion import AdditionOnly, BoundedDP, Notion, RemovalOnly, ReplaceDP, UnboundedDP
from leeward.planner import UnlistedPlan, _unlisted_plan
from leeward.query import UnlistedGroups

PEOPLE = 3
NOTIONS: dict[str, tuple[type[Notion], str, int]] = {
    "addition-only": (AdditionOnly, "up", 1),
    "removal-only": (RemovalOnly, "down", 1),
    "dp": (UnboundedDP, "both", 1),
    "bounded-dp": (BoundedDP, "both", 2),
    "add-remove-replace-dp": (ReplaceDP, "both", 2),
}
"""The notion, which way its noise goes, and how many counts a step changes for each group of a person."""

SMALL: list[tuple[str, int, int]] = [
    ("addition-only", 1, 1), ("addition-only", 1, 2), ("addition-only", 2, 1),
    ("removal-only", 1, 0), ("removal-only", 2, 0),
    ("dp", 1, 1), ("dp", 2, 1), ("bounded-dp", 1, 1), ("add-remove-replace-dp", 1, 1),
]  # fmt: skip
"""A notion, in how many groups a person counts, and how far noise reaches."""

Table = tuple[frozenset[str], ...]
Answer = tuple[tuple[str, int], ...]
Rows = tuple[tuple[str, str], ...]


def rows(table: Table) -> Rows:
    """One row for each person and group, the last person first; within a person the last group first."""
    return tuple((f"p{who}", key) for who, keys in reversed([*enumerate(table)]) for key in sorted(keys, reverse=True))


def asked(table: Rows, m: int, most: int) -> UnlistedGroups:
    source = pa.table({"user": [who for who, _ in table], "town": [key for _, key in table]}, pa_schema())
    return lw.unlisted_groups(
        lw.records(source, person="user"), "town", groups_per_person=m, if_more="first", most_groups=most
    )


def pa_schema() -> pa.Schema:
    return pa.schema([("user", pa.string()), ("town", pa.string())])


@functools.cache
def counted(table: Rows, m: int) -> NDArray[np.int64]:
    """What the engine counts."""
    query = asked(table, m, 1)
    with open_data(query, read_keys(query)) as opened:
        found: NDArray[np.int64] = opened.exactly(query, "groups").counts
    return found


def noise_of(kind: str, reach: int) -> dict[int, Fraction]:
    if kind != "down":
        return oracle.law(kind, reach)
    # no count is above PEOPLE: whatever takes more away hides alike
    return {-k: Fraction(1, 2 ** (k + 1)) for k in range(PEOPLE + 1)} | {-PEOPLE - 1: Fraction(1, 2 ** (PEOPLE + 1))}


class Given:
    """A law that draws what it is given."""

    def __init__(self, noise: tuple[int, ...]) -> None:
        self.noise = noise

    def sample(self, size: int, bits: Bits) -> NDArray[np.int64]:
        assert size == len(self.noise)
        return np.array(self.noise, np.int64)


Draw = Callable[[UnlistedPlan, NDArray[np.int64], Rows], NDArray[np.int64]]


def as_it_is(plan: UnlistedPlan, exactly: NDArray[np.int64], table: Rows) -> NDArray[np.int64]:
    return plan.draw(exactly, SystemBits())


def published(
    table: Table, plan_of: Callable[[UnlistedGroups], UnlistedPlan], noise: Any, m: int, most: int, draw: Draw
) -> dict[Answer, Fraction]:
    """All that may be published of a table, and how likely it is."""
    held, found = rows(table), dict[Answer, Fraction]()
    exactly = counted(held, m)
    plan = plan_of(asked(held, m, most))
    for drawn in itertools.product(noise, repeat=len(exactly) - 1):
        plan.mechanism.law = Given(drawn)  # type: ignore[assignment]
        stored = draw(plan, exactly.copy(), held)
        assert stored.shape == (1 + most * exactly.shape[1],), "what is stored has one size"
        shown = plan.answers(stored, read_keys(plan.query).to_arrow())
        answer = tuple((row["group"], row["count"]) for row in shown.to_pylist())
        chance = Fraction(1)
        for k in drawn:
            chance *= noise[k]
        found[answer] = found.get(answer, Fraction(0)) + chance
    assert sum(found.values()) == 1
    return found


def tables() -> list[Table]:
    return [*itertools.product(oracle.records("ab", 2), repeat=PEOPLE)]


def neighbours(name: str) -> Iterator[tuple[Table, Table]]:
    for table in tables():
        for who, record in itertools.product(range(PEOPLE), oracle.records("ab", 2)):
            if oracle.STEPS[name](table[who], record):
                yield table, (*table[:who], record, *table[who + 1 :])


def worst(
    name: str,
    m: int,
    reach: int,
    most: int,
    draw: Draw = as_it_is,
    broken: Callable[[UnlistedPlan], None] = lambda _: None,
) -> tuple[Fraction, Fraction]:
    """The least δ for all neighbours, and that which is promised: exactly what the mechanism needs."""
    notion, kind, changed = NOTIONS[name]
    epsilon, noise = notion(log(2) * (changed * m)), noise_of(kind, reach)
    delta = None if kind == "down" else 1 - (1 - noise[reach]) ** (changed * m)

    def plan_of(query: UnlistedGroups) -> UnlistedPlan:
        plan = lw.plan(query, epsilon, delta=delta)
        assert (plan.mechanism.reach or 0) == reach
        assert plan.exact_delta.rational == (delta or 0)
        broken(plan)
        return plan

    @functools.cache
    def of(table: Table) -> dict[Answer, Fraction]:
        return published(table, plan_of, noise, m, most, draw)

    factor = 2 ** (changed * m)
    return max(oracle.beyond(of(x), of(y), factor) for x, y in neighbours(name)), delta or Fraction(0)


@pytest.mark.sweep
@pytest.mark.parametrize("most", [1, 9])
@pytest.mark.parametrize(("name", "m", "reach"), SMALL)
def test_what_is_published_keeps_its_delta_and_needs_all_of_it(name: str, m: int, reach: int, most: int) -> None:
    found, promised = worst(name, m, reach, most)
    assert found <= promised
    if m == 1 and most > 1:  # of two groups of somebody both must be seen, and be large enough
        assert found == promised


def lower(plan: UnlistedPlan) -> None:
    plan.mechanism.threshold -= 1


@pytest.mark.sweep
def test_a_threshold_one_lower_is_found() -> None:
    for name, m, reach in SMALL:
        if reach:
            found, promised = worst(name, m, reach, 9, broken=lower)
            assert found > promised, name


@pytest.mark.sweep
def test_a_delta_that_was_counted_for_one_group_is_found() -> None:
    """The promise says δ₁, and a person in two groups needs 1 − (1 − δ₁)²."""
    found, promised = worst("addition-only", 2, 1, 9)
    one = noise_of("up", 1)[1]
    assert one < found == promised == 1 - (1 - one) ** 2


def as_inserted(plan: UnlistedPlan, exactly: NDArray[np.int64], table: Rows) -> NDArray[np.int64]:
    """The groups in the order in which the rows first name them."""
    known = _unlisted_plan.from_words(exactly[1:, :-1])
    order = [known.index(key) for key in dict.fromkeys(key for _, key in table) if key in known]
    stored = np.zeros((plan.query.most_groups, exactly.shape[1]), np.int64)
    noisy = exactly[1:, -1] + plan.mechanism.law.sample(len(known), SystemBits())
    shown = [i for i in order if noisy[i] >= plan.mechanism.threshold]
    for place, i in enumerate(shown[: plan.query.most_groups]):
        stored[place] = [*exactly[1 + i, :-1], noisy[i]]
    return np.concatenate([exactly[0, :1], stored.ravel()])


def by_the_exact_count(plan: UnlistedPlan, exactly: NDArray[np.int64], table: Rows) -> NDArray[np.int64]:
    """The groups with the greatest exact count first."""
    exactly[1:] = exactly[1:][np.argsort(-exactly[1:, -1], kind="stable")]
    return as_inserted(plan, exactly, tuple(("", str(key)) for key in _unlisted_plan.from_words(exactly[1:, :-1])))


@pytest.mark.sweep
@pytest.mark.parametrize("draw", [as_inserted, by_the_exact_count])
@pytest.mark.parametrize("name", ["addition-only", "dp"])
def test_an_order_that_is_not_the_answers_own_is_found(draw: Draw, name: Literal["addition-only", "dp"]) -> None:
    found, promised = worst(name, 1, 1, 9, draw=draw)
    assert found > promised


def test_what_is_released_is_what_was_enumerated(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole way, with the ledger between: for each noise the release that was enumerated, stored in as many bytes."""
    table = rows((frozenset("ab"), frozenset("b"), frozenset("a")))
    sizes = set()
    for i, drawn in enumerate(itertools.product(range(3), repeat=2)):
        plan = lw.plan(asked(table, 2, 9), AdditionOnly("1"), delta="1/10")
        monkeypatch.setattr(
            "leeward.noise._cut_geometric.CutGeometric.sample",
            lambda self, size, bits, drawn=drawn: np.array(drawn, np.int64),
        )
        budget = lw.Budget(str(tmp_path / f"{i}.db"), "towns", cap="9", cap_delta="1/2")
        result = lw.release(plan, budget)
        stored = plan.draw(counted(table, 2), SystemBits())
        assert result.answers.equals(plan.answers(stored, pa.table({})))
        ledger = lw.ledger.Ledger(budget.ledger)
        entry = next(each for each in ledger.history() if each.key)
        answer = peek(ledger, "towns", "1", entry.key)
        assert answer is not None
        sizes.add(len(answer.payload))
        assert answer.payload == stored.astype("<i8").tobytes()
    assert len(sizes) == 1
