"""Attack: notions of a user's own that say one thing by their distance and another by their steps, or by their ε.

Whatever such a class says, nothing may be derived from it that is false: it is refused, or what is derived holds for the
distance. The expected numbers are worked out by hand beside each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.own_notions import After

import leeward as lw
from leeward.accounting import parts_touched
from leeward.accounting._budget_notion import budget_notion, charge
from leeward.errors import BudgetConflictError, InputError, LeewardError, NotPrivateError
from leeward.exact import ZERO, Real, exact, inf
from leeward.notion import INSERT, REPLACE, WITHDRAW, Change, Notion
from leeward.notion.compose import parallel

NUMBERS = (0, 1, 2)
WORDS = lw.BoundedDP.words
AT_LEAST_1 = lw.query.CountWhere((lambda x: x >= 1,), lw.query.Domain(records=NUMBERS))
AT_A = lw.query.CountWhere((lw.has("a"),))


def present(before: Any, after: Any) -> bool:
    return before is not None and after is not None


class Near(Notion):
    """ε for each unit that a number moves; one kind of change for all moves, and its cost the largest, as its name asks."""

    name, words = "near", WORDS

    def record(self, before: Any, after: Any) -> Real:
        if before == after:
            return ZERO
        return self.epsilon * abs(before - after) if present(before, after) else inf

    @property
    def changes(self) -> tuple[Change, ...]:
        return (Change("any", "a number becomes any other", present, records=NUMBERS),)

    def cost(self, change: Change) -> Real:
        return max(self.record(x, y) for x in NUMBERS for y in NUMBERS)


class Stepwise(Near):
    """The same, told rightly: single units are the steps."""

    @property
    def changes(self) -> tuple[Change, ...]:
        one = lambda b, a: present(b, a) and abs(b - a) <= 1  # noqa: E731
        return (Change("one", "a number moves by one", one, records=NUMBERS),)

    def cost(self, change: Change) -> Real:
        return self.epsilon


class Unbounded(After, notion=lw.UnboundedDP):
    """Unbounded DP, written by somebody else."""


class Half(Unbounded):
    """A stronger promise by its distance than by the price of its steps."""

    def record(self, before: Any, after: Any) -> Real:
        return super().record(before, after) / 2


class Dear(Unbounded):
    """The same distance, and steps at ten times the price."""

    def cost(self, change: Change) -> Real:
        return super().cost(change) * 10


class Hidden(Unbounded):
    """Addition-only, which protects replacing too and does not list it among its changes."""

    def record(self, before: Any, after: Any) -> Real:
        if present(before, after):
            return ZERO if before == after else self.epsilon
        return lw.AdditionOnly(self.epsilon).record(before, after)

    def cost(self, change: Change) -> Real:
        return lw.AdditionOnly(self.epsilon).cost(change)


class Whole(Unbounded):
    """ε for any two tables: two persons may change for the price of one."""

    def __call__(self, x: Any, y: Any) -> Real:
        return ZERO if x == y else self.epsilon


class Nothing(Notion):
    """Protects everything by its distance, and lists no change."""

    name, words, changes = "nothing", WORDS, ()

    def record(self, before: Any, after: Any) -> Real:
        return ZERO if before == after else self.epsilon

    def cost(self, change: Change) -> Real:
        return inf


class Stepless(Nothing):
    """The same of numbers alone, which no set of facts shows: to publish without noise was the advice."""

    def record(self, before: Any, after: Any) -> Real:
        known = before in NUMBERS and after in NUMBERS
        return ZERO if before == after else self.epsilon if known else inf


class TwoPrices(Notion):
    """A price for withdrawing and another for inserting, which do not follow ε."""

    name, words = "two prices", WORDS

    def __init__(self, out: Any, back: Any) -> None:
        self.out, self.back = exact(out), exact(back)
        super().__init__(max(self.out, self.back))

    def record(self, before: Any, after: Any) -> Real:
        if before == after:
            return ZERO
        return self.out if after is None else self.back if before is None else self.out + self.back

    def cost(self, change: Change) -> Real:
        return {WITHDRAW: self.out, INSERT: self.back, REPLACE: self.out + self.back}.get(change, inf)


class Scaled(TwoPrices):
    """The same, with the method that scales both."""

    def with_epsilon(self, epsilon: Any) -> Notion:
        factor = exact(epsilon) / self.epsilon
        return Scaled(self.out * factor, self.back * factor)


class Square(Unbounded):
    """Costs ε², so twice the promise is not the promise at twice the ε."""

    def record(self, before: Any, after: Any) -> Real:
        return super().record(before, after) * self.epsilon

    def cost(self, change: Change) -> Real:
        return super().cost(change) * self.epsilon


@pytest.mark.parametrize(
    ("made", "asked"),
    [
        (Near("1"), AT_LEAST_1),
        (Stepless("1"), AT_LEAST_1),
        *((kind("1"), AT_A) for kind in (Half, Dear, Hidden, Whole, Nothing)),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Notion) else "",
)
def test_steps_that_do_not_generate_the_distance_give_no_rate(made: Notion, asked: Any) -> None:
    """Near: 0 → 1 costs ε and moves the count by 1, so rate 2ε is false. Half: withdrawing costs ε/2. And so on."""
    for ask in (
        lambda: lw.sensitivity(made, asked),
        lambda: lw.query.sensitivity_each(made, asked),
        lambda: lw.sensitivity(lw.both_hold(made, lw.RemovalOnly("9")), asked),  # type: ignore[arg-type]
        lambda: lw.sensitivity(lw.Personalised(made, ["1", "2"]), asked),
        lambda: parallel(made, ["1", "1"], cut="record"),
    ):
        with pytest.raises(LeewardError) as told:
            ask()
        assert "without noise" not in str(told.value)
    if made.sums_over_persons:
        with pytest.raises(NotPrivateError, match=r"no chain of its changes|lists no `changes`"):
            parts_touched(made, cut="records", parts_per_unit=1)


def test_verifying_shows_that_the_rate_that_was_given_before_is_false() -> None:
    tables = lw.notion.all_tables(NUMBERS, 1)

    def counted(rate: str) -> Any:
        return lw.Geometric(lw.Line(rate, rate)).on(range(2)).pull_back(tables, lambda t: int(t[0] >= 1))

    assert not lw.verify(counted("2"), Near("1"))
    assert lw.verify(counted("1"), Near("1")).tight
    assert lw.sensitivity(Stepwise("1"), AT_LEAST_1).line == lw.Line(1, 1)
    assert lw.sensitivity(lw.Personalised(Stepwise("1"), ["1", "1/3"]), AT_LEAST_1).line == lw.Line("1/3", "1/3")


DATA = (None,), (frozenset("a"),)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: TwoPrices("1/2", "1/2").scale(2),
        lambda: budget_notion(TwoPrices("1/4", "1/4")),
        lambda: charge(TwoPrices("1/4", "1/4"), exact("1/4"), "dp/person"),
        lambda: lw.Personalised(TwoPrices("1", "1"), ["1", "1/10"]),
        lambda: parallel(TwoPrices("1", "1"), ["2", "1/2"], cut="person"),
        lambda: Square("2").scale(2),
        lambda: charge(Square("2"), exact(2), "dp/person"),
    ],
)
def test_a_multiple_of_what_does_not_follow_epsilon_is_refused(ask: Callable[[], object]) -> None:
    """A release of 1/4 in a budget of DP was charged 1/16; two prices of 1/2, scaled by 2, stayed 1/2."""
    with pytest.raises(InputError, match="with_epsilon"):
        ask()


class Forgets(TwoPrices):
    """A method that scales one of the prices."""

    def with_epsilon(self, epsilon: Any) -> Notion:
        return Forgets(epsilon, self.back)


class Stays(TwoPrices):
    """A method that scales nothing."""

    def with_epsilon(self, epsilon: Any) -> Notion:
        return self


class ForgetsWhatItWasGiven:
    with_epsilon = Forgets.__dict__["with_epsilon"].__wrapped__


class ForgetsByInheritance(ForgetsWhatItWasGiven, TwoPrices):
    """The same method, from a class that is no notion."""


@pytest.mark.parametrize("kind", [Forgets, Stays, ForgetsByInheritance])
def test_a_method_of_ones_own_that_scales_not_all_prices_is_refused(kind: Any) -> None:
    """Found: (1, 1) cost 1/2 in a budget of (2, 1), where the second price is the same; multiples kept that price too."""
    assert kind("1", "1").price_in(kind("2", "1")) == inf
    for ask in (
        lambda: kind("1/2", "1/2").scale(2),
        lambda: lw.Personalised(kind("1", "1"), ["1", "1/10"]),
        lambda: charge(kind("1/4", "1/4"), exact("1/4"), "dp/person"),
    ):
        with pytest.raises(InputError, match="with_epsilon"):
            ask()


def test_two_answers_add_up_all_the_same() -> None:
    for made, twice in ((TwoPrices("1/2", "1/2"), 1), (Scaled("1/2", "1/3"), "2/3"), (Square("2"), 8)):
        assert (made + made)(*DATA) == exact(twice)
    assert Square("2").price_in(Square("1")) == TwoPrices("1/2", "2").price_in(TwoPrices("1/4", "2")) == inf
    assert Scaled("1/2", "2").price_in(Scaled("1/4", "1")) == 2
    assert charge(Scaled("1/4", "1/4"), exact("1/4"), budget_notion(Scaled("3", "3"))) == exact("1/4").rational
    with pytest.raises(BudgetConflictError, match="does not list the same records"):
        charge(Scaled("1/4", "1/4"), exact("1/4"), "dp/person")
    assert Scaled("1/2", "1/3").scale(2)(*DATA) == exact("2/3")


def test_a_promise_that_is_personalised_is_not_personalised_again() -> None:
    once = lw.Personalised(lw.UnboundedDP("1"), ["1", "1/10"])
    with pytest.raises(InputError, match="has an ε already"):
        lw.Personalised(once, ["1", "1"])
    assert once.scale(3)((None, None), DATA[1] * 2) == exact("33/10")


class Mute:
    """Records, and a policy, whose text does not tell them apart."""

    def __init__(self, key: int) -> None:
        self.key = key

    def __call__(self, record: Any) -> bool:
        return bool(record == self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mute) and self.key == other.key

    def __hash__(self) -> int:
        return self.key

    def __repr__(self) -> str:
        return "Mute"


def test_two_promises_never_share_the_text_of_a_budget() -> None:
    first, second = (lw.ADP(1, [Mute(k)], records=[1, 2]) for k in (1, 2))
    assert first((1,), (2,)) != second((1,), (2,))
    assert budget_notion(first) != budget_notion(second)
    far = lw.distance.FiniteDistance([Mute(1), Mute(2)], [[0, 1], [5, 0]])
    for made in (lw.notion.RecordDistance(1, far), lw.OSDP(1, Mute(1), records=[Mute(1), Mute(2)])):
        with pytest.raises(InputError, match="no lasting form"):
            budget_notion(made)
    assert budget_notion(lw.OSDP(1, Mute(1), records=[1, 1, 2]))


class Lists(Notion):
    """A number is as far from others as is said; each kind of change lists only the records that it is about."""

    name, words = "lists", WORDS
    RIGHT = (((0, 1), 1), ((0, 2), 5))
    """The records of each kind of change, from the first of which it leads to the second, and its price."""

    def __init__(self, far: dict[tuple[int, int], int], allows: Callable[[Any, Any], bool] | None = None) -> None:
        self.far, self.allows = far, allows
        super().__init__(1)

    def record(self, before: Any, after: Any) -> Real:
        return ZERO if before == after else exact(self.far.get((before, after), inf))

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(
            Change(f"{pair}", "another number", self.allows or (lambda b, a, pair=pair: (b, a) == pair), records=pair)
            for pair, _ in self.RIGHT
        )

    def cost(self, change: Change) -> Real:
        return exact(next(price for pair, price in self.RIGHT if f"{pair}" == change.name))


AT_2 = lw.query.CountWhere((lambda x: x == 2,), lw.query.Domain(records=NUMBERS))


def test_kinds_of_change_that_list_different_records_are_compared_on_all_of_them() -> None:
    """Found: compared on those of the first alone, so that noise for a step of 5 served a distance of 1."""
    assert lw.sensitivity(Lists({(0, 1): 1, (0, 2): 5}), AT_2).line.rise == 5
    with pytest.raises(NotPrivateError, match="from 0 to 2 is 1"):
        lw.sensitivity(Lists({(0, 1): 1, (0, 2): 1}), AT_2)
    with pytest.raises(NotPrivateError, match="from 1 to 2 is 1"):
        parts_touched(Lists({(0, 1): 1, (0, 2): 5, (1, 2): 1}), cut="records", parts_per_unit=1)


def test_a_change_is_no_step_between_records_that_it_does_not_list() -> None:
    """A query does not go through these, whatever the change allows."""
    rising = {(0, 1): 1, (0, 2): 5}
    assert lw.sensitivity(Lists(rising, lambda b, a: present(b, a) and b < a), AT_2).line.rise == 5
    with pytest.raises(NotPrivateError, match="from 1 to 2 is 5"):
        lw.sensitivity(Lists({**rising, (1, 2): 5}, lambda b, a: present(b, a) and b < a), AT_2)
