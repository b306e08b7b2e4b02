"""From pydantic's complaints to errors that teach: the key, why it is refused, and the nearest known one."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel, ValidationError

from leeward.errors import SpecError, nearest


def taught(error: ValidationError, whole: type[BaseModel]) -> SpecError:
    """Return the error that teaches the first thing pydantic found wrong with a spec of this model."""
    # an unknown key usually also leaves a known one missing: say the unknown one, it is what was mistyped
    first = min(error.errors(), key=lambda e: e["type"] != "extra_forbidden")
    where = [str(part) for part in first["loc"]]
    key = where[-1] if where else ""
    section = f"[{where[0]}] " if len(where) > 1 else ""
    if first["type"] == "extra_forbidden":
        known = keys_at(whole, where[:-1])
        return SpecError(f"{section}{key}", "this key is not known", nearest(key, known))
    if first["type"] == "missing":
        return SpecError(f"{section}{key} is missing", "it is required", f"Add {example(key)}")
    if first["type"] == "value_error":
        return SpecError(f"{section}{key}".strip() or "The spec", str(first["ctx"]["error"]), "")
    # pydantic also names the types it tried: the key is the last part of the path that is one
    key = next((part for place, part in reversed([*enumerate(where)]) if part in keys_at(whole, where[:place])), key)
    return SpecError(
        f"{section}{key}", first["msg"][0].lower() + first["msg"][1:], "See the guide for what the key means"
    )


def keys_at(whole: type[BaseModel], where: Iterable[str]) -> list[str]:
    """Return the keys that are known at a place in a spec, given as the names of the sections that lead there."""
    model = whole
    for part in where:
        field = model.model_fields.get(part)
        if field is None:
            continue
        for candidate in (field.annotation, *getattr(field.annotation, "__args__", ())):
            for inner in (candidate, *getattr(candidate, "__args__", ())):
                if isinstance(inner, type) and issubclass(inner, BaseModel):
                    model = inner
    return [name for name, field in model.model_fields.items() if not field.exclude]


def example(key: str) -> str:
    """Return how a key is written, as a part of a sentence that says to add it."""
    examples = {
        "epsilon": 'epsilon = "1"',
        "notion": 'notion = "addition-only"',
        "safe_at_most": "safe_at_most = 2",
        "ledger": 'ledger = "sqlite:///budget.db"',
        "dataset": 'dataset = "a-public-name"',
        "visits": 'visits = "visits.parquet"',
        "table": 'table = "records.parquet"',
        "person": 'person = "the column that says who"',
        "time": 'time = "the column that says when"',
    }
    sections = {"data", "query", "places", "window", "protect", "decide", "publish", "budget"}
    return examples.get(key, f"the section [{key}]" if key in sections else f"{key} = …")
