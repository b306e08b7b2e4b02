# SPDX-License-Identifier: Apache-2.0
"""What a notion is made of, as plain JSON: the form by which budgets and stored answers identify promises, for ever.

Nothing here comes from the ``repr`` or the ``str`` of an object, which change with its library. Equal values have one form,
and values that differ have different forms: a number is ``{"number": "1/2"}`` and a text is ``"1/2"``. What has no such
form (a function, an array, an object of a class that is not a dataclass) is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType, MemberDescriptorType
from typing import Any, Final, TypeAlias
from zoneinfo import ZoneInfo

import numpy as np

from leeward._plain import echo, own_decimals
from leeward._taught import is_ours
from leeward.distance import FiniteDistance
from leeward.errors import InputError
from leeward.exact._real import Real, exact, plainly
from leeward.exact._text import write
from leeward.notion._notion import Notion
from leeward.notion._value_grid import ValueGrid

PublicForm: TypeAlias = Any
"""What JSON holds: None, texts, whole numbers, lists and dicts of such."""

_IN_PYTHON: Final = 1 << 9
"""The flag of classes that a ``class`` statement makes; what others hold is not listed anywhere."""

_Writer: TypeAlias = Callable[[Any, tuple[Any, ...] | None], PublicForm]


def public_name(kind: type) -> str:
    """Return the name of a class: of Leeward's the plain one, which stays when a module moves; of a user's in full."""
    return kind.__name__ if is_ours(kind) else f"{kind.__module__}.{kind.__qualname__}"


def parameters(notion: Notion, left_out: frozenset[str] = frozenset()) -> dict[str, PublicForm]:
    """Return all that a notion was made of, by name."""
    records = getattr(notion, "records", None)
    _told_apart(records or ())
    hidden = {"words", "per_person"} | left_out  # both follow from the rest
    held = _held(notion)
    return {name: public_form(value, records) for name, value in sorted(held.items()) if name not in hidden}


def canonical(form: PublicForm) -> str:
    """Return the one text of a form."""
    return json.dumps(form, sort_keys=True, ensure_ascii=False)


def public_form(value: object, records: tuple[Any, ...] | None = None) -> PublicForm:
    """Return the form of a value.

    Args:
        value: what a notion was made of.
        records: all records there are, where they are listed: a function is then what it says of each of them.
    """
    try:
        return _form(value, records)
    except RecursionError:
        raise InputError(
            "A notion made with an object that contains itself, or is nested too deeply",
            "it has no form that could be written down",
            "Give numbers, texts, dates, tuples, sets, and dataclasses of such",
        ) from None


def _form(value: object, records: tuple[Any, ...] | None) -> PublicForm:
    if not isinstance(value, np.datetime64 | np.timedelta64):  # of which NumPy makes whole numbers
        value = plainly(value)
    if _is_named_tuple(value):
        value = tuple(value)  # type: ignore[arg-type]
    if isinstance(value, Enum) and isinstance(value, type(value.value)) and value == value.value:
        return public_form(value.value, records)  # of an IntEnum, say: its members are equal to numbers
    if isinstance(value, Enum) and value.name is not None:
        return {"class": public_name(type(value)), "member": value.name}
    for kinds, form in _FORMS:
        if type(value) in kinds:
            return form(value, records)
    for kind, form in _OF_OURS:
        if isinstance(value, kind) and is_ours(type(value)):
            return form(value, records)
    if isinstance(value, Notion):
        return _nested(value)
    if callable(value) and records is not None and not is_ours(type(value)):
        return {"holds": [int(bool(value(record))) for record in records]}
    if is_dataclass(value) and not isinstance(value, type):
        parts = {name: public_form(part, records) for name, part in _parts(value).items()}
        return {"class": public_name(type(value)), "fields": parts}
    raise _formless(value)


def _is_named_tuple(value: object) -> bool:
    """Whether a value is a tuple whose places have names: it holds nothing else, and equals the tuple."""
    kind = type(value)
    plain = kind.__bases__ == (tuple,) and kind.__eq__ is tuple.__eq__ and kind.__hash__ is tuple.__hash__
    return plain and hasattr(kind, "_fields") and not hasattr(value, "__dict__")


def _formless(value: object, said: str | None = None) -> InputError:
    return InputError(
        f"A notion made with {said or echo(value)}",
        "it has no lasting form of its own, so another notion could pass for this one",
        "Give conditions, or list all records; else numbers, texts, dates, tuples, sets, and dataclasses of such, none of a"
        " class derived from these",
    )


def _held(value: object) -> dict[str, object]:
    """All that an object holds of its own, in its ``__dict__`` and in slots, but not what it has kept of its answers."""
    kind = type(value)
    derived = {name for each in kind.__mro__ for name, what in vars(each).items() if isinstance(what, cached_property)}
    held = {name: what for name, what in getattr(value, "__dict__", {}).items() if name not in derived}
    for each in kind.__mro__[:-1]:
        if is_ours(each):
            continue
        slots = {n: d for n, d in vars(each).items() if isinstance(d, MemberDescriptorType) and d.__objclass__ is each}
        given = vars(each).get("__slots__", ())
        names = {given} if isinstance(given, str) else set(given)
        if not each.__flags__ & _IN_PYTHON or len(slots) < len(names - {"__dict__", "__weakref__"}):
            raise _formless(value)  # a list, say, or a slot that was covered
        if slots.keys() & held.keys():  # of two slots of one name a copy has one
            raise _formless(value)
        for name, slot in slots.items():
            with suppress(AttributeError):  # an empty one
                held[name] = slot.__get__(value)
    return held


def _parts(value: Any) -> dict[str, object]:
    """All that a dataclass holds: its fields, and what else a user's own class has put in it."""
    kind = type(value)
    held = {} if is_ours(kind) else _held(value)
    named = {each.name: getattr(value, each.name) for each in fields(value)}
    return {**held, **named}


@own_decimals()
def _number(value: Any) -> PublicForm:
    """One form for 1, 1.0, True and Fraction(1), which are one value."""
    if isinstance(value, Real):
        return {"number": write(value)}
    try:
        if isinstance(value, float | Decimal) and not Decimal(value).is_finite():
            return {"number": "nan" if value != value else "inf" if value > 0 else "-inf"}
        return {"number": write(exact(Fraction(value)))}
    except (ArithmeticError, ValueError):  # a signalling NaN; more digits than Python writes
        raise _formless(value, "a number of very many digits, or none") from None


def _moment(value: Any) -> PublicForm:
    kind, zone = type(value).__name__, getattr(value, "tzinfo", None)
    if zone is None:
        return {kind: value.isoformat()}
    if value.utcoffset() is None:  # a time of a zone whose offset depends on the day
        if not isinstance(zone, ZoneInfo) or zone.key is None:
            raise _formless(value)
        return {kind: value.isoformat(), "zone": zone.key}
    try:
        return {kind: (value.astimezone(UTC) if isinstance(value, datetime) else value).isoformat()}
    except OverflowError:  # UTC has no such day
        raise _formless(value) from None


def _set(value: Iterable[object], records: tuple[Any, ...] | None) -> PublicForm:
    return {"set": sorted((public_form(each, records) for each in value), key=canonical)}


def _mapping(value: Mapping[Any, object], records: tuple[Any, ...] | None) -> PublicForm:
    pairs = [[public_form(key), public_form(each, records)] for key, each in value.items()]
    return {"map": sorted(pairs, key=canonical)}


def _distance(value: FiniteDistance[Any]) -> PublicForm:
    rows = [[write(value.values[code]) for code in row] for row in value.codes.tolist()]
    return {"points": _told_apart(value.points), "distances": rows}


def _grid(value: ValueGrid) -> PublicForm:
    return {name: write(exact(getattr(value, name))) for name in ("lower", "upper", "step")}


def _nested(value: Notion) -> PublicForm:
    own = {} if is_ours(type(value)) else {"class": public_name(type(value))}
    return {"notion": value.name, **own, "parameters": parameters(value)}


_FORMS: tuple[tuple[tuple[type, ...], _Writer], ...] = (
    ((type(None),), lambda _none, _records: None),
    ((str,), lambda value, _records: value),
    ((bytes,), lambda value, _records: {"bytes": value.hex()}),
    ((bool, int, float, Fraction, Decimal), lambda value, _records: _number(value)),
    ((date, time, datetime), lambda value, _records: _moment(value)),
    ((tuple, list), lambda value, records: [public_form(each, records) for each in value]),
    ((frozenset, set), _set),
    ((dict, MappingProxyType), _mapping),
)
"""By exact types: an object of a class derived from these may hold more."""

_OF_OURS: tuple[tuple[type, _Writer], ...] = (
    (Real, lambda value, _records: _number(value)),
    (FiniteDistance, lambda value, _records: _distance(value)),
    (ValueGrid, lambda value, _records: _grid(value)),
)


def _told_apart(points: Iterable[object]) -> list[PublicForm]:
    """Return the forms of records or other points, each one of its own.

    Raises:
        InputError: two of them have one form, because then another notion could pass for this one.
    """
    forms = []
    known: dict[str, object] = {}
    for point in points:
        form = public_form(point)
        if known.setdefault(canonical(form), point) != point:
            raise InputError(
                f"A notion about several records that all read {echo(point)}",
                "what is public of them is the same, so another notion could pass for this one",
                "Give each a text or a number of its own, or make their class a dataclass whose fields say which one it is",
            )
        forms.append(form)
    return forms
