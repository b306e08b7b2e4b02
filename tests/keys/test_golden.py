"""Keys never move: a question asked today finds the answer that an earlier version stored, and nobody else's.

The golden file holds the keys of questions of every kind. Each test that guards it is shown a variant of the serialiser that
it must reject.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import pytest
from pydantic import BaseModel
from tests.keys import golden

from leeward import notion as notions
from leeward.accounting import _budget_notion
from leeward.cli import InputError
from leeward.exact import Real
from leeward.mechanism import Geometric, Sanitized
from leeward.notion import Notion, ValueGrid, _public_form
from leeward.notion._condition import AllOf, AnyOf, Has, Not, Where
from leeward.session import _question
from leeward.session._question import Question

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


SPEAKING = [Fraction, Real, ValueGrid, Geometric, Sanitized, Where, Has, Not, AllOf, AnyOf, golden.Zone, golden.Colour]


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


class Bare:
    """An object without a public form."""


@pytest.mark.parametrize(
    "parameter",
    [Bare(), lambda record: True, Bare, object(), 1j, [Bare()], {"a": Bare()}],
    ids=lambda given: type(given).__name__,
)
def test_what_has_no_public_form_is_refused(parameter: Any) -> None:
    with pytest.raises(InputError, match="no form that lasts"):
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
    class Alike(tuple):
        __slots__ = ()
        __eq__, __ne__ = object.__eq__, object.__ne__
        __hash__ = object.__hash__

    two = [Alike([1]), Alike([1])]
    with pytest.raises(InputError, match="does not tell them apart"):
        _public_form.parameters(notions.OSDP("1", lambda record: True, records=two))
