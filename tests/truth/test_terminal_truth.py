"""What `leeward release` prints of what was published is true, for every notion and mechanism."""

from __future__ import annotations

import functools
import re
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
from tests.truth.claims import Claims
from tests.truth.report_claims import is_wrong, means, of_whom, told
from tests.truth.test_report_truth import Shown, shown
from tests.truth.visits import worlds

from leeward._plain import probability
from leeward.cli._release import _sentence, _written
from leeward.cli._released import summary

CLAIMS = Claims()


@functools.cache
def shown_worlds() -> list[Shown]:
    return [shown(world) for world in worlds()[1::3]]


def printed(each: Shown, charged: str) -> list[str]:
    """The sentences of a release, one by one."""
    curator = SimpleNamespace(charged=charged, charged_delta="0")
    made: Any = SimpleNamespace(statement=each.release.statement, answers=each.release.answers, curator=curator)
    return re.split(r"(?<=\.) (?=[A-Z0-9])", _sentence(each.plan, summary(made)))


@CLAIMS.says(
    r"(?P<n>[\d,]+) of (?P<places>1 place|[\d,]+ places) (?P<verb>is|are) said to be (?P<state>safe|dangerous)"
    r" \((?P<limit>nobody|at (most|least) (1 person|[\d,]+ people))"
    r"(?P<bounded> counted after the bound on places per person| of all who were there)?\), "
    r"(?P<trust>never wrongly|each wrongly with probability at most (?P<alpha>[\d/]+))\."
)
def _(
    world: Any,
    n: str,
    places: str,
    verb: str,
    state: str,
    limit: str,
    bounded: str | None,
    trust: str,
    alpha: str | None,
) -> bool:
    wrong = is_wrong(world, state)
    top, _, bottom = (alpha or "0").partition("/")
    return (
        told(n) == world.of(state)
        and places == ("1 place" if (listed := world.shown.num_rows) == 1 else f"{listed:,} places")
        and (verb == "is") == (n == "1")
        and means(world, state, limit + of_whom(world))
        and bool(bounded) == bool(of_whom(world))
        and (bounded == " of all who were there") == (of_whom(world) == " of all who were there")
        and (wrong == 0 if alpha is None else 0 < wrong <= int(top) / int(bottom or 1) * (1 + 1e-9))
    )


@CLAIMS.says(r"(?P<n>[\d,]+) (?P<were>was|were) answered before the stop\.")
def _(world: Any, n: str, were: str) -> bool:
    return world.stops is not None and told(n) == world.answered and (were == "was") == (told(n) == 1)


@CLAIMS.says(r"Charged (?P<price>[\d/]+)\.", r"It was paid for before: charged (?P<price>nothing)\.")
def _(world: Any, price: str) -> bool:
    return price == "nothing" or price == str(world.price)


@pytest.mark.parametrize("part", range(4))
def test_every_sentence_of_the_terminal_is_true(part: int) -> None:
    for each in shown_worlds()[part::4]:
        sentences = printed(each, str(each.price))
        assert "before" not in sentences[-1]
        CLAIMS.check_all(sentences, each)
        assert printed(each, "0")[:-1] == sentences[:-1]
        assert printed(each, "0")[-1] == "It was paid for before: charged nothing."


def test_every_sentence_of_the_terminal_could_be_false() -> None:
    every = list(dict.fromkeys(text for each in shown_worlds() for text in printed(each, str(each.price))))
    assert CLAIMS.met([*every, "It was paid for before: charged nothing."]) == {
        claim.pattern.pattern for claim in CLAIMS.claims
    }
    one_of_each = {re.sub(r"[\d,/]+", "n", text): text for text in every}
    assert CLAIMS.never_false(one_of_each.values(), shown_worlds()) == []
    assert len(one_of_each) > 8


@pytest.mark.parametrize("number", [12360848.5, -0.1, 123456789012.5, 1 / 3, 2.0**60, 1e-7, 0.0])
def test_a_published_number_is_printed_with_all_its_digits(number: float) -> None:
    """Found by an attack: a sum was printed in six digits, off by more than its error."""
    assert float(_written("value", number)) == number
    assert number <= float(_written("within_95_percent", number)) <= number + abs(number) / 100


def test_only_what_is_certain_reads_as_certain() -> None:
    almost = Fraction(10**9 - 1, 10**9)
    assert [probability(chance, 6) for chance in (almost, Fraction(1), Fraction(1, 2))] == ["0.999999", "1", "0.5"]
