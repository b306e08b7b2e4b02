"""The exact matrix: what it accepts, how it is combined, and that it draws from what it says."""

from __future__ import annotations

import itertools
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.statistical.gof import rejects

from leeward.distance import Line
from leeward.errors import InputError
from leeward.exact import Weight, exact, exp, exp_minus, inf, log
from leeward.exact._weight import weighted_sum
from leeward.mechanism import FiniteMechanism, Geometric, subsampled
from leeward.mechanism._matrix_entries import row_sums
from leeward.noise import Bits, SeededBitsForTests, SystemBits
from leeward.notion import ABSENT
from leeward.query import PoissonSampling

COIN = FiniteMechanism("xy", "uv", [["1/3", "2/3"], [exp_minus(1), 1 - exp_minus(1)]])


# ---- what it accepts


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([["1/2", "1/2"], ["1/2", "1/3"]], "does not sum to 1"),
        ([["1/2", "1/2"], ["3/2", "-1/2"]], "negative"),
        ([["1/2", "1/2"]], "another size"),
        ([["1/2", "1/4", "1/4"], ["1/2", "1/4", "1/4"]], "another size"),
        ([[exp_minus(1), 1 - exp_minus(1)], [exp_minus(1), 1 - exp_minus("1.0000001")]], "does not sum to 1"),
        (np.array([[0.1, 0.2, 0.7][:2], [0.5, 0.5]]), "from_floats"),
        (np.array([[0.5, 0.5], [-0.5, 1.5]]), "not a probability"),
        (np.array([[0.5, 0.5], [np.nan, 0.5]]), "not a probability"),
        (np.array([[0.5, 0.5], [0.0, 0.0]]), "positive"),
        ([[0.1, 0.9], [0.1, 0.8]], "does not sum to 1"),
    ],
)
def test_what_is_no_mechanism_is_refused(matrix: Sequence[Sequence[float]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        FiniteMechanism("xy", "uv", matrix)


def test_repeats_and_unknown_secrets_are_refused() -> None:
    with pytest.raises(InputError, match="Repeated secrets"):
        FiniteMechanism("xx", "uv", [["1/2", "1/2"]] * 2)
    with pytest.raises(InputError, match="Repeated outputs"):
        FiniteMechanism("xy", "uu", [["1/2", "1/2"]] * 2)
    with pytest.raises(InputError, match="not a row"):
        COIN.row("z")


def test_floats_are_read_as_binary_fractions() -> None:
    exactly = FiniteMechanism("xy", "uv", np.array([[0.25, 0.75], [0.5, 0.5]]))
    assert exactly.probability("x", "u") == Fraction(1, 4)
    assert exactly.note == ""
    mixed = FiniteMechanism("x", "uv", [[0.1, 1 - Fraction(0.1)]])
    assert mixed.probability("x", "u").rational == Fraction(0.1) != Fraction(1, 10)


def test_rows_of_floats_are_divided_by_their_exact_sum() -> None:
    floats = [[0.1, 0.2, 0.7], [1.0, 1e-320, 5e-324], [3.0, 0.0, 1e300]]
    made = FiniteMechanism.from_floats("xyz", "uvw", floats)
    for secret, row in zip("xyz", floats, strict=True):
        total = sum(map(Fraction, row))
        expected = [Fraction(entry) / total for entry in row]
        assert [made.probability(secret, z).rational for z in "uvw"] == expected
    lower, upper = made.bounds()
    for i, j in itertools.product(range(3), repeat=2):
        value = made.values[int(made.codes[i, j])].rational
        assert value is not None
        assert Fraction(float(lower[i, j])) <= value <= Fraction(float(upper[i, j]))
    assert lower[2, 1] == upper[2, 1] == 0.0
    assert "divided by its exact sum" in made.note
    assert made.pull_back("x", lambda s: s).note == made.note
    assert len(made.values[1:3]) == 2


@given(st.lists(st.lists(st.sampled_from(["0", "1", "2", "e", "l"]), min_size=3, max_size=3), min_size=1, max_size=5))
@settings(max_examples=60)
def test_row_sums_are_those_of_one_by_one_addition(names: list[list[str]]) -> None:
    values = {
        "0": exp_minus(inf),
        "1": exp(0) / 3,
        "2": exp(1) / 7,
        "e": exp("1/2") / (1 + exp(1)),
        "l": exp(log("2") / 3),
    }
    order = list(values)
    codes = np.array([[order.index(name) for name in row] for row in names])
    expected = [weighted_sum((values[name], 1) for name in row) for row in names]
    found = row_sums(list(values.values()), codes)
    assert all(any(a == b for b in found) for a in expected)
    assert all(any(a == b for a in expected) for b in found)
    huge = [value * Fraction(10**40 + 1, 10**40) for value in values.values()]  # does not fit in 64 bits
    expected = [weighted_sum((huge[order.index(name)], 1) for name in row) for row in names]
    assert all(any(a == b for b in row_sums(huge, codes)) for a in expected)


def test_many_rows_are_checked_quickly() -> None:
    matrix = Geometric(Line("1/2", 1)).on(range(500))
    start = time.process_time()
    FiniteMechanism.coded(matrix.inputs, matrix.outputs, matrix.values, matrix.codes)
    assert time.process_time() - start < 3  # 0.1 s on two cores of 2024; row by row it was ten
    spoilt = matrix.codes.copy()
    spoilt[317, 3] = spoilt[317, 4]
    with pytest.raises(InputError, match="does not sum to 1"):
        FiniteMechanism.coded(matrix.inputs, matrix.outputs, matrix.values, spoilt)


# ---- reading


def test_rows_bounds_and_tables() -> None:
    assert COIN.row("x") == {"u": exact("1/3"), "v": exact("2/3")}
    lower, upper = COIN.bounds()
    assert (lower <= upper).all()
    assert (upper - lower < 1e-15).all()
    assert COIN.to_numpy()[1, 0] == pytest.approx(np.exp(-1), rel=1e-15)
    frame = COIN.to_pandas()
    assert list(frame.index) == ["x", "y"]
    assert frame.loc["x", "v"] == pytest.approx(2 / 3)
    pairs = COIN.beside(COIN).to_pandas()
    assert ("u", "v") in pairs.columns
    assert pairs.columns.nlevels == 1


def test_from_rows_fills_in_zeros() -> None:
    made = FiniteMechanism.from_rows({1: {"a": 1}, 2: {"b": "1/2", "a": "1/2"}, 3: {"c": 1}})
    assert made.outputs == ("a", "b", "c")
    assert made.probability(1, "c") == 0
    assert made.probability(2, "b") == Fraction(1, 2)


# ---- combining


def by_hand(mechanism: FiniteMechanism, secret: object, outputs: dict[object, Weight]) -> None:
    assert mechanism.row(secret) == outputs


def test_beside_multiplies() -> None:
    other = FiniteMechanism("yx", "st", [["1/4", "3/4"], [1, 0]])  # rows in another order
    joint = COIN.beside(other)
    by_hand(
        joint,
        "x",
        {("u", "s"): exact("1/3"), ("u", "t"): exact(0), ("v", "s"): exact("2/3"), ("v", "t"): exact(0)},
    )
    assert joint.probability("y", ("u", "t")) == exp_minus(1) * "3/4"


def test_product_is_independent() -> None:
    three = FiniteMechanism.product([COIN, COIN, COIN])
    assert len(three.inputs) == len(three.outputs) == 8
    for xs, zs in itertools.product(itertools.product("xy", repeat=3), itertools.product("uv", repeat=3)):
        expected = 1
        for x, z in zip(xs, zs, strict=True):
            expected = COIN.probability(x, z) * expected
        assert three.probability(xs, zs) == expected
    assert FiniteMechanism.product([]).row(()) == {(): 1}


def test_then_by_a_function_a_mapping_and_a_mechanism() -> None:
    noisy = Geometric(Line(1, 1)).on(range(4))
    parity = noisy.then(lambda z: z % 2)
    for x in range(4):
        assert parity.probability(x, 1) == noisy.probability(x, 1) + noisy.probability(x, 3)
    assert noisy.then({0: "low", 1: "low", 2: "high", 3: "high"}).probability(0, "low") == noisy.probability(
        0, 0
    ) + noisy.probability(0, 1)
    second = FiniteMechanism(range(4), "st", [["1/2", "1/2"], [1, 0], [0, 1], ["1/4", "3/4"]])
    both = noisy.then(second)
    by_parts = [noisy.probability(2, z) * second.probability(z, "s") for z in range(4)]
    assert both.probability(2, "s") == weighted_sum((p, 1) for p in by_parts)


def test_pull_back_answers_the_query() -> None:
    tables = list(itertools.product([0, 1], repeat=3))
    counts = Geometric(Line(inf, 1)).on(range(4)).pull_back(tables, sum)
    assert counts.row((1, 0, 1)) == Geometric(Line(inf, 1)).on(range(4)).row(2)
    with pytest.raises(InputError, match="not a row"):
        counts.pull_back([(2, 2, 2)], lambda t: t)


# ---- drawing


class Scripted(Bits):
    """Gives the words it is told to, then fails: shows which bits decide."""

    def __init__(self, *words: int) -> None:
        self.words_left = list(words)

    def fill(self, out: NDArray[np.uint32]) -> None:
        for at in range(out.size):
            out.flat[at] = self.words_left.pop(0)

    def integer(self, width: int) -> int:
        return self.words_left.pop(0)


def test_drawing_is_inversion_to_the_last_bit() -> None:
    half = FiniteMechanism("x", "abc", [["1/4", "1/4", "1/2"]])
    quarter = 1 << 30
    words = [0, quarter - 1, quarter, 2 * quarter - 1, 2 * quarter, 2**32 - 1]
    assert half.sample("x", 6, Scripted(*words)) == ["a", "a", "b", "b", "c", "c"]
    third = FiniteMechanism("x", "ab", [["1/3", "2/3"]])
    tie = 2**32 // 3  # 0.010101…: the next 64 bits decide
    rest = 2**64 // 3
    assert third.sample("x", 1, Scripted(tie, rest - 1)) == ["a"]
    assert third.sample("x", 1, Scripted(tie, rest + 1)) == ["b"]
    assert third.sample("x", 1, Scripted(tie, rest, rest, rest + 1)) == ["b"]
    crowded = FiniteMechanism("x", "abc", [[Fraction(1, 3), Fraction(1, 2**70), Fraction(2, 3) - Fraction(1, 2**70)]])
    assert crowded.sample("x", 1, Scripted(tie, rest + 5)) == ["b"]  # one uniform for both comparisons
    assert crowded.sample("x", 1, Scripted(tie, rest + 70 * 2**60)) == ["c"]


@pytest.mark.statistical
def test_samples_fit_the_exact_rows() -> None:
    """False-alarm rate 10⁻⁶ for each of the rows, seeded; a row of the other secret is found out."""
    matrix = Geometric(Line("1/2", 1)).on(range(5))
    bits = SeededBitsForTests(4)
    for secret in matrix.inputs:
        row = matrix.row(secret)
        seen = Counter(matrix.sample(secret, 40_000, bits))
        counts = [seen[z] for z in row]
        assert rejects(counts, [float(p) for p in row.values()], 40_000) is None
        other = matrix.row((secret + 1) % 5)
        assert rejects(counts, [float(p) for p in other.values()], 40_000) is not None


def test_release_draws_one_output() -> None:
    assert FiniteMechanism("x", "uv", [[0, 1]]).release("x") == "v"
    assert COIN.release("x", SystemBits()) in {"u", "v"}


FLOATS = FiniteMechanism.from_floats((0, 1), (0, 1), [[0.9, 0.1], [0.1, 0.9]])
EXACTLY = FiniteMechanism((0, 1), (0, 1), [["3/4", "1/4"], ["1/4", "3/4"]])
MADE: dict[str, Callable[[FiniteMechanism, FiniteMechanism], FiniteMechanism]] = {
    "beside": lambda one, other: one.beside(other),
    "product": lambda one, other: FiniteMechanism.product([one, other]),
    "then a mechanism": lambda one, other: one.then(other),
    "then a mapping": lambda one, _: one.then({0: "a", 1: "a"}),
    "adaptive": lambda one, other: one.then(lambda _: other),
    "pulled back": lambda one, _: one.pull_back((0, 1), lambda s: s),
}


@pytest.mark.parametrize("how", MADE)
def test_what_must_be_known_of_a_part_is_known_of_the_whole(how: str) -> None:
    made = MADE[how]
    assert made(EXACTLY, EXACTLY).note == ""
    assert made(FLOATS, FLOATS).note == made(FLOATS, EXACTLY).note == FLOATS.note != ""
    alone = how in {"then a mapping", "pulled back"}
    assert made(EXACTLY, FLOATS).note == ("" if alone else FLOATS.note)


def test_the_note_of_a_base_is_that_of_its_sample() -> None:
    base = FiniteMechanism.from_floats([(1,), (ABSENT,)], (0, 1), [[0.9, 0.1], [0.1, 0.9]])
    assert subsampled(base, PoissonSampling("1/2")).note == base.note != ""


def test_what_cannot_follow_a_mechanism_is_refused_in_words() -> None:
    with pytest.raises(InputError, match="leaves some out"):
        EXACTLY.then({0: "a"})
    assert EXACTLY.then(defaultdict(lambda: "b", {0: "a"})).outputs == ("a", "b")
    with pytest.raises(InputError, match="not hashable"):
        EXACTLY.then(lambda z: [z])
    for size in (-1, 1.5, None, "2"):
        with pytest.raises(InputError, match="size = "):
            EXACTLY.sample(0, size)  # type: ignore[arg-type]
    assert EXACTLY.sample(0, 0) == []
