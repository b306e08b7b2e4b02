"""Keys never move: a question asked today finds the answer that an earlier version stored, and nobody else's.

The golden file holds the keys of questions of every kind. Each test that guards it is shown a variant of the serialiser that
it must reject.
"""

from __future__ import annotations

import functools
import inspect
import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from enum import Flag
from fractions import Fraction
from typing import Any, Literal, get_args, get_origin
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from pydantic import BaseModel
from tests.keys import golden
from tests.spec.outcome import choices_of

import leeward as lw
from leeward import notion as notions
from leeward.accounting import _budget_notion
from leeward.accounting._budget_notion import budget_notion
from leeward.errors import InputError
from leeward.exact import Real
from leeward.mechanism import AdaptiveSanitized, Everyone, Geometric, Sanitized
from leeward.notion import Notion, ValueGrid, _public_form
from leeward.notion._condition import AllOf, AnyOf, Has, Not, Where
from leeward.notion._named import NAMED
from leeward.session import _question
from leeward.session._question import Question
from leeward.spec import Spec
from leeward.spec._notions import GRADED, NUMBER_NOTIONS

KNOWN = golden.known()


def moved(before: dict[str, str], now: dict[str, str]) -> list[str]:
    """Names whose text is no longer what it was, and names that are gone."""
    return [name for name, text in before.items() if now.get(name) != text]


def test_no_key_has_moved() -> None:
    assert moved(KNOWN["keys"], golden.keys()) == []
    assert moved(KNOWN["budgets"], golden.budgets()) == []


def test_every_question_has_a_golden_key() -> None:
    """A question that was added is written down by ``python -m tests.keys.golden``."""
    assert set(golden.keys()) == set(KNOWN["keys"])
    assert set(golden.budgets()) == set(KNOWN["budgets"])


def _rounded(number: Real) -> str:
    return str(float(number))


def _unsorted(value: Any, records: Any) -> Any:
    return {"set": [_public_form.public_form(each, records) for each in value]}


BROKEN: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "ε and rates as floats": lambda patch: patch.setattr(_question, "write", _rounded),
    "a name spelled otherwise": lambda patch: patch.setattr(_public_form, "public_name", lambda kind: str(kind)),
    "long parameters cut elsewhere": lambda patch: patch.setattr(_question, "_LONGEST", 16_000),
    "a budget's parameters cut elsewhere": lambda patch: patch.setattr(_budget_notion, "_LONGEST", 200),
    "windows as Python writes them": lambda patch: patch.setattr(
        _question, "span", lambda window: _question.Span(start=str(window.start), end=str(window.end))
    ),
    "a number as its text": lambda patch: patch.setattr(_public_form, "_number", lambda value: {"number": str(value)}),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_serialiser_that_writes_otherwise_is_noticed(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    BROKEN[broken](monkeypatch)
    assert moved(KNOWN["keys"], golden.keys()) or moved(KNOWN["budgets"], golden.budgets())


SPEAKING = [
    Fraction,
    Real,
    ValueGrid,
    Geometric,
    Sanitized,
    AdaptiveSanitized,
    Everyone,
    Where,
    Has,
    Not,
    AllOf,
    AnyOf,
    golden.Zone,
    golden.Colour,
]


def _mute(patch: pytest.MonkeyPatch) -> None:
    kinds = [kind for kind in vars(notions).values() if inspect.isclass(kind) and issubclass(kind, Notion)]
    for kind in [*SPEAKING, *kinds, golden.Own]:
        for name in ("__repr__", "__str__"):
            patch.setattr(kind, name, lambda _self: "something else", raising=False)


def test_no_key_is_made_from_a_repr_or_a_str(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every object that a question is made of says something else of itself now, and no key moves."""
    _mute(monkeypatch)
    assert str(Fraction(1, 2)) == repr(ValueGrid(0, 1)) == "something else"
    assert moved(KNOWN["keys"], golden.keys()) == []
    assert moved(KNOWN["budgets"], golden.budgets()) == []


def test_a_key_made_from_a_str_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_question, "write", str)
    assert str(Real({(1, ()): Fraction(1, 2)})) == "1/2"
    before = golden.keys()
    _mute(monkeypatch)
    assert moved(before, golden.keys())


def test_an_old_key_is_read_and_written_again_as_it_was() -> None:
    for name, text in KNOWN["keys"].items():
        assert Question.model_validate_json(text).canonical() == text, name


def test_no_two_golden_questions_share_a_key_by_chance() -> None:
    """Questions that share one are those that `tests.keys.test_promises` holds for equal: the base of several pairs."""
    own = [KNOWN["keys"][name] for name in golden.QUESTION]
    assert len(set(own)) == len(own)


def _facts(part: Any, path: str) -> Iterator[str]:
    """The path of each typed field that holds something."""
    if isinstance(part, BaseModel):
        for name in type(part).model_fields:
            value = getattr(part, name)
            yield from () if value in (None, {}, ()) else (f"{path}.{name}",)
            yield from _facts(value, f"{path}.{name}")
    elif isinstance(part, tuple):
        for each in part:
            yield from _facts(each, path)


def _fields(kind: Any, path: str) -> Iterator[str]:
    for model in _models(kind):
        for name, field in model.model_fields.items():
            yield f"{path}.{name}"
            yield from _fields(field.annotation, f"{path}.{name}")


def _models(kind: Any) -> Iterator[type[BaseModel]]:
    if inspect.isclass(kind) and issubclass(kind, BaseModel):
        yield kind
    for inner in getattr(kind, "__args__", ()):
        yield from _models(inner)


def test_every_field_of_a_key_is_in_the_golden_file() -> None:
    found = {path for text in KNOWN["keys"].values() for path in _facts(Question.model_validate_json(text), "key")}
    assert found == set(_fields(Question, "key"))
    assert "key.about.grid.h3" in found


def test_every_notion_is_in_the_golden_file() -> None:
    kinds = {name for name, kind in vars(notions).items() if inspect.isclass(kind) and issubclass(kind, Notion)}
    assert {name.partition(".")[0] for name in KNOWN["budgets"]} == kinds - {"Notion"}


def _words(kind: Any, path: str) -> Iterator[tuple[str, str]]:
    """Each word that a field of a key may be, where there are only so many."""
    for model in _models(kind):
        for name, field in model.model_fields.items():
            if get_origin(field.annotation) is Literal:
                yield from ((f"{path}.{name}", word) for word in get_args(field.annotation) if isinstance(word, str))
            yield from _words(field.annotation, f"{path}.{name}")


def _held(part: Any, path: str) -> Iterator[tuple[str, str]]:
    """Each text that a key holds, with where it stands."""
    if isinstance(part, Mapping):
        for name, value in part.items():
            yield from _held(value, f"{path}.{name}")
    elif isinstance(part, list):
        for each in part:
            yield from _held(each, path)
    elif isinstance(part, str):
        yield path, part


CHOICES = {
    "data.time_unit": "key.about.time_unit", "query.kind": "key.about.kind", "query.combine": "key.about.combine",
    "protect.if_more": "key.about.if_more", "protect.reading": "key.notion.parameters.reading",
    "publish.mechanism": "key.mechanisms.name", "query.mechanism": "key.mechanisms.name",
    "decide.about": "key.mechanisms.name",
}  # fmt: skip
"""The keys of a spec that are choices, and where the key of a question holds what was chosen."""

PERCENTILES = {
    ("key.about.kind", name): ("key.about.numeric.p", p) for name, p in (("min", "0"), ("median", "50"), ("max", "100"))
}
DRAWN_ALIKE = {
    ("key.about.kind", "standard deviation"): ("key.about.kind", "variance"),
    ("key.about.kind", "count"): ("key.about.kind", "histogram"),
}
WHOM = {
    ("key.mechanisms.name", about): ("key.mechanisms.name", name)
    for about, name in (("counted", "geometric"), ("everyone", "left out"))
}
NOT_ASKED = {"publish.what", "data.engine"}
"""What is shown of a stored answer, more of which is the same question; and what counts it, which changes no answer."""
NAMES = {("key.about.kind", which): ("key.mechanisms.which", which) for which in ("busiest", "quietest")}


def missing(keys: dict[str, str]) -> set[tuple[str, str]]:
    """Words that a question may be asked with and that stand in no key of these."""
    asked = {(CHOICES[name], word) for name, word in choices_of(Spec) if name not in NOT_ASKED and word != "auto"}
    asked = {{**PERCENTILES, **DRAWN_ALIKE, **NAMES, **WHOM}.get(choice, choice) for choice in asked} | set(
        _words(Question, "key")
    )
    asked |= {("key.notion.name", name) for name in {*NAMED, *GRADED, *(each.name for each in NUMBER_NOTIONS.values())}}
    return asked - {found for text in keys.values() for found in _held(json.loads(text), "key")}


def test_every_choice_is_in_the_golden_file() -> None:
    """But for `NOT_ASKED`."""
    assert missing(KNOWN["keys"]) == set()
    for where, word in (("key.about.kind", "mean"), ("key.about.if_more", "latest"), ("key.notion.name", "dp")):
        fewer = {name: text for name, text in KNOWN["keys"].items() if f'"{word}"' not in text}
        assert (where, word) in missing(fewer)


class Bare:
    """An object without a public form."""


@pytest.mark.parametrize(
    "parameter",
    [Bare(), lambda record: True, Bare, object(), 1j, [Bare()], {"a": Bare()}],
    ids=lambda given: type(given).__name__,
)
def test_what_has_no_public_form_is_refused(parameter: Any) -> None:
    with pytest.raises(InputError, match="no lasting form"):
        golden.decided(golden.visitors(places_per_person=1), golden.Own("1", parameter))


def test_a_text_that_no_file_can_hold_is_refused() -> None:
    with pytest.raises(InputError, match="cannot be written down"):
        golden.decided(golden.visitors(more={"person": "\ud800"}))


def test_what_a_user_s_own_dataclass_holds_beside_its_fields_is_told() -> None:
    hidden = golden.Zone("a", golden.date.min)
    object.__setattr__(hidden, "more", 2)
    forms = [_public_form.public_form(zone) for zone in (golden.Zone("a", golden.date.min), hidden)]
    assert forms[0] != forms[1]
    assert json.dumps(forms[1]).count("more") == 1


def test_records_of_one_form_are_refused() -> None:
    @dataclass(eq=False)
    class Alike:
        of: int

    two = [Alike(1), Alike(1)]
    with pytest.raises(InputError, match="what is public of them is the same"):
        _public_form.parameters(notions.OSDP("1", lambda record: True, records=two))


class Slot(notions.Notion):
    """A promise whose parameters are in slots, one of them under a private name."""

    __slots__ = ("__hidden", "k")
    name = "slot"
    words = notions.UnboundedDP.words

    def __init__(self, k: int, hidden: int = 0) -> None:
        self.k, self.__hidden = k, hidden
        super().__init__("1")

    def record(self, before: Any, after: Any) -> Any:
        return lw.inf

    def cost(self, change: Any) -> Any:
        return lw.inf


class SlotAgain(Slot):
    """Two slots of one name: the lower one covers the upper one."""

    __slots__ = ("k",)

    def __init__(self, k: int, upper: int) -> None:
        Slot.k.__set__(self, upper)  # type: ignore[attr-defined]
        super().__init__(k)


class Covered(Slot):
    """A slot that was covered by something else."""

    __slots__ = ("m",)


Covered.m = property(lambda self: 1)  # type: ignore[attr-defined]


class Keeps(Slot):
    """A promise that keeps an answer once it was asked for."""

    @functools.cached_property
    def far(self) -> int:
        return self.k * 2


class Upper:
    """A class whose slot a dataclass has beside its fields."""

    __slots__ = ("z",)


@dataclass
class Lower(Upper):
    """That dataclass."""

    x: int = 0


def _lower(z: int) -> Lower:
    made = Lower()
    made.z = z
    return made


def test_what_is_kept_in_slots_is_told() -> None:
    texts = [budget_notion(each) for each in (Slot(1), Slot(2), Slot(1, 2), Slot(2, 1))]
    assert len(set(texts)) == len(texts)
    forms = [_public_form.canonical(_public_form.public_form(_lower(z))) for z in (1, 2)]
    assert forms[0] != forms[1]
    with pytest.raises(InputError, match="no lasting form"):
        _public_form.parameters(Covered(1))
    with pytest.raises(InputError, match="no lasting form"):
        budget_notion(SlotAgain(1, 2))


def test_an_answer_that_a_notion_has_kept_is_no_parameter() -> None:
    one, two = Keeps(1), Keeps(1)
    assert one.far == 2
    assert budget_notion(one) == budget_notion(two)


def _derived(kind: type, *given: Any) -> Any:
    made = type("Derived", (kind,), {})(*given)
    made.k = 1
    return made


def _itself() -> list[Any]:
    made: list[Any] = []
    made.append(made)
    return made


class Nowhere(tzinfo):
    """A zone that never says its offset."""

    def utcoffset(self, _: Any) -> None:
        return None


class Flags(Flag):
    """Flags, of which none has no name."""

    A = 1


WITHOUT: dict[str, Any] = {
    **{
        kind.__name__: _derived(kind, kind())
        for kind in (list, tuple, dict, set, frozenset, str, bytes, int, float, Fraction)
    },
    "Decimal": _derived(Decimal, "1"),
    "defaultdict": defaultdict(int),
    "a day of a class of its own": pd.Timestamp("2026-01-01"),
    "a moment of NumPy": np.datetime64("2026-01-01T00:00:00", "ns"),
    "no flag": Flags(0),
    "a signalling NaN": Decimal("sNaN"),
    "too many digits": 10**5000,
    "a Decimal of too many digits": Decimal("1e1000000"),
    "no such day in UTC": datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-9))),
    "a time of a zone without a name": time(1, tzinfo=Nowhere()),
}


@pytest.mark.parametrize("name", WITHOUT)
def test_what_may_hold_more_than_its_form_tells_is_refused(name: str) -> None:
    for given in (WITHOUT[name], [WITHOUT[name]], {"a": WITHOUT[name]}):
        with pytest.raises(InputError, match="no lasting form"):
            _public_form.public_form(given)


def test_what_holds_itself_is_refused() -> None:
    with pytest.raises(InputError, match="contains itself"):
        _public_form.public_form(_itself())


def test_values_that_differ_have_forms_that_differ() -> None:
    there = [Decimal("1e400"), Decimal("1e500"), 10**400, 10**400 + 1, Decimal("inf"), -math.inf, math.nan, "inf"]
    zones = [
        time(1),
        time(1, tzinfo=ZoneInfo("Asia/Tokyo")),
        time(1, tzinfo=ZoneInfo("Europe/Berlin")),
        time(1, tzinfo=UTC),
    ]
    one = [_public_form.canonical(_public_form.public_form(each)) for each in (*there[:2], *there[3:], *zones)]
    assert len(set(one)) == len(one)
    assert _public_form.public_form(Decimal("1e400")) == _public_form.public_form(10**400)
