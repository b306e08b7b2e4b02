# SPDX-License-Identifier: Apache-2.0
"""Texts that are written as a spec says, as the texts that every other source has: one value has one text.

A time in a format becomes the same time in ISO 8601, and a number with a decimal comma one with a point. What is not written
so stays, with a mark in front that no time and no number has: it is unreadable then, and counted as such. So the content of
a table, and what is counted of it, do not depend on how it was written.
"""

from __future__ import annotations

from collections.abc import Mapping

from leeward.engine._roles import holds_numbers, holds_times
from leeward.engine._sql import named, quoted
from leeward.errors import DataError
from leeward.tables._writing import TimeFormat, Writing


def check_rewritten(columns: Mapping[str, str], types: Mapping[str, str], writing: Writing) -> None:
    """Refuse what is said of how texts are written where no text is, or where a column is read in two ways.

    Raises:
        DataError: it is said of a column that holds no texts; or one is compared by its text too.
    """
    for key, is_for in (("time_format", holds_times), ("decimal", holds_numbers)):
        if getattr(writing, key) is None or (key == "decimal" and writing.decimal == "."):
            continue
        of = {role: name for role, name in columns.items() if is_for(role)}
        for role, name in of.items():
            if types[name] not in ("VARCHAR", '"NULL"') and key == "time_format":
                raise DataError(
                    f"time_format with {role} = '{name}'", "the column holds no texts: it says itself what its times are",
                    "Leave time_format out",
                )  # fmt: skip
            if other := next((use for use, its in columns.items() if its == name and not is_for(use)), None):
                raise DataError(
                    f"The column '{name}' as {role}, with {key}, and as {other}",
                    "it would be read in two ways",
                    "Keep two columns for the two uses",
                )
        if not any(types[name] == "VARCHAR" for name in of.values()) and key == "decimal":
            raise DataError("decimal", "no column that is read holds numbers as texts", "Leave it out")


def rewritten(columns: Mapping[str, str], types: Mapping[str, str], writing: Writing, found: str) -> str | None:
    """Return a query of SQL for a table whose texts are as every other source has them; None where all are already.

    Args:
        columns: what each column is for and its name.
        types: the engine's own type of each column, by its name.
        writing: how texts are written.
        found: the table, in SQL.
    """
    texts = {role: name for role, name in columns.items() if types[name] == "VARCHAR"}
    times, when = writing.times(), texts.get("time")
    changed, inner = dict[str, str](), ["*"]
    if times is not None and when is not None:
        fields = "leeward time"
        while fields in types:
            fields += "_"
        # once a row: of an expression that occurs in several places the engine makes each
        groups = ", ".join(map(quoted, times.fields))
        inner.append(f"regexp_extract({named(when)}, {quoted(f'^{times.pattern}$')}, [{groups}]) AS {named(fields)}")
        changed[when] = _time(named(when), named(fields), times)
    if writing.decimal == ",":
        changed |= {name: _number(named(name)) for role, name in texts.items() if holds_numbers(role)}
    if not changed:
        return None
    chosen = ", ".join(f"{changed[name]} AS {named(name)}" if name in changed else named(name) for name in types)
    return f"SELECT {chosen} FROM (SELECT {', '.join(inner)} FROM {found})"


def _number(text: str) -> str:
    return f"CASE WHEN contains({text}, '.') THEN '?' || {text} ELSE replace({text}, ',', '.') END"


def _time(text: str, fields: str, times: TimeFormat) -> str:
    """A time in ISO 8601, from the groups of its pattern, all of which are empty where a text has not that form."""
    part = {field: f"{fields}.{named(field)}" for field in times.fields}
    two = {field: f"lpad({value}, 2, '0')" for field, value in part.items()}
    year = f"'20' || {part['year']}" if times.short_year else part["year"]
    said = f"{year} || '-' || {two['month']} || '-' || {two['day']}"
    if "hour" in part:
        hour = two["hour"]
        if times.twelve:
            later = f"CASE WHEN lower({part['half']}[1]) = 'p' THEN 12 ELSE 0 END"
            hour = f"lpad((TRY_CAST({part['hour']} AS INTEGER) % 12 + {later})::VARCHAR, 2, '0')"
        minutes = two["minute"] if "minute" in part else "'00'"
        seconds = f" || ':' || {part['second']}" if "second" in part else ""
        said += f" || 'T' || {hour} || ':' || {minutes}{seconds}"
    return f"CASE WHEN {part['year']} = '' THEN '?' || {text} ELSE {said} END"
