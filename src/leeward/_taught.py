# SPDX-License-Identifier: Apache-2.0
"""What a caller who gave an argument of the wrong kind should give instead.

Python accepts any object anywhere and fails somewhere inside, with an `AttributeError` about a name that the caller never
wrote; or it does not fail, where another object has what is looked for: any text is true, every notion has an ε. So a public
function or class that is `taught` refuses, where an object of ours or a truth value is asked for, all else. Of other
arguments it takes whatever works; but where a call fails so, they are held against the annotations, and the first that does
not fit is named. Failures with arguments that fit stay as they are.
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Hashable, Iterable, Mapping, Sized
from numbers import Integral, Real
from types import NoneType, SimpleNamespace, UnionType
from typing import Any, Literal, TypeVar, Union

from leeward._plain import echo, is_plain
from leeward.errors import InputError, LeewardError

S = TypeVar("S")
T = TypeVar("T", bound=Callable[..., Any])

_ADVICE = {
    "Progress": "Leave it out to hear nothing, or give a function such as print",
    "AnyPlan": "Give leeward.plan(query, notion, …)",
    "Budget": 'Give lw.Budget("sqlite:///budget.db", dataset=…, cap=…)',
    "Line": "Give lw.Line(rise=…, fall=…); what a notion allows for a query is lw.sensitivity(notion, query).line",
}
"""What to do about an argument of this kind; else help is named."""

_KINDS = {"AnyPlan": "a plan"}
"""What an argument of this kind is called, where its name is not public."""

_NUMBERS: dict[Any, type] = {int: Integral, float: Real}
"""Numbers of other libraries are numbers."""


def is_ours(kind: type) -> bool:
    """Return whether a class is one of Leeward's, and not of a user's own."""
    return kind.__module__.split(".")[0] == "leeward"


def taught(thing: T) -> T:
    """Let a public function, or a class when it is made, say what is wrong with an argument of another kind."""
    return _taught(thing)


def acting(thing: T) -> T:
    """Let what charges, draws or writes say it too, and before it does: what is refused behind that has happened."""
    return _taught(thing, before=True)


def _taught(thing: T, *, before: bool = False) -> T:
    if isinstance(thing, type):
        thing.__init__ = _checked(thing.__init__, thing.__name__, before=before)  # type: ignore[misc]
        return thing
    return typing.cast(T, _checked(thing, thing.__name__, before=before))


def describing(thing: T) -> T:
    """Let a function that describes a table say also what is wrong with an argument that it would keep unused.

    A description prints all that it was given: a whole column given for the name of one is refused at once.
    """
    checked = taught(thing)

    @functools.wraps(checked)
    def call(*args: Any, **kwargs: Any) -> Any:
        made = checked(*args, **kwargs)
        wrong = _wrong(thing, thing.__name__, args, kwargs, may_hold_rows=True)
        if wrong is not None:
            raise wrong
        return made

    return typing.cast(T, call)


def refuse_columns(made: object, *lists: str) -> None:
    """Refuse a whole column given for a value of a description, which prints all that it holds.

    Args:
        made: the description.
        lists: those of its values that may be lists.

    Raises:
        InputError: one is neither a single value nor such a list. What it holds is not repeated.
    """
    for key, value in vars(made).items():
        several = isinstance(value, Sized) and not isinstance(value, str)
        if several and not (key in lists and isinstance(value, list | tuple | range)):
            name = type(made).__name__
            raise InputError(
                f"{name} with a {type(value).__name__} as its {key}", "it takes one value", f"See help({name})"
            )


_SOURCES = {"source", "keep", "by"}
"""Arguments that are tables, or lists of public values."""


def public_list(
    what: str, given: object, error: type[LeewardError] = InputError, *, in_order: bool = False
) -> tuple[Any, ...]:
    """Return the public values of a list that a caller gives; Arrow's as Python's, which others are compared with.

    Python would go through a text by its letters, through a table by the names of its columns, and through a mapping by its
    keys: a promise, or a filter, would be about these. A set has another order in each process.

    Args:
        what: how a message calls it.
        given: the list.
        error: what is raised.
        in_order: whether the order means something, or how many are equal.

    Raises:
        LeewardError: of the class ``error``, for one text, a table, a mapping, or what is no list.
    """
    if isinstance(given, str | bytes):
        raise error(f"{what} = {echo(given)}", "it is one text, not a list", f"Give [{given!r:.80}]")
    if in_order:
        _refuse_set(what, given, error)
    if isinstance(given, Mapping) or not isinstance(given, Iterable) or getattr(given, "ndim", 1) == 0:
        raise error(f"{what} = {echo(given)}", "it is not a list", 'Give a list: ["one", "another"]')
    if getattr(given, "ndim", 1) > 1 or hasattr(given, "columns") or hasattr(given, "column_names"):
        raise error(f"{what} = {echo(given)}", "it is a table, not a list", "Give the values of one column as a list")
    return tuple(value.as_py() if hasattr(value, "as_py") else value for value in given)


def in_order(what: str, given: Iterable[S]) -> tuple[S, ...]:
    """Return values of which the order means something, or how many are equal, as a tuple; a text is its letters.

    Raises:
        InputError: they are in a set, which has another order in each process and of equal ones holds one.
    """
    _refuse_set(what, given, InputError)
    return tuple(given)


def _refuse_set(what: str, given: object, error: type[LeewardError]) -> None:
    if isinstance(given, set | frozenset):
        raise error(
            f"{what} = {echo(given)}", "it has no order, and of equal ones it holds one", "Give a list: sorted(…)"
        )


def takes(function: Any, count: int) -> bool:
    """Whether a function can be called with so many arguments, as far as its signature says."""
    try:
        inspect.signature(function).bind(*[None] * count)
    except TypeError:
        return False
    except ValueError:  # some functions written in C have no signature
        pass
    return True


def _checked(function: Callable[..., Any], name: str, *, before: bool) -> Callable[..., Any]:
    known = functools.cache(lambda: _known(function))  # at the first call: only then are all names known

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        others = list[tuple[str, Any]]()
        for key, at, kinds in known():
            given = args[at] if at < len(args) else kwargs.get(key, _NOTHING)
            if given is _NOTHING or isinstance(given, kinds):
                continue
            if kinds is bool:
                raise _flag(name, key, given)
            others.append((key, given))
        if others and before:
            raise _other(function, name, *others[0])
        try:
            made = function(*args, **kwargs)
        except LeewardError:
            raise
        except (ArithmeticError, AttributeError, LookupError, NotImplementedError, TypeError, ValueError):
            wrong = _wrong(function, name, args, kwargs)
            if wrong is None:
                raise
        else:
            if not others:
                return made
            wrong = _other(function, name, *others[0])  # behind: what the function says itself of it is better
        raise wrong  # outside: what went wrong inside says nothing to the caller

    return call


_NOTHING: Any = object()
"""Stands for an argument that is not given."""


def _known(function: Callable[..., Any]) -> list[tuple[str, int, Any]]:
    """Return which arguments are of one kind that is checked whether or not another works, their places, and the kind.

    They are what is true or false, for which any object is taken, and objects of our classes, which may be kept for later.
    """
    found = list[tuple[str, int, Any]]()
    for at, (key, parameter) in enumerate(inspect.signature(function).parameters.items()):
        hint = _hint(function, key, parameter.annotation)
        each_of = typing.get_args(hint) if typing.get_origin(hint) in {Union, UnionType} else (hint,)
        kinds = tuple(kind for kind in each_of if kind is not NoneType)
        place = at if parameter.kind is parameter.POSITIONAL_OR_KEYWORD else _NOWHERE
        if hint is bool:
            found.append((key, place, bool))
        elif all(map(_of_ours, kinds)) and parameter.kind not in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}:
            found.append((key, place, each_of))
    return found


_NOWHERE = 1 << 10
"""The place of an argument that is given by its name alone."""


def _of_ours(kind: Any) -> bool:
    return isinstance(kind, type) and is_ours(kind) and not getattr(kind, "_is_protocol", False)


def _flag(name: str, key: str, given: object) -> InputError:
    return InputError(
        f"{name} with a {type(given).__name__} as its {key}",
        "it is true or false, and Python would take any text for true, such as 'no'",
        "Give True or False",
    )


def _other(function: Callable[..., Any], name: str, key: str, value: object) -> InputError:
    """Say of an argument what kind it must be. Never its value: it may hold rows."""
    public = function.__module__.partition("._")[0].replace("leeward", "lw", 1)
    kind = inspect.formatannotation(inspect.signature(function).parameters[key].annotation).strip("'")
    return InputError(
        f"{name} with a {type(value).__name__} as its {key}",
        f"it takes {_KINDS.get(kind, kind)}",
        _ADVICE.get(kind, f"See help({public}.{name})"),
    )


def _wrong(
    function: Callable[..., Any], name: str, args: Any, kwargs: Any, *, may_hold_rows: bool = False
) -> InputError | None:
    """Return what to say of the first argument that does not fit, or None. Never its value: it may hold rows."""
    signature = inspect.signature(function)
    try:
        given = signature.bind(*args, **kwargs).arguments
    except TypeError:
        return None  # an argument is missing, or has an unknown name: Python says which
    for key, value in given.items():
        parameter = signature.parameters[key]
        if may_hold_rows and (key in _SOURCES or is_plain(value)):
            continue
        several = parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}
        if key == "self" or several or _fits(value, _hint(function, key, parameter.annotation)):
            continue
        return _other(function, name, key, value)
    return None


def _hint(function: Callable[..., Any], key: str, annotation: Any) -> Any:
    """Return what an annotation means, or Any where it has no meaning while the program runs."""
    try:
        alone = SimpleNamespace(__annotations__={key: annotation})
        return typing.get_type_hints(alone, inspect.unwrap(function).__globals__)[key]
    except (AttributeError, NameError, TypeError):
        return Any


def _fits(value: Any, hint: Any) -> bool:
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in {Union, UnionType}:
        return any(_fits(value, each) for each in inner)
    if hint is None or hint is NoneType:
        return value is None
    kind = _NUMBERS.get(hint, origin or hint)
    if isinstance(hint, TypeVar):
        return isinstance(value, Hashable)  # points, secrets and outputs
    if origin is Literal:
        return isinstance(value, tuple({type(word) for word in inner}))
    if hint is Any or not isinstance(kind, type):
        return True
    if getattr(kind, "_is_protocol", False):
        public = (name for name in vars(kind) if not name.startswith("_") or name == "__call__")
        return all(hasattr(value, name) for name in public)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool and issubclass(kind, Integral)):
        return False
    if inner and isinstance(inner[0], list):
        return takes(value, len(inner[0]))
    if isinstance(value, Mapping) and len(inner) == 2:
        return all(_fits(k, inner[0]) and _fits(v, inner[1]) for k, v in value.items())
    if isinstance(value, Sized) and isinstance(value, Iterable) and inner and issubclass(kind, Iterable):
        try:
            elements = list(value)
        except TypeError:  # an array without dimensions
            return False
        each = inner if kind is tuple and Ellipsis not in inner else (inner[0],) * len(elements)
        return len(each) == len(elements) and all(map(_fits, elements, each))
    return True
