"""ULDP of Murakami and Kawamoto, decided: against the definition read word by word, over all partitions."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import pytest

import leeward as lw
from leeward.errors import InputError
from leeward.exact import inf, log
from leeward.mechanism import FiniteMechanism, OSDPRandomizedResponse, mangat, urap, urr, warner
from leeward.notion import ULDP, ProtectedOutputs

Rows = Sequence[Sequence[Fraction]]
ROWS = [[Fraction(part, 4) for part in parts] for parts in itertools.product(range(5), repeat=3) if sum(parts) == 4]
"""All 15 distributions on three outputs in quarters."""


def keeps(rows: Rows, hidden: Iterable[int], protected: Iterable[int], factor: Fraction) -> bool:
    """The definition: records and outputs are numbered, ``factor`` is e^ε."""
    records, hidden, protected = range(len(rows)), set(hidden), set(protected)
    for y in set(range(len(rows[0]))) - protected:
        if not any(
            x not in hidden and rows[x][y] > 0 and all(rows[other][y] == 0 for other in records if other != x)
            for x in records
        ):
            return False
    return all(rows[x][y] <= factor * rows[other][y] for y in protected for x in records for other in records)


SUBSETS = [set(s) for size in range(4) for s in itertools.combinations(range(3), size)]


@pytest.mark.parametrize("first", range(len(ROWS)))
def test_every_matrix_in_quarters(first: int) -> None:
    """3,375 matrices, at e^ε = 2, with 0 to 3 of the records sensitive, and for one of them every choice of Y_P."""
    for chosen in itertools.product(ROWS, repeat=2):
        rows = [ROWS[first], *chosen]
        matrix = FiniteMechanism(range(3), range(3), rows)
        for hidden in ({0}, {0, 1}) if first else (set(), {0, 1, 2}):
            promise = ProtectedOutputs(log(2), hidden.__contains__)
            right = any(keeps(rows, hidden, protected, Fraction(2)) for protected in SUBSETS)
            assert bool(lw.verify(matrix, promise)) is right, (rows, hidden)
    matrix = FiniteMechanism(range(3), range(3), [ROWS[first], ROWS[3], ROWS[7]])
    for protected in SUBSETS:
        promise = ProtectedOutputs(log(2), {0}.__contains__, protected)
        right = keeps([ROWS[first], ROWS[3], ROWS[7]], {0}, protected, Fraction(2))
        assert bool(lw.verify(matrix, promise)) is right, protected


def test_the_grid_has_both_answers() -> None:
    """The control: a verification that says the same of all would be seen."""
    right = [
        any(keeps([ROWS[0], second, third], {0}, p, Fraction(2)) for p in SUBSETS)
        for second, third in itertools.product(ROWS, repeat=2)
    ]
    assert 0 < sum(right) < len(right)


SICK = frozenset(("flu", "hiv"))
RECORDS = ("flu", "hiv", "well", "away")


def sick(record: Any) -> bool:
    return record in SICK


def test_what_the_distance_does_not_see() -> None:
    """An output that two records share which are not sensitive: private for `ULDP`, and not ULDP."""
    shares = FiniteMechanism.from_rows(
        {"flu": {"?": 1}, "hiv": {"?": 1}, "well": {"?": "1/2", "fine": "1/2"}, "away": {"?": "1/2", "fine": "1/2"}}
    )
    tables = [(r,) for r in RECORDS]
    assert lw.verify(shares.pull_back(tables, lambda table: table[0]), ULDP(log(2), sick))
    verdict = lw.verify(shares, ProtectedOutputs(log(2), sick))
    assert not verdict
    assert verdict.worst_output == "fine"
    named = lw.verify(shares, ProtectedOutputs(log(2), sick, ["?"]))
    assert named.reason == "the output 'fine' is not protected, and not invertible: it is possible from 2 records"
    sensitive = lw.verify(shares, ProtectedOutputs(log(2), lambda record: True, ["fine"]))
    assert "possible from 4 records" in sensitive.reason


@pytest.mark.parametrize("epsilon", ["1/3", "1", "7"])
def test_the_mechanisms_keep_it_with_equality(epsilon: str) -> None:
    for mechanism, promise in (
        (urr(epsilon, RECORDS, sick), ProtectedOutputs(epsilon, sick, SICK)),
        (urap(epsilon, RECORDS, sick), ProtectedOutputs(epsilon, sick)),
        (OSDPRandomizedResponse(epsilon, sick).on(RECORDS), ProtectedOutputs(epsilon, sick, [None])),
        (mangat(epsilon).on(), ProtectedOutputs(epsilon, bool)),
        (warner(epsilon).on(), ProtectedOutputs(epsilon, lambda record: True)),
    ):
        verdict = lw.verify(mechanism, promise)
        assert verdict
        assert verdict.tight
        assert verdict.exact_scale == 1
        assert not lw.verify(mechanism, ProtectedOutputs(lw.exact.exact(epsilon) * "0.999", promise.sensitive))
    assert not lw.verify(warner(epsilon).on(), ProtectedOutputs(epsilon, bool, [True]))  # "no" is possible from a yes


def test_what_can_be_said_of_special_matrices() -> None:
    honest = FiniteMechanism.from_rows({r: {r: 1} for r in RECORDS})
    nobody = lw.verify(honest, ProtectedOutputs(0, lambda record: False))
    assert nobody.reason == "every output is invertible, and gives away a record that is not sensitive"
    assert not lw.verify(honest, ProtectedOutputs(9, sick))
    told = lw.verify(honest, ProtectedOutputs(9, sick, ["well", "away", "hiv"]))
    assert told.reason.endswith("not invertible: the one record that gives it is sensitive")
    never = FiniteMechanism(RECORDS, ("a", "b"), [[1, 0]] * 4)
    assert lw.verify(never, ProtectedOutputs(0, sick))
    assert lw.verify(never, ProtectedOutputs(0, sick, ["a"])).reason.endswith("no record gives it")
    assert lw.verify(honest, ProtectedOutputs(inf, sick, RECORDS))  # ∞ promises nothing
    with pytest.raises(InputError, match="no such output"):
        lw.verify(never, ProtectedOutputs(0, sick, ["c"]))
    with pytest.raises(InputError, match="Leave delta out"):
        lw.verify(never, ProtectedOutputs(0, sick), delta="1/10")  # type: ignore[call-overload]
    with pytest.raises(InputError, match="cannot be negative"):
        ProtectedOutputs(-1, sick)


# ---- the two mechanisms


@pytest.mark.parametrize("hidden", range(1, 5))
@pytest.mark.parametrize("others", range(3))
def test_urr_entry_by_entry(hidden: int, others: int) -> None:
    """The three constants of the paper: c1 = e^ε/(s + e^ε − 1), c2 = 1/(s + e^ε − 1), c3 = 1 − s·c2; at e^ε = 3."""
    made = urr(log(3), range(hidden + others), lambda x: x < hidden)
    c1, c2 = Fraction(3, hidden + 2), Fraction(1, hidden + 2)
    for x in range(hidden + others):
        row = {y: c1 if x == y else c2 for y in range(hidden)}
        if x >= hidden:
            row = dict.fromkeys(range(hidden), c2) | {x: 1 - hidden * c2}
        assert {y: p.rational for y, p in made.row(x).items() if p} == row


@pytest.mark.parametrize("hidden", range(1, 4))
@pytest.mark.parametrize("others", range(3))
def test_urap_bit_by_bit(hidden: int, others: int) -> None:
    """The paper's four probabilities of one bit, at any θ; ours is θ = e^{ε/2}/(e^{ε/2} + 1), here with e^{ε/2} = 2."""
    made = urap(log(4), range(hidden + others), lambda x: x < hidden)
    theta, factor = Fraction(2, 3), Fraction(4)
    d1 = theta / ((1 - theta) * factor + theta)
    d2 = ((1 - theta) * factor + theta) / factor
    for x in range(hidden + others):
        for bits in itertools.product((0, 1), repeat=hidden + others):
            chance = Fraction(1)
            for j, bit in enumerate(bits):
                on = (theta if j == x else d1) if j < hidden else (1 - d2 if j == x else Fraction(0))
                chance *= on if bit else 1 - on
            z = frozenset(j for j, bit in enumerate(bits) if bit)
            assert (made.probability(x, z).rational if z in made.outputs else 0) == chance


def test_other_constants_would_not_do() -> None:
    """Broken variants: a record that is not sensitive gives itself away more often, at the cost of a sensitive output."""
    rows = {x: dict(urr(1, RECORDS, sick).row(x)) for x in RECORDS}
    rows["well"]["well"] += Fraction(1, 10**9)
    rows["well"]["flu"] -= Fraction(1, 10**9)
    assert not lw.verify(FiniteMechanism.from_rows(rows), ProtectedOutputs(1, sick))
    rows = {x: dict(urap(1, RECORDS, sick).row(x)) for x in RECORDS}
    rows["well"] = urap("1.000000001", RECORDS, sick).row("well")
    assert not lw.verify(FiniteMechanism.from_rows(rows), ProtectedOutputs(1, sick))


def test_what_is_refused() -> None:
    for made in (urr, urap):
        with pytest.raises(InputError, match="none of them sensitive"):
            made(1, RECORDS, lambda record: False)
        with pytest.raises(InputError, match="promises nothing"):
            made(inf, RECORDS, sick)
        with pytest.raises(InputError, match="is listed once"):
            made(1, (*RECORDS, "well", "flu"), sick)
    with pytest.raises(InputError, match="too large"):
        urap(1, range(20), lambda x: x < 17)
    assert len(urr(1, range(200), lambda x: x < 17).outputs) == 200


def test_an_output_that_no_record_gives_settles_nothing() -> None:
    """Found by an attack: where all others are invertible, a weight was divided by zero."""
    promise = ProtectedOutputs("1", lambda record: False)
    told = FiniteMechanism(("x", "y"), ("x", "y", "never"), [[1, 0, 0], [0, 1, 0]])
    without = FiniteMechanism(("x", "y"), ("x", "y"), [[1, 0], [0, 1]])
    assert lw.verify(told, promise).outcome == lw.verify(without, promise).outcome == "private"
    assert lw.verify(told, ProtectedOutputs("1", lambda record: False, ["never"])).outcome == "private"
    assert lw.verify(told, ProtectedOutputs("1", lambda record: False, [])).outcome == "not private"
    assert lw.verify(told, ProtectedOutputs("1", lambda record: True)).outcome == "not private"


@pytest.mark.parametrize("epsilon", ["0", "1/3", "2"])
def test_more_outputs_that_never_come_change_no_verdict(epsilon: str) -> None:
    """All matrices of three records with entries in halves: with columns of zeros, and without."""
    rows = [(2, 0), (1, 1), (0, 2)]
    for chosen in itertools.product(rows, repeat=3):
        halves = [[Fraction(part, 2) for part in row] for row in chosen]
        bare = FiniteMechanism("abc", "yz", halves)
        more = FiniteMechanism("abc", "nymzo", [[0, y, 0, z, 0] for y, z in halves])
        for hidden in ("", "a", "abc"):
            promise = ProtectedOutputs(epsilon, hidden.__contains__)
            with_zeros, plain = lw.verify(more, promise), lw.verify(bare, promise)
            assert (with_zeros.outcome, with_zeros.exact_scale) == (plain.outcome, plain.exact_scale)
