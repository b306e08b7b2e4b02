# SPDX-License-Identifier: Apache-2.0
"""Which row of a comparison to take, and why: a rule that is stated, not a taste.

* Only what `leeward.release` carries out is recommended: nothing that it refuses as useless, and never the subsampled
  count.
* The side that the notion asked for protects stays protected, at no more than its price: the row must cost at most as much
  in that notion as the plan as written would.
* The budget can pay for all planned releases; those that have their answer already, as written, cost nothing.
* Where nothing was granted to be wrong, nothing is.
* Among these, the row with the most right words about the places that are safe (or dangerous): of the counts given, or if
  nobody were anywhere. Of equals, where counts are published, the one whose counts are nearer; then the one whose notion
  implies more of the others; then the one asked for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from leeward._displayed import Displayed
from leeward._plain import at_most, counted, echo, short_percent
from leeward._taught import taught
from leeward.accounting._budget_notion import in_words
from leeward.accounting._price_between_units import priced
from leeward.errors import RAISE_CAP, BudgetConflictError, InputError, LowUtilityError, UndecidedError
from leeward.exact._real import Exact, Real, exact, whole
from leeward.exact._weight import Weight
from leeward.notion import INSERT, Notion, PrivacyDescription, UnboundedDP, words_of
from leeward.planner._advice import cautions
from leeward.planner._compare import Asked, Comparison
from leeward.planner._option import Option
from leeward.planner._people import a, empty, people
from leeward.planner._useless import refuse_useless
from leeward.query import CountVisitors

_EQUAL = 1e-9

_NEAR = 0.9
"""What is certain of everyone who was there is recommended if it gives at least this share of the right words."""


@dataclass(frozen=True)
class Recommendation(Displayed):
    """What to take.

    Attributes:
        option: the row; None if no row will do.
        reason: why, in sentences.
        cautions: what must be known before it is chosen.
        gives_up: for each other row that would say more: what it would give up.
        plain_dp: whether plain differential privacy is enough here, in a sentence.
        plain_dp_is_enough: the same as a yes or no; None where it was not compared.
        whom: whom *safe* is about, those counted or everyone who was there, and what the other would cost; empty where
            nobody is left out.
    """

    option: Option | None
    reason: str
    cautions: tuple[str, ...]
    gives_up: tuple[tuple[Option, str], ...]
    plain_dp: str
    plain_dp_is_enough: bool | None
    whom: str = ""

    def __str__(self) -> str:
        lines = [self.reason if self.option is None else f"{self.option}\n{self.reason}", *self.cautions]
        more = [self.whom] if self.whom else []
        return "\n".join([*lines, *more, *(f"{option}: {what}" for option, what in self.gives_up), self.plain_dp])


@taught
def recommend(compared: Comparison, *, count: int = 0, probability: Exact = "0.9") -> Recommendation:
    """Choose among the rows of a comparison.

    Args:
        compared: from `leeward.compare`.
        count: for "is plain DP enough?": places with so many people …
        probability: … must be called safe so often.

    Raises:
        InputError: if the count is below 0, or the probability is not above 0 and at most 1.
    """
    count, wished = whole(count, "count", 0), exact(probability)
    if not 0 < wished <= 1:
        raise InputError(
            f"probability = {echo(probability)}", "it is how often places are to be called safe", 'Give "0.9"'
        )
    asked = compared.asked
    allowed = compared.as_written.price if compared.as_written else asked.notion.epsilon
    kept = [o for o in compared.possible if o.releasable and o.in_asked * asked.notion.epsilon <= allowed]
    eligible = [o for o in kept if _payable(o, compared) and not _wrong_anew(o, compared) and _of_whom(o, asked)]
    useful = [o for o in eligible if _useful(o, asked)]
    chosen = max(useful, key=lambda o: _rank(o, useful, asked), default=None)
    enough, sentence = _plain_dp(compared, count, probability)
    return Recommendation(
        chosen,
        _none(compared, kept, eligible) if chosen is None else _reason(chosen, compared, eligible),
        () if chosen is None else _cautions(chosen, asked),
        tuple(_gives_up(compared, chosen, eligible, allowed)),
        sentence,
        enough,
        _whom(chosen, compared),
    )


def right_words(option: Option, asked: Asked) -> float:
    """Return how many right words are to be expected: safe places called safe and dangerous ones called dangerous.

    Of the counts given; without counts, if nobody were anywhere (or T people everywhere, where only danger is decided).
    """
    size = asked.scenario.size
    if option.expected is not None:
        return option.expected.safe + option.expected.dangerous
    if (safe := option.probability_safe(0)) is not None:
        # whether a place is reached hangs on those before it, and its own noise is drawn afresh
        reached = option.answered(size)
        return (size if reached is None else reached) * float(safe)
    least = asked.dangerous_at_least or 1
    return size * float(option.probability_dangerous(least) or 0)


def _useful(option: Option, asked: Asked) -> bool:
    """Whether `leeward.release` would carry it out, and not refuse it as useless."""
    if option.plan is None:
        return False
    try:
        refuse_useless(option.plan, asked.scenario.places)
    except LowUtilityError:
        return False
    return True


def _payable(option: Option, compared: Comparison) -> bool:
    """Whether the budget covers the notion, and what is left of it all planned releases."""
    left, total = compared.asked.scenario.left, _total(option, compared)
    return total is not None and (left is None or total <= left)


def _total(option: Option, compared: Comparison) -> Fraction | None:
    """What all planned releases cost the budget, which pays for no stored answer again; None where it covers none."""
    more = compared.asked.scenario
    known = more.answered if option.plan is compared.as_written else 0
    return None if option.in_budget is None else option.in_budget * max(more.releases - known, 0)


def _wrong_anew(option: Option, compared: Comparison) -> tuple[str, ...]:
    """Return which words the option can get wrong, where as asked they never would be."""
    asked, written = compared.asked, compared.as_written
    if written is not None:
        own = written.decisions
    else:  # as one would be with the error that is missing; a notion that cannot be had at all grants nothing
        rows = [o.decisions for o in compared.possible if o.notion == asked.notion and o.decisions is not None]
        if not rows:
            return ("safe",) if asked.error_at_most is None and not option.never_wrong else ()
        own = rows[0]
    assert option.decisions is not None
    pairs = {"safe": (own.safe, option.decisions.safe), "dangerous": (own.dangerous, option.decisions.dangerous)}
    return tuple(
        word for word, (mine, theirs) in pairs.items() if mine and theirs and mine.never_wrong > theirs.never_wrong
    )


def _rank(option: Option, eligible: list[Option], asked: Asked) -> tuple[float, bool, float, int, bool]:
    words = right_words(option, asked)
    best = max(right_words(o, asked) for o in eligible)
    certain = asked.leaves_out and option.of_everyone and words >= best * _NEAR
    level = best if certain or words >= best * (1 - _EQUAL) else words
    far = option.errors.most if asked.what == "counts" and option.errors is not None else 0
    protects = sum(implies(option.notion, o.notion) for o in eligible)
    return level, certain, -far, protects, option.notion == asked.notion


def _of_whom(option: Option, asked: Asked) -> bool:
    """Whether it is about everyone who was there, where that is asked for."""
    return option.of_everyone or not asked.of_everyone


def _whom(chosen: Option | None, compared: Comparison) -> str:
    """Say whom *safe* is about, how often it would be said of the others, and at which ε as often."""
    asked = compared.asked
    if chosen is None or not asked.leaves_out or chosen.mechanism not in ("geometric", "everyone"):
        return ""
    other = next(
        (
            o
            for o in compared.possible
            if o.notion == chosen.notion and {o.mechanism, chosen.mechanism} == {"geometric", "everyone"}
        ),
        None,
    )
    everyone = chosen.mechanism == "everyone"
    whom = "everyone who was there, whether counted or left out" if everyone else "those counted"
    said = f"'Safe' is about {whom}"
    if other is None or (chance := chosen.probability_safe(0)) is None:
        return f"{said}."
    theirs, as_often = other.probability_safe(0), other.epsilon_for(0, floor_of(chance))
    assert theirs is not None
    others = "those counted alone" if everyone else 'everyone who was there (about = "everyone")'
    empty_one = f"{a(asked.query.noun)} {empty(asked.query.noun, asked.query.many)}"
    guess = (chosen if everyone else other).plan
    most = 0 if guess is None else guess.left_out
    taken = f", if at most {people(most, asked.query.many)} are left out at any one place" if not everyone else ""
    cost = "no ε would be enough" if as_often is None else f"ε = {float(as_often.epsilon):g} would do"
    return (
        f"{said}. Of {others}, {empty_one} is called safe with probability {short_percent(theirs)} at this price{taken};"
        f" for {short_percent(chance)}, {cost}."
    )


def floor_of(chance: Weight) -> str:
    """Return a chance rounded down to six digits, as a text that is exact."""
    return f"{math.floor(float(chance) * 10**6)}/{10**6}"


def implies(notion: Notion, other: Notion) -> bool:
    """Return whether whatever keeps one notion keeps the other one too."""
    try:
        return priced(notion, other).cost <= 1
    except (BudgetConflictError, UndecidedError):  # about another unit, or undecided
        return False


def _reason(chosen: Option, compared: Comparison, eligible: list[Option]) -> str:
    asked, said = compared.asked, []
    size, noun, many = asked.scenario.size, asked.query.noun, asked.query.many
    all_empty = f"{people(0, many)} were above any level" if noun == "level" else f"all {noun}s were empty"
    if asked.scenario.counts is not None:
        said.append(f"Of the counts given, about {_number(right_words(chosen, asked))} {noun}s get a correct answer")
    elif (safe := chosen.probability_safe(0)) is not None:
        reached = chosen.answered(size)
        said.append(
            f"{a(noun).capitalize()} {empty(noun, many)} is called safe with probability {short_percent(safe)}"
            if reached is None
            else f"If {all_empty}, about {_number(right_words(chosen, asked))} of them would be called safe"
        )
    else:
        said.append(f"It calls dangerous {noun}s dangerous most often")
    rivals = [o for o in eligible if o is not chosen]
    if not rivals:
        said[0] += "; no other row keeps what is asked"
    elif all(right_words(o, asked) <= right_words(chosen, asked) * (1 + _EQUAL) for o in rivals):
        said[0] += "; no row that keeps what is asked does better at this price"
    if chosen.never_wrong:
        of_all = asked.leaves_out and chosen.of_everyone
        said.append("Its decisions are never wrong" + (", of everyone who was there" if of_all else ""))
    elif chosen.decisions is not None and (wrong := chosen.decisions.wrong_at_most):
        said.append(
            f"A word is wrong with probability at most {at_most(float(wrong), 4)} {a(noun)}: at most"
            f" {at_most(float(wrong * size), 3)} wrong answers are expected in {counted(size, noun)}"
        )
    if chosen.notion != asked.notion:
        more = implies(chosen.notion, asked.notion) and not implies(asked.notion, chosen.notion)
        also = f", and it protects more: {_words(chosen.notion, asked).protects}" if more else ""
        said.append(f"It keeps all that {asked.notion.name} protects{also}")
    return ". ".join(said) + "."


def _words(notion: Notion, asked: Asked) -> PrivacyDescription:
    return words_of(notion, rows=asked.query.of_rows)


def _none(compared: Comparison, kept: list[Option], eligible: list[Option]) -> str:
    left, releases = compared.asked.scenario.left, compared.asked.scenario.releases
    right = [o for o in kept if not _wrong_anew(o, compared)]
    prices = [total for o in right if (total := _total(o, compared)) is not None]
    if prices and left is not None and not compared.refusal and min(prices) > left:
        spent = "The budget is spent" if left <= 0 else f"Only {left} is left of the budget"
        less = "" if left <= 0 else f", or ask for a smaller epsilon, which costs at most {left}"
        return (
            f"{spent}: of the rows that keep what is asked, the cheapest costs {min(prices)}"
            + ("" if releases == 1 else f" for all {releases} releases")
            + f". {RAISE_CAP.capitalize()}{less}"
            + ("" if releases == 1 or left <= 0 else " in all, or for fewer releases")
            + f".{_monitored(right, compared)}"
        )
    said = "No row keeps what is asked at its price and can be paid from this budget"
    if any(option.plan is not None for option in eligible):  # none of them is useful
        said = (
            "Each row that keeps what is asked at its price, and can be paid from this budget, says practically nothing:"
            " without accept_useless it is refused"
        )
    return f"{said}. As written it is refused: {compared.refusal}" if compared.refusal else f"{said}."


def _monitored(options: list[Option], compared: Comparison) -> str:
    """Say that a monitor can pay for all windows where releases of them cannot: its stops are those of all windows."""
    more = compared.asked.scenario
    monitors = [o for o in options if o.mechanism == "sanitized" and o.plan is not None and o.plan.may_stop]
    prices = [
        o.in_budget for o in monitors if o.in_budget is not None and more.left is not None and o.in_budget <= more.left
    ]
    if more.releases == 1 or not prices or not isinstance(compared.asked.query, CountVisitors):
        return ""
    return (
        " Or let `leeward monitor` ask the windows, with the sanitized mechanism: it stops for good after stop_after places"
        f" that it cannot call safe, and costs at most {min(prices)} for all windows together."
    )


def _cautions(chosen: Option, asked: Asked) -> tuple[str, ...]:
    assert chosen.plan is not None
    above = None if chosen.plan.mechanism.stop_after is None else asked.safe_at_most
    looks = chosen.mechanism == "adaptive"
    said = cautions(
        chosen.notion,
        chosen.plan.mechanism.line,
        asked.scenario.releases,
        above=above,
        looks=looks,
        noun=asked.query.noun,
        many=asked.query.many,
    )
    one_sided = bool(said)
    if one_sided and asked.what == "decisions" and chosen.mechanism in ("geometric", "everyone"):
        said = said[1:]  # about published counts, and none are
    if one_sided and asked.scenario.releases == 1:
        said = tuple(s for s in said if not s.startswith("k releases"))
    if not one_sided and (reveals := _words(chosen.notion, asked).reveals):
        said += (f"Not protected: {reveals}.",)
    if {step.change for step in chosen.notion.steps} == {INSERT}:
        said += ("Removal-only alone is hardly a promise: take it only together with addition-only.",)
    if asked.query.truncates and not chosen.of_everyone:
        said += ("'Safe' is about the counts after people's places were cut to the bound.",)
    return said


def _gives_up(
    compared: Comparison, chosen: Option | None, eligible: list[Option], allowed: Real
) -> list[tuple[Option, str]]:
    """What would say more, or is cheaper than it seems, and what it lacks."""
    asked, found = compared.asked, []
    words = 0.0 if chosen is None else right_words(chosen, asked)
    for option in compared.possible:
        if any(option is o for o in eligible) or not option.releasable:
            continue
        if right_words(option, asked) <= words * (1 + _EQUAL):
            continue
        lacks = []
        if not _payable(option, compared):
            all_of = "it" if asked.scenario.releases == 1 else f"{asked.scenario.releases} of it"
            lacks.append(f"this budget, counted in {in_words(asked.counted_in)}, does not pay for {all_of}")
        if option.in_asked.is_infinite:
            lacks.append(
                f"it does not protect all that {asked.notion.name} protects: {_words(asked.notion, asked).protects}"
            )
        elif option.in_asked * asked.notion.epsilon > allowed:
            lacks.append(f"it costs {option.in_asked} times as much, in {asked.notion.name}")
        lacks += [f"'{word}' can be wrong" for word in _wrong_anew(option, compared)]
        if not _of_whom(option, asked):
            lacks.append("'safe' is about those counted, and not about everyone who was there")
        found.append((option, "; ".join(lacks)))
    return found


def _plain_dp(compared: Comparison, count: int, probability: Exact) -> tuple[bool | None, str]:
    asked = compared.asked
    plain = next(
        (o for o in compared.options if isinstance(o.notion, UnboundedDP) and o.mechanism == "geometric"), None
    )
    if plain is None:
        return None, "Plain differential privacy was not compared: it needs places_per_person."
    if asked.safe_at_most is None:
        return None, "Plain differential privacy is among the rows. Whether it is enough is worked out for 'safe' only."
    if asked.of_everyone:
        return False, "No: under plain differential privacy nothing is certain of everyone who was there."
    wish = f"{share(str(exact(probability)))} of the {asked.query.noun}s with {people(count, asked.query.many)}"
    if plain.refused:
        return False, f"No: under plain differential privacy it is refused. {plain.refused}"
    chance, alpha = plain.probability_safe(count), plain.error_at_most
    assert chance is not None
    assert alpha is not None
    enough = chance >= exact(probability)
    wrong = f"if a wrong 'safe' with probability {at_most(float(alpha), 6)} {a(asked.query.noun)} is acceptable"
    at = f"plain differential privacy at ε = {float(plain.notion.epsilon):g} calls {short_percent(chance)} of them safe"
    if enough:
        return True, f"Yes, {wrong}: asked for {wish}, {at}, and it protects absence as well as presence."
    needed = plain.epsilon_for(count, probability)
    more = "no ε would be enough" if needed is None else f"it would take ε = {float(needed.epsilon):g}"
    return False, f"No, even {wrong}: asked for {wish}, {at}; {more}. It can be wrong at any finite ε."


def share(probability: str) -> str:
    """Return a probability that was asked for in percent, with all its digits: 99.999999 % are not 100 %."""
    asked = Fraction(probability) * 100
    written = f"{float(asked):.15g}"
    return f"{written} %" if Fraction(written) == asked else f"{float(asked):.6g} % ({probability})"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"
