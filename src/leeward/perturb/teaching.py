"""Turning what pydantic says of a wrong spec into a message that names the key and teaches the right one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from leeward.errors import InputError, SpecError, nearest
from leeward.real import exact


def _exact_text(value: object) -> str:
    try:
        return str(exact(value))  # type: ignore[arg-type]
    except InputError as error:
        raise ValueError(str(error)) from None


ExactText = Annotated[str, BeforeValidator(_exact_text)]
"""An exact number, in a string or an integer; a TOML float is refused, because it is not the decimal it prints as."""


class Section(BaseModel):
    """A section of a spec: unknown keys and wrong types are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


_Model = TypeVar("_Model", bound=BaseModel)


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


def _taught(model: type[BaseModel], error: ValidationError, examples: Mapping[str, str]) -> SpecError:
    # an unknown key usually also leaves a known one missing: say the unknown one, it is what was mistyped
    first = min(error.errors(), key=lambda e: e["type"] != "extra_forbidden")
    where = [str(part) for part in first["loc"]]
    sections = {name: kind for name, field in model.model_fields.items() if (kind := _section(field.annotation))}
    known = list((sections[where[0]] if len(where) > 1 and where[0] in sections else model).model_fields)
    key = where[min(1, len(where) - 1)] if where else ""
    name = f"[{where[0]}] {key}" if len(where) > 1 else f"[{key}]" if key in sections else key
    if first["type"] == "extra_forbidden":
        return SpecError(name, "this key is not known", nearest(key, known))
    if first["type"] == "missing":
        return SpecError(f"{name} is missing", "it is required", f"Add {examples.get(key, f'{key} = …')}")
    if first["type"] == "value_error":
        return SpecError(name or "The spec", str(first["ctx"]["error"]), "")
    return SpecError(name, first["msg"][0].lower() + first["msg"][1:], "See the guide for what the key means")


def _section(annotation: Any) -> type[BaseModel] | None:
    for kind in (annotation, *getattr(annotation, "__args__", ())):
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            return kind
    return None
