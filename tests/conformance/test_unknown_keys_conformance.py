"""Keys that nobody has listed: the exact δ of every notion, over all small tables and ordered pairs, and the sampler."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest
from tests.conformance.mechanism_conformance import FALSE_ALARM, Case, MechanismConformance, Sampler
from tests.oracle import unknown_keys as oracle
from tests.statistical.gof import rejects

from leeward import both_hold
from leeward.distance import FiniteDistance, Line
from leeward.errors import InputError, NoiseError, NotPrivateError
from leeward.exact import exact, inf, log
from leeward.mechanism import UnknownKeys
from leeward.noise import Bits, DirectedGeometric, SeededBitsForTests
from leeward.notion import (
    AdditionOnly,
    BoundedDP,
    Graded,
    Notion,
    Personalised,
    Presence,
    RemovalOnly,
    ReplaceDP,
    UnboundedDP,
)
from leeward.verification import verify

NOTIONS: dict[str, tuple[type[Notion], str, int]] = {
    "addition-only": (AdditionOnly, "up", 1),
    "removal-only": (RemovalOnly, "down", 1),
    "dp": (UnboundedDP, "both", 1),
    "bounded-dp": (BoundedDP, "both", 2),
    "add-remove-replace-dp": (ReplaceDP, "both", 2),
}
"""The notion, which way its noise goes, and how many counts a step changes for each key of a person."""

SMALL = [
    ("addition-only", 1, 1), ("addition-only", 1, 3), ("addition-only", 2, 1), ("addition-only", 2, 2),
    ("removal-only", 1, 0), ("removal-only", 2, 0),
    ("dp", 1, 1), ("dp", 1, 2), ("dp", 2, 1),
    ("bounded-dp", 1, 1), ("add-remove-replace-dp", 1, 1),
]  # fmt: skip
"""A notion, how many keys a person has at most, and how far noise reaches."""


def made(name: str, keys: int, reach: int) -> UnknownKeys:
    """The mechanism whose noise halves with each step, by the δ that the oracle's noise has at its end."""
    notion, kind, changed = NOTIONS[name]
    epsilon = log(2) * (changed * keys)
    if not reach:
        return UnknownKeys.under(notion(epsilon), keys_per_person=keys)
    delta = 1 - (1 - oracle.law(kind, reach)[reach]) ** (changed * keys)
    return UnknownKeys.under(notion(epsilon), delta, keys_per_person=keys)


def people(name: str, keys: int, reach: int) -> int:
    """So many that every case of the theorem occurs."""
    return 2 if keys == 2 else 4 if reach == 1 else 3


@pytest.mark.parametrize(("name", "keys", "reach"), SMALL)
def test_delta_is_exact_over_all_small_tables_and_ordered_pairs(name: str, keys: int, reach: int) -> None:
    _, kind, changed = NOTIONS[name]
    mechanism, factor = made(name, keys, reach), 2 ** (changed * keys)
    assert mechanism.reach == (reach or None)
    noise, threshold = oracle.law(kind, reach), mechanism.threshold
    assert threshold == (reach + 1 if reach else 1)
    pairs = list(oracle.neighbours(name, "ab", keys, people(name, keys, reach)))
    found = oracle.worst(pairs, noise, threshold, factor)
    claimed = mechanism.delta(changed * keys).rational
    assert found == claimed, "exact, not a bound"
    assert (claimed == 0) == (kind == "down")
    # the knife edge: with less ε the same δ does not do; with a lower threshold neither
    assert max(oracle.worst([pair], noise, threshold, factor) for pair in pairs) == claimed
    if reach:
        assert oracle.worst(pairs, noise, threshold - 1, factor) > found
        assert (
            oracle.worst(pairs, oracle.law(kind, reach - 1) if reach > 1 else {0: Fraction(1)}, reach, factor) > found
        )
    if kind == "up":  # the usual rule, noise without an end, at the same threshold
        assert oracle.worst(pairs, oracle.law("up without end", 0), threshold, factor) > found


@pytest.mark.parametrize("name", NOTIONS)
def test_an_epsilon_that_is_less_is_not_kept_at_this_delta(name: str) -> None:
    """Of one key with one, two or three people, by half of e^ε."""
    keys, (_, kind, changed) = 1, NOTIONS[name]
    mechanism = made(name, keys, 0 if kind == "down" else 1)
    pairs = list(oracle.neighbours(name, "ab", keys, 4))
    found = oracle.worst(pairs, oracle.law(kind, 1), mechanism.threshold, 1)
    claimed = mechanism.delta(changed).rational
    assert claimed is not None
    assert found > claimed


def test_two_keys_of_somebody_who_is_replaced() -> None:
    """Four counts change at once; where those that are joined are large, all of δ is needed."""
    mechanism = made("bounded-dp", 2, 1)
    a, b = frozenset("ab"), frozenset("cd")
    found = oracle.worst([((a, b, b, b), (b, b, b, b))], oracle.law("both", 1), 2, 2**4)
    assert found == mechanism.delta(4).rational
    assert oracle.worst([((a, b), (b, b))], oracle.law("both", 1), 2, 2**4) < found


@pytest.mark.parametrize(
    ("name", "reach"), [(n, r) for n, k, r in SMALL if k == 1 and n in {"addition-only", "removal-only", "dp"}]
)
def test_no_mechanism_shows_a_key_more_often(name: str, reach: int) -> None:
    mechanism = made(name, 1, reach)
    delta = mechanism.delta().rational
    assert delta is not None
    for people, best in enumerate(oracle.best_chances(name, delta, 2, 12)):
        assert mechanism.chance_shown(people).rational == best
    always = mechanism.always_shown_from()
    if always is None:
        assert name == "removal-only"
    else:
        assert mechanism.chance_shown(always) == 1
        assert mechanism.chance_shown(always - 1) < 1


@pytest.mark.parametrize(("name", "keys", "reach"), SMALL)
def test_the_matrix_is_that_of_the_oracle(name: str, keys: int, reach: int) -> None:
    _, kind, _ = NOTIONS[name]
    mechanism, noise = made(name, keys, reach), oracle.law(kind, reach)
    for counts in itertools.product(range(4), repeat=2):
        table = tuple(frozenset("ab"[i] for i in range(2) if person < counts[i]) for person in range(3))
        exactly = oracle.answers(table, noise, mechanism.threshold)
        row = mechanism.on([counts]).row(counts)
        told = {tuple((key, z) for key, z in zip("ab", out, strict=True) if z is not None): p for out, p in row.items()}
        assert {out: p.rational for out, p in told.items()} == exactly


VECTORS = list(itertools.product(range(5), (0, 1, 2)))


def one_step(mechanism: UnknownKeys) -> FiniteDistance[tuple[int, ...]]:
    """One count falls by 1, or rises by 1, at what that costs."""

    def price(x: tuple[int, ...], y: tuple[int, ...]) -> Any:
        moved = [b - a for a, b in zip(x, y, strict=True) if a != b]
        return {(1,): mechanism.line.rise, (-1,): mechanism.line.fall}.get(tuple(moved), exact(0) if x == y else inf)

    return FiniteDistance.closed(VECTORS, [[price(x, y) for y in VECTORS] for x in VECTORS])


@pytest.mark.parametrize("notion", [AdditionOnly("1"), UnboundedDP("3/2")], ids=lambda n: n.name)
@pytest.mark.parametrize("delta", ["1/4", "1/20"])
def test_verify_confirms_it_at_any_epsilon(notion: Notion, delta: str) -> None:
    mechanism = UnknownKeys.under(notion, delta)
    matrix, distance, exactly = mechanism.on(VECTORS), one_step(mechanism), mechanism.delta()
    assert exactly <= exact(delta)
    assert verify(matrix, distance, delta=exactly)
    assert not verify(matrix, distance, delta=exactly * exact("0.999"))
    assert not verify(matrix, distance.scale("0.999"), delta=exactly)
    assert not verify(matrix, distance), "no ε alone"
    shorter = UnknownKeys(mechanism.line, mechanism.reach - 1) if mechanism.reach and mechanism.reach > 1 else None
    assert shorter is None or shorter.delta() > exact(delta), "the least threshold"
    if isinstance(notion, AdditionOnly):  # the other direction is not promised
        assert not verify(matrix, distance.reverse(), delta="1/2")


def sampler(mechanism: UnknownKeys) -> Sampler:
    def sample(truth: Any, size: int, bits: Bits) -> list[tuple[int | None, ...]]:
        """Many tables at once: each has keys of its own."""
        held = {f"{i:06}{'ab'[j]}": int(n) for i in range(size) for j, n in enumerate(truth)}
        shown = mechanism.release(held, bits)
        return [(shown.get(f"{i:06}a"), shown.get(f"{i:06}b")) for i in range(size)]

    return sample


class _NoEnd(UnknownKeys):
    """Noise goes on beyond its end."""

    def __init__(self, line: Line, reach: int) -> None:
        super().__init__(line, reach)
        self.law = DirectedGeometric(line.fall, line.rise)


@pytest.mark.statistical
@pytest.mark.parametrize(
    "mechanism",
    [UnknownKeys(Line(inf, "1/2"), 3), UnknownKeys(Line("1", "1"), 2), UnknownKeys(Line(inf, "1/1000"), 4)],
    ids=str,
)
def test_the_sampler_has_the_exact_distribution(mechanism: UnknownKeys) -> None:
    """In one of 10⁶ runs a right sampler fails, for each table; noise without an end is found out."""
    bits, size = SeededBitsForTests(5), 20_000
    for truth in [(0, 0), (1, 2), (4, 0), (5, 3)]:
        row = mechanism.on([truth]).row(truth)

        def misfit(made: UnknownKeys, truth: Any = truth, row: Any = row) -> Any:
            seen = Counter(sampler(made)(truth, size, bits))
            if set(seen) - set(row):
                return "what cannot be"
            return rejects([seen[z] for z in row], [float(p) for p in row.values()], size, FALSE_ALARM)

        assert misfit(mechanism) is None
        if sum(truth) > 3:
            assert misfit(_NoEnd(mechanism.line, mechanism.reach or 0)) is not None


def cases() -> Iterator[Case]:
    for epsilon in ("1/2", "2"):
        mechanism = UnknownKeys.under(RemovalOnly(epsilon))
        yield Case(
            f"removal-only, ε = {epsilon}", mechanism.on(VECTORS), mechanism.line, sampler(mechanism), one_way=True
        )


class TestUnknownKeysWithoutDelta(MechanismConformance):
    """Under removal-only the promise is a pure ε, so it passes what every pure mechanism must."""

    cases: ClassVar = list(cases())


def test_what_is_certain() -> None:
    """Of 40,000 draws none breaks it: and noise that ends elsewhere would."""
    bits = SeededBitsForTests(6)
    counts = {i: 1 + i % 12 for i in range(40_000)}
    up = UnknownKeys(Line(inf, "1/3"), 7)
    shown = up.release(counts, bits)
    assert all(counts[key] <= z <= counts[key] + 7 for key, z in shown.items())
    assert all(key in shown for key, n in counts.items() if n >= 8)
    down = UnknownKeys.under(RemovalOnly("1/3")).release(counts, bits)
    assert all(1 <= z <= counts[key] for key, z in down.items())
    both = UnknownKeys(Line("1", "1"), 5).release(counts, bits)
    assert all(abs(z - counts[key]) <= 5 and z > 5 for key, z in both.items())
    assert all(key in both for key, n in counts.items() if n >= 11)
    assert list(shown) == sorted(shown)
    assert min(shown.values()) == 8


def test_the_order_of_a_table_does_not_show() -> None:
    mechanism = UnknownKeys(Line("1", "1"), 2)
    for held in ({"b": 9, "a": 9, "ä": 9}, {"ä": 9, "a": 9, "b": 9, "nobody": 0}):
        assert list(mechanism.release(held)) == ["a", "b", "ä"]
    assert mechanism.release({}) == {}


REFUSED = [
    (Presence("1"), "1e-6"), (Graded(presence="1", absence="4"), "1e-6"),
    (Personalised(AdditionOnly(1), ["1", "2"]), "1e-6"),
    (both_hold(AdditionOnly("1"), RemovalOnly("2")), "1e-6"),
]  # fmt: skip


@pytest.mark.parametrize(("notion", "delta"), REFUSED, ids=lambda part: str(part))
def test_notions_for_which_no_delta_is_derived_are_refused(notion: Notion, delta: str) -> None:
    with pytest.raises(NotPrivateError, match="List the keys"):
        UnknownKeys.under(notion, delta)


@pytest.mark.parametrize(
    ("notion", "given", "said"),
    [
        (AdditionOnly("1"), {}, "the only person with a key"),
        (RemovalOnly("1"), {"delta": "1e-6"}, "no δ is needed"),
        (UnboundedDP("1"), {"delta": "0"}, "above 0 and below 1"),
        (UnboundedDP("1"), {"delta": "1"}, "above 0 and below 1"),
        (UnboundedDP("1"), {"delta": "-1/2"}, "above 0 and below 1"),
        (UnboundedDP("1"), {"delta": "1e-6", "keys_per_person": 0}, "keys_per_person"),
        ("dp", {"delta": "1e-6"}, "not a notion"),
    ],
)
def test_what_cannot_be_is_refused(notion: Any, given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        UnknownKeys.under(notion, **given)


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ([3], "each has its key"),
        ({"a": 2**63}, "int64"),
        ({"a": -1}, "below 0"),
        ({"a": 1, 1: 2}, "several types"),
        ({True: 2}, "several types"),
        ({"a": 1.5}, "integers"),
    ],
)
def test_counts_that_are_none_are_refused(counts: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        UnknownKeys(Line(inf, "1"), 3).release(counts)


@pytest.mark.parametrize(
    ("line", "reach"),
    [(Line(inf, inf), 3), (Line("1", "2"), 3), (Line(inf, "1"), None), (Line("1", inf), 3), (Line(inf, "1"), 0)],
)
def test_lines_without_a_theorem_are_refused(line: Line, reach: int | None) -> None:
    with pytest.raises(InputError):
        UnknownKeys(line, reach)


def test_machine_integers_are_people_too() -> None:
    mechanism = UnknownKeys(Line(inf, "1"), 2)
    assert mechanism.release({"a": np.int64(9)})["a"] >= 9  # type: ignore[dict-item]


@pytest.mark.parametrize("name", ["addition-only", "dp", "bounded-dp", "add-remove-replace-dp"])
@pytest.mark.parametrize("keys", [1, 3])
def test_the_threshold_is_the_least_that_keeps_delta(name: str, keys: int) -> None:
    """At small rates, where a step more or less changes δ little: so whoever forgets a count is found out."""
    notion, _, changed = NOTIONS[name]
    for epsilon, delta in itertools.product(("1/20", "1"), ("1/100", "1e-6")):
        mechanism = UnknownKeys.under(notion(epsilon), delta, keys_per_person=keys)
        assert mechanism.reach is not None
        assert mechanism.delta(changed * keys) <= exact(delta)
        assert UnknownKeys(mechanism.line, mechanism.reach - 1).delta(changed * keys) > exact(delta)
        assert mechanism.line.fall * (changed * keys) == exact(epsilon)


def test_a_delta_that_noise_in_64_bits_cannot_keep_is_refused() -> None:
    with pytest.raises(NoiseError, match="Take a larger"):
        UnknownKeys.under(AdditionOnly("1e-20"), "1e-13")
    assert UnknownKeys.under(AdditionOnly("1e-20"), "1e-6").delta() <= exact("1e-6")


def test_many_keys_a_person_are_planned_at_once() -> None:
    """Intervals decide: written out, 300 factors would take minutes."""
    mechanism = UnknownKeys.under(BoundedDP("1"), "1e-6", keys_per_person=300)
    one = float(mechanism.delta_of_key)
    assert 600 * one <= 1.0001e-6
    assert mechanism.reach is not None
    assert 600 * float(UnknownKeys(mechanism.line, mechanism.reach - 1).delta_of_key) > 1e-6
