"""What a notion is made of, as plain JSON: the form by which budgets and stored answers tell promises apart, for ever.

Nothing here comes from the ``repr`` or the ``str`` of an object, which change with its library. Equal values have one form,
and values that differ have different forms: a number is ``{"number": "1/2"}`` and a text is ``"1/2"``. What has no such
form (a function, an array, an object of a class that is not a dataclass) is refused.
"""

from __future__ import annotations

import functools
import json
import math
import numbers
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any, TypeAlias

from leeward._plain import told
from leeward.distance import FiniteDistance
from leeward.errors import InputError
from leeward.exact._real import Real, exact, plainly
from leeward.exact._text import write
from leeward.notion._notion import Notion, is_ours
from leeward.notion._value_grid import ValueGrid

PublicForm: TypeAlias = Any
"""What JSON holds: None, texts, whole numbers, lists and dicts of such."""

_Writer: TypeAlias = Callable[[Any, tuple[Any, ...] | None], PublicForm]


def public_name(kind: type) -> str:
    """Return the name of a class: of Leeward's the plain one, which stays when a module moves; of a user's in full."""
    return kind.__name__ if is_ours(kind) else f"{kind.__module__}.{kind.__qualname__}"


def parameters(notion: Notion, left_out: frozenset[str] = frozenset()) -> dict[str, PublicForm]:
    """Return all that a notion was made of, by name.

    Raises:
        InputError: a parameter has no public form.
    """
    records = getattr(notion, "records", None)
    _told_apart(records or ())
    hidden = {"words", "per_person"} | left_out  # both follow from the rest
    return {name: public_form(value, records) for name, value in sorted(vars(notion).items()) if name not in hidden}


def canonical(form: PublicForm) -> str:
    """Return the one text of a form."""
    return json.dumps(form, sort_keys=True, ensure_ascii=False)


def public_form(value: object, records: tuple[Any, ...] | None = None) -> PublicForm:
    """Return the form of a value.

    Args:
        value: what a notion was made of.
        records: all records there are, where they are listed: a function is then what it says of each of them.

    Raises:
        InputError: it has none.
    """
    value = plainly(value)
    if isinstance(value, Enum):
        return {"class": public_name(type(value)), "member": value.name}
    for kinds, form in _FORMS:
        if isinstance(value, kinds):
            return form(value, records)
    for kind, form in _OF_OURS:
        if isinstance(value, kind) and is_ours(type(value)):
            return form(value, records)
    if callable(value) and records is not None and not is_ours(type(value)):
        return {"holds": [int(bool(value(record))) for record in records]}
    if is_dataclass(value) and not isinstance(value, type):
        parts = {name: public_form(part, records) for name, part in _parts(value).items()}
        return {"class": public_name(type(value)), "fields": parts}
    raise InputError(
        f"A notion made with {told(value)}",
        "it has no form that lasts and tells it from others, so another notion could pass for this one",
        "Give conditions, or list all records; else numbers, texts, dates, tuples, sets, and dataclasses of such",
    )


def _parts(value: Any) -> dict[str, object]:
    """All that a dataclass holds: its fields, and what else a user's own class has put in it."""
    kind = type(value)
    held = {} if is_ours(kind) else getattr(value, "__dict__", {})
    derived = {n for n in held if isinstance(getattr(kind, n, None), functools.cached_property)}
    named = {each.name: getattr(value, each.name) for each in fields(value)}
    return {**{n: v for n, v in held.items() if n not in derived}, **named}


def _number(value: Any) -> PublicForm:
    """One form for 1, 1.0, True and Fraction(1), which are one value."""
    if isinstance(value, Real):
        return {"number": write(value)}
    if not math.isfinite(value):
        return {"number": "nan" if value != value else "inf" if value > 0 else "-inf"}
    return {"number": write(exact(Fraction(value)))}


def _moment(value: Any) -> PublicForm:
    if isinstance(value, datetime) and value.utcoffset() is not None:
        value = value.astimezone(UTC)
    return {type(value).__name__: value.isoformat()}


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


_FORMS: tuple[tuple[Any, _Writer], ...] = (
    (type(None), lambda _none, _records: None),
    (str, lambda value, _records: str.__str__(value)),
    (bytes, lambda value, _records: {"bytes": value.hex()}),
    ((Real, numbers.Real, Decimal), lambda value, _records: _number(value)),
    ((date, time), lambda value, _records: _moment(value)),  # a datetime is a date
    ((tuple, list), lambda value, records: [public_form(each, records) for each in value]),
    ((frozenset, set), _set),
    (Mapping, _mapping),
    (Notion, lambda value, _records: _nested(value)),
)

_OF_OURS: tuple[tuple[type, _Writer], ...] = (
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
                f"A notion about several records that all read {told(point)}",
                "what is public of them does not tell them apart, so another notion could pass for this one",
                "Give each a text or a number of its own, or make their class a dataclass whose fields say which one it is",
            )
        forms.append(form)
    return forms
