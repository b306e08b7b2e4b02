"""Each conversion holds for the worst mechanisms there are, in exact fractions, and fails for them at any smaller ε."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from tests.grid.notions import ROWS
from tests.oracle.witness import is_private, product, risk, witnesses

from leeward.distance import FiniteDistance, both_hold
from leeward.errors import InputError
from leeward.exact import Weight, exp, log
from leeward.exact._weight import weight
from leeward.notion import (
    ABSENT,
    ADP,
    OSDP,
    AdditionOnly,
    BoundedDP,
    RemovalOnly,
    ReplaceDP,
    UnboundedDP,
    all_tables,
    has,
)
from leeward.notion.convert import (
    adp_to_osdp,
    bounded_to_adp,
    narrower_reading,
    one_sided_to_unbounded,
    other_side,
    replace_to_unbounded,
    unbounded_to_adp,
    unbounded_to_bounded,
    unbounded_to_one_sided,
    unbounded_to_replace,
)

LN2 = log(2)
RECORDS = ["s", "t", "n", "m"]


def harmless(record: Any) -> bool:
    return record in {"n", "m"}


def doublings(distance: FiniteDistance[Any]) -> Callable[[Any, Any], Any]:
    """D in units of ln 2, as an integer or ∞."""

    def count(x: Any, y: Any) -> Any:
        d = distance(x, y)
        return math.inf if d.is_infinite else (d / LN2).rational

    return count


ONE = LN2  # ε of what is given: odds move by a factor 2
TWO = LN2 * 2

CONVERSIONS = {
    "bounded to adp": (BoundedDP(ONE), bounded_to_adp(BoundedDP(ONE), [harmless]), RECORDS),
    "unbounded to adp": (UnboundedDP(ONE), unbounded_to_adp(UnboundedDP(ONE), [harmless]), [*RECORDS, ABSENT]),
    "unbounded to bounded": (UnboundedDP(ONE), unbounded_to_bounded(UnboundedDP(ONE)), [*RECORDS[:2], ABSENT]),
    "unbounded to replace": (UnboundedDP(ONE), unbounded_to_replace(UnboundedDP(ONE)), [*RECORDS[:2], ABSENT]),
    "replace to unbounded": (ReplaceDP(ONE), replace_to_unbounded(ReplaceDP(ONE)), [*RECORDS[:2], ABSENT]),
    "unbounded to addition": (UnboundedDP(ONE), unbounded_to_one_sided(UnboundedDP(ONE))[0], [*RECORDS[:2], ABSENT]),
    "unbounded to removal": (UnboundedDP(ONE), unbounded_to_one_sided(UnboundedDP(ONE))[1], [*RECORDS[:2], ABSENT]),
    "adp to osdp": (ADP(TWO, [harmless], records=RECORDS), adp_to_osdp(ADP(TWO, [harmless], records=RECORDS)), RECORDS),
    "osdp, narrower": (OSDP(ONE, harmless), narrower_reading(OSDP(ONE, harmless)), RECORDS),
}

EXPECTED = {"unbounded to adp": TWO, "unbounded to bounded": TWO, "unbounded to replace": TWO, "adp to osdp": TWO}


@pytest.mark.parametrize("persons", [1, 2])
@pytest.mark.parametrize("name", CONVERSIONS)
def test_a_conversion_holds_for_the_worst_mechanisms_and_at_no_smaller_epsilon(name: str, persons: int) -> None:
    given, promised, records = CONVERSIONS[name]
    if persons == 2:
        records = records[-3:]
    tables = all_tables(records, persons)
    source, target = doublings(given.on(tables)), doublings(promised.on(tables))
    assert promised.epsilon == EXPECTED.get(name, ONE)
    mechanisms = [made for _, _, made in witnesses(tables, source)]
    assert mechanisms
    assert all(is_private(made, source) for made in mechanisms)
    assert all(is_private(made, target) for made in mechanisms)
    assert not all(is_private(made, target, within=Fraction(99, 100)) for made in mechanisms)


@pytest.mark.parametrize(
    ("given", "wanted", "records"),
    [
        (BoundedDP(ONE), UnboundedDP(ONE * 9), [*RECORDS[:2], ABSENT]),
        (OSDP(ONE, lambda r: not harmless(r)), ADP(ONE * 9, [harmless]), RECORDS),
        (OSDP(ONE, harmless, "non-sensitive"), OSDP(ONE * 9, harmless), RECORDS),
        (AdditionOnly(ONE), RemovalOnly(ONE * 9), ["s", ABSENT]),
        (AdditionOnly(ONE), UnboundedDP(ONE * 9), ["s", ABSENT]),
        (ADP(ONE, [harmless]), BoundedDP(ONE * 9), RECORDS),
    ],
)
def test_where_there_is_no_way_back_a_mechanism_shows_it(given: Any, wanted: Any, records: list[Any]) -> None:
    tables = all_tables(records, 1)
    source, target = doublings(given.on(tables)), doublings(wanted.on(tables))
    mechanisms = [made for _, _, made in witnesses(tables, source)]
    assert all(is_private(made, source) for made in mechanisms)
    assert not all(is_private(made, target) for made in mechanisms)


def test_the_printed_doubling_back_from_d_h_is_not_needed() -> None:
    """d-privacy, Section 3 doubles both ways: one way it is needed (2/1), the other way it is not (1/1)."""
    tables = all_tables([ABSENT, 0, 1], 2)
    d_r, d_h = UnboundedDP(1).on(tables), ReplaceDP(1).on(tables)
    assert d_r.price_in(d_h) == 2
    assert d_h.price_in(d_r) == 1


def test_one_output_with_both_promises_is_unbounded_dp_and_two_outputs_are_nothing() -> None:
    addition, removal = AdditionOnly(ONE), RemovalOnly(TWO)
    promised = one_sided_to_unbounded(addition, removal)
    assert promised == UnboundedDP(TWO)
    worlds = all_tables(["s", ABSENT], 1)
    add, rem, both = (doublings(n.on(worlds)) for n in (addition, removal, promised))
    rng = random.Random("both")
    kept = 0
    for _ in range(400):
        made = {x: dict(zip("xyz", cut(rng), strict=True)) for x in worlds}
        if is_private(made, add) and is_private(made, rem):
            kept += 1
            assert is_private(made, both)
    assert kept > 20
    # Two outputs, one private each way. From each witness, together with its mirror image:
    upward = {worlds[0]: {"in or out": Fraction(1)}, worlds[1]: {"in or out": Fraction(1, 2), "out": Fraction(1, 2)}}
    downward = {worlds[0]: {"in or out": Fraction(1, 4), "in": Fraction(3, 4)}, worlds[1]: {"in or out": Fraction(1)}}
    assert is_private(upward, add)
    assert is_private(downward, rem)
    together = product(upward, lambda _: downward)
    assert together[worlds[0]].get(("in or out", "in"), 0) > 0 == together[worlds[1]].get(("in or out", "in"), 0)
    assert together[worlds[1]].get(("out", "in or out"), 0) > 0 == together[worlds[0]].get(("out", "in or out"), 0)


def cut(rng: random.Random) -> list[Fraction]:
    """A random law on three outputs."""
    one, two = sorted(rng.randint(0, 12) for _ in range(2))
    return [Fraction(one, 12), Fraction(two - one, 12), Fraction(12 - two, 12)]


def least_delta(of: list[Fraction], under: list[Fraction], factor: Fraction) -> Fraction:
    """The least δ with Pr[K(of) ∈ T] ≤ factor·Pr[K(under) ∈ T] + δ for every set T of outputs, set by set."""
    sets = itertools.chain.from_iterable(itertools.combinations(range(3), size) for size in range(4))
    return max(sum((of[z] - factor * under[z] for z in chosen), start=Fraction(0)) for chosen in sets)


@pytest.mark.parametrize("factor", [2, 4, Fraction(3, 2), Fraction(1, 2)])
def test_removal_with_delta_is_addition_at_minus_epsilon(factor: Any) -> None:
    rng = random.Random("delta")
    epsilon = log(Fraction(factor))
    for _ in range(60):
        present, absent = cut(rng), cut(rng)
        removal = least_delta(absent, present, Fraction(factor))  # M(x') against M(x): removal
        rate, delta = other_side(epsilon, removal)
        assert rate == -epsilon
        assert delta == least_delta(present, absent, 1 / Fraction(factor))  # the least δ of the other side, exactly
        back_rate, back = other_side(rate, delta)
        assert back_rate == epsilon
        assert back == removal


def test_the_other_side_of_a_pure_promise() -> None:
    rate, delta = other_side("1")
    assert isinstance(delta, Weight)
    assert rate == -1
    assert delta == 1 - exp(-1)
    assert other_side("1", 1)[1] == 1
    for epsilon, chance in (("inf", 0), ("1", "1.5"), ("1", -1)):
        with pytest.raises(InputError):
            other_side(epsilon, chance)
    assert other_side("0", weight("1/3"))[1] == Fraction(1, 3)


# ---- the Remark in ADP, Section IV-B


def test_adp_and_osdp_mask_sensitivity_but_only_adp_hides_the_rest() -> None:
    rng = random.Random("risk")
    tables = all_tables(RECORDS, 1)
    adp, osdp = ADP(ONE, [harmless]), OSDP(ONE, lambda r: not harmless(r))
    priors = []
    for _ in range(30):
        parts = [rng.randint(0, 5) + 1 for _ in RECORDS]
        priors.append({(r,): Fraction(p, sum(parts)) for r, p in zip(RECORDS, parts, strict=True)})
    for notion in (adp, osdp):
        mechanisms = [made for _, _, made in witnesses(tables, doublings(notion.on(tables)))]
        risks = [risk(made, prior, lambda x: not harmless(x[0])) for made in mechanisms for prior in priors]
        assert max(risks) <= 2  # e^ε: nobody can be sure that a record is sensitive
        assert max(risks) > Fraction(3, 2)
    # who knows that the record is not sensitive: under ADP they learn at most e^ε about which one it is (IV.5) …
    among = {("n",): Fraction(1, 2), ("m",): Fraction(1, 2)}
    of_adp = [made for _, _, made in witnesses(tables, doublings(adp.on(tables)))]
    assert max(risk(made, among, lambda x: x == ("n",)) for made in of_adp) == 2
    # … under OSDP everything: half of the time a harmless record is published as it is
    half = Fraction(1, 2)
    leak = {(r,): ({r: half, "?": half} if harmless(r) else {"?": Fraction(1)}) for r in RECORDS}
    assert is_private(leak, doublings(osdp.on(tables)))
    assert not is_private(leak, doublings(adp.on(tables)))
    assert risk(leak, among, lambda x: x == ("n",)) == math.inf


def test_osdp_divides_records_once() -> None:
    with pytest.raises(InputError, match="several policies"):
        adp_to_osdp(ADP(1, [harmless, lambda r: True]))


THEOREMS: dict[str, Callable[[Any], Any]] = {
    "bounded_to_adp": lambda notion: bounded_to_adp(notion, [has("a")]),
    "unbounded_to_adp": lambda notion: unbounded_to_adp(notion, [has("a")]),
    "unbounded_to_bounded": unbounded_to_bounded,
    "unbounded_to_replace": unbounded_to_replace,
    "replace_to_unbounded": replace_to_unbounded,
    "unbounded_to_one_sided, addition": lambda notion: unbounded_to_one_sided(notion)[0],
    "unbounded_to_one_sided, removal": lambda notion: unbounded_to_one_sided(notion)[1],
    "one_sided_to_unbounded, addition": lambda notion: one_sided_to_unbounded(notion, RemovalOnly("1/100")),
    "one_sided_to_unbounded, removal": lambda notion: one_sided_to_unbounded(AdditionOnly("1/100"), notion),
    "adp_to_osdp": adp_to_osdp,
    "narrower_reading": narrower_reading,
}
OF_TWO = {
    "one_sided_to_unbounded, addition": (AdditionOnly, RemovalOnly("1/100")),
    "one_sided_to_unbounded, removal": (RemovalOnly, AdditionOnly("1/100")),
}
"""What both together promise needs the right notion in each place."""


@pytest.mark.parametrize("theorem", THEOREMS)
def test_a_conversion_of_another_notion_is_refused_or_true(theorem: str) -> None:
    """No conversion makes a promise of another notion's ε: what it gives costs no more than what it was given."""
    given, wrong = 0, []
    for row in ROWS:
        try:
            made = THEOREMS[theorem](row.notion)
        except InputError:
            continue
        given += 1
        if theorem in OF_TWO:
            kind, other = OF_TWO[theorem]
            true = isinstance(row.notion, kind) and both_hold(row.notion, other).price_in(made) <= 1
        else:
            true = row.notion.price_in(made) <= 1
        if not true:
            wrong.append(f"{row.notion} as {made}")
    assert given
    assert not wrong, "\n".join(wrong)
