# SPDX-License-Identifier: Apache-2.0
"""Reading spec files: TOML checked key by key by pydantic models, with errors that name the nearest known key."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from leeward._encodings import UTF8, unfit
from leeward._paths import read_small
from leeward._plain import echo, plain, shown
from leeward.errors import InputError, SpecError, nearest
from leeward.exact._real import exact


def _exact_text(value: object) -> str:
    try:
        return str(exact(value))  # type: ignore[arg-type]
    except InputError as error:
        raise ValueError(str(error)) from None


ExactText = Annotated[str, BeforeValidator(_exact_text)]
"""An exact number, in a string or an integer; a TOML float is refused, because it is not the decimal it prints as."""


class Section(BaseModel):
    """A section of a spec: unknown keys and wrong types are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """Show no password of a URL."""
        for name, value in super().__repr_args__():
            yield name, shown(value) if isinstance(value, str) else value


_Model = TypeVar("_Model", bound=BaseModel)


def read_toml(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Path]:
    """Read a TOML file and return its nested dicts, and the folder that its paths are relative to.

    Raises:
        SpecError: it is missing, or is not TOML.
    """
    file = Path(path)
    try:
        raw, folder = read_small(file), file.resolve().parent
    except FileNotFoundError:
        near = [p.name for p in file.parent.glob("*.toml")] if os.path.isdir(file.parent) else []
        raise SpecError(f"The spec '{file}'", "there is no such file", nearest(file.name, near)) from None
    except OSError as error:
        said = f"it cannot be read: {os.strerror(error.errno or 0)}"
        raise SpecError(f"The spec '{file}'", said, "Check the path, and who may read it") from None
    if because := unfit(raw):
        raise SpecError(f"The spec '{file}'", because, "Save it as UTF-8")
    try:
        given = tomllib.loads(raw.decode(UTF8))
        check_size(given)
    except tomllib.TOMLDecodeError as error:
        raise SpecError(
            f"The spec '{file}'", f"it is not TOML ({error})", "Strings need quotes, sections [brackets]"
        ) from None
    except (ValueError, RecursionError, MemoryError):  # an integer of thousands of digits; thousands of brackets
        raise SpecError(
            f"The spec '{file}'",
            "a number in it is too long, or its brackets lie too deep",
            "Write it as the guide does",
        ) from None
    _refuse_finer(file, raw.decode(UTF8), given)
    return given, folder


def _refuse_finer(file: Path, text: str, given: dict[str, Any]) -> None:
    """Refuse a time finer than a microsecond, whose last digits the reader of TOML cuts; in a text or comment it may be."""
    for found in _FINER.finditer(text):
        before, after = text[: found.start("digits")], text[found.end("digits") :]
        digits = found["digits"]
        changed = str((int(digits[0]) + 1) % 10) + digits[1:]
        cut, other = (repr(tomllib.loads(before + new + after)) for new in (digits[:6], changed))
        if cut == repr(given) != other:
            raise SpecError(
                f"{echo(found[0])} in the spec '{file}'", "it is finer than a microsecond", "Give whole microseconds"
            )


_FINER = re.compile(r"\d\d:\d\d:\d\d\.(?P<digits>\d{6}\d*[1-9])")
_DEEPEST, _LONGEST = 30, 10_000
"""Levels, and bits of an integer."""


def check_size(given: object) -> None:
    """Refuse what Python could not write out again in a message; no spec is deeper than five, nor are its numbers long.

    Raises:
        ValueError: a whole number in it is too long.
        RecursionError: its parts lie too deep in one another.
    """
    level = [given]
    for _ in range(_DEEPEST):
        if any(isinstance(held, int) and held.bit_length() > _LONGEST for held in level):
            raise ValueError
        level = [
            inner
            for held in level
            if isinstance(held, dict | list)
            for inner in (held.values() if isinstance(held, dict) else held)
        ]
    if level:
        raise RecursionError


def check(model: type[_Model], given: Mapping[str, Any], examples: Mapping[str, str]) -> _Model:
    """Return the given dicts as the model of a whole spec.

    Args:
        model: sections as fields, each a `Section`.
        given: nested dicts, as TOML reads them.
        examples: what a missing key or section looks like when it is there.

    Raises:
        SpecError: a key or value is not as described; the message names the first such key.
    """
    try:
        return model.model_validate(dict(given))
    except ValidationError as error:
        raise _taught(model, error, examples) from None


def keys_at(model: type[BaseModel], where: Iterable[str]) -> list[str]:
    """Return the keys that are known at a place in a spec, given as the names of the sections that lead there."""
    return [name for name, field in _model_at(model, where).model_fields.items() if not field.exclude]


def _model_at(model: type[BaseModel], where: Iterable[str]) -> type[BaseModel]:
    for part in where:
        field = model.model_fields.get(part)
        if field is not None:
            model = _section(field.annotation) or model
    return model


def _taught(model: type[BaseModel], error: ValidationError, examples: Mapping[str, str]) -> SpecError:
    # an unknown key usually also leaves a known one missing: say the unknown one, it is what was mistyped
    first = min(error.errors(), key=lambda e: e["type"] != "extra_forbidden")
    where = [str(part) for part in first["loc"]]
    unknown, missing = first["type"] == "extra_forbidden", first["type"] == "missing"
    key = where[-1] if where else ""
    at, annotation = (len(where), None) if unknown or missing else _last_key(model, where)
    if 0 <= at < len(where):
        key = where[at]
    is_section = key in model.model_fields and _section(model.model_fields[key].annotation) is not None
    name = f"[{where[0]}] {key}" if len(where) > 1 and where[0] != key else f"[{key}]" if is_section else key
    if unknown:
        return SpecError(name, "this key is not known", nearest(key, keys_at(model, where[:-1])))
    if missing:
        return SpecError(
            f"{name} is missing", "it is required", f"Add {examples.get(key, name if is_section else f'{key} = …')}"
        )
    if first["type"] == "value_error":
        return SpecError(name or "The spec", str(first["ctx"]["error"]), "")
    if first["type"] == "literal_error":
        return SpecError(name, "it is not a known choice", f"Known: {first['ctx']['expected']}")
    if first["type"] == "model_type" and isinstance(first["loc"][-1], int):
        held = keys_at(model, where) if where[:-1] == [key] else keys_at(model, [*where[: where.index(key)], key])
        of = ", ".join(f"{name} = …" for name in held[:2])
        return SpecError(name, "each of its list is a table of keys and values", f"Write {key} = [{{ {of} }}]")
    because, instead = _KINDS.get(
        first["type"], ("it does not hold what it should", "See docs/spec.md for what it means")
    )
    words, sets, value = instead.partition("{} = ")
    if sets and (found := _held_under(annotation, first["loc"][at + 1 :])):
        under, in_list = found
        value = f"[{value}]" if in_list else value
        name, value = f"{name}: what stands under {echo(under)}", f"{{ {_as_key(under)} = {value} }}"
    elif sets and any(isinstance(part, int) for part in first["loc"][at + 1 :]):
        value = f"[{value}]"
    if first["type"] == "model_type":
        key = ".".join(map(_as_key, where))
    return SpecError(name, because, f"{words.format(key)}{sets.format(key)}{value}")


_MOMENT = ("it is not a date and time", "Write {} = 2026-03-02T19:00:00")
_KINDS = {
    "string_type": ("it is not text", 'Write it in quotation marks: {} = "…"'),
    "int_type": ("it is not a whole number", "Write it without quotation marks: {} = 2"),
    "float_type": ("it is not a number", "Write it without quotation marks: {} = 2.5"),
    "finite_number": ("it is not finite", "Write {} = 2.5"),
    "bool_type": ("it is neither true nor false", "Write {} = true"),
    "list_type": ("it is not a list", "Write {} = [ … ]"),
    "dict_type": ("it is not a table of keys and values", "Write {} = { … = … }"),
    "model_type": ("it is not a section of keys and values", "Write [{}], and its keys below"),
    "datetime_type": _MOMENT,
    "date_type": _MOMENT,
}
"""What is wrong, and what to write, by pydantic's names of what it found."""


def _last_key(model: type[BaseModel], where: Sequence[str]) -> tuple[int, Any]:
    """Return where on the way to a fault the last key stands that a spec knows, and what it may hold; -1 where none does.

    Pydantic also names the types that it tried, and names of a table that the user chooses, which may be those of keys.
    """
    last: tuple[int, Any] = (-1, None)
    inside: type[BaseModel] | None = model
    for at, part in enumerate(where):
        if inside is None:  # below a key that holds no section
            break
        if (field := inside.model_fields.get(part)) is not None:
            last, inside = (at, field.annotation), _section(field.annotation)
    return last


def _held_under(annotation: Any, below: Sequence[str | int]) -> tuple[str, bool] | None:
    """Return under which name of a table whose names the user chooses a fault lies, and whether in a list there."""
    choices = get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)
    kinds = [kind for kind in choices if kind is not NoneType]
    below = below[len(kinds) > 1 :]  # of several kinds pydantic names first which one it tried
    if not below or not any(get_origin(kind) is dict for kind in kinds):
        return None
    return str(below[0]), any(isinstance(part, int) for part in below[1:])


def _as_key(name: str) -> str:
    """Return a name as a key of TOML: one of other signs than a bare one's stands in quotation marks."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(plain(name), ensure_ascii=False)


def _section(annotation: Any) -> type[BaseModel] | None:
    """Return the model that a field holds: itself, or one of a union or a list."""
    for kind in (annotation, *getattr(annotation, "__args__", ())):
        for inner in (kind, *getattr(kind, "__args__", ())):
            if isinstance(inner, type) and issubclass(inner, BaseModel):
                return inner
    return None
