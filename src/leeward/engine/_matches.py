# SPDX-License-Identifier: Apache-2.0
"""How the keys that rows name match the keys of a public list, and which would match if they were written alike.

Keys are compared letter by letter. So a place that is spelt otherwise in one of the tables has no visitors, and one that is
spelt in several ways has fewer than there were: it would be called safe. All of this is for the curator only; what is named
are keys of the public list, or values that the filter allows, never what rows hold.

A row that the filter leaves out because its value is spelt otherwise is lost in the same way: so what the filter allows is
compared with what rows hold as the public list is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc

from leeward._plain import counted, is_text, plain
from leeward._private import Private
from leeward.engine._beyond import Beyond
from leeward.engine._bound import Bound
from leeward.engine._look import Look
from leeward.engine._people import People
from leeward.errors import DoubtfulDataError
from leeward.query._source import Allowed
from leeward.query._statistic import Statistic
from leeward.query._unlisted_groups import AnyQuestion

if TYPE_CHECKING:
    import ibis.expr.types as ir

_SPACES: Final = "\\s\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_UNSEEN: Final = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"


def _spaced(text: ir.Value) -> ir.Value:
    # all of them are replaced; the characters stand there themselves, because each engine has its own escape for them
    return text.re_replace(f"[{_UNSEEN}]+", "").re_replace(f"[{_SPACES}]+", " ").strip()


_MARKS: Final[Mapping[str, str]] = {
    "'": "\u2018-\u201b\u2032\u02b9-\u02bf\u00b4\u05f3`",  # the okina of Hawaii, the ayn and hamza of Arabic names
    '"': "\u201c-\u201f\u2033\u00ab\u00bb\u05f4\u301d-\u301f",
    "-": "\u2010-\u2015\u2043\u2212\u2500\u30fc\uff70",  # a long vowel of Japanese stands for a dash in addresses
    "~": "\u223c\u301c",  # one character of Shift_JIS is \u301c or a wide ~, by the program that reads it
    "\u00b7": "\u2022\u2024\u2027\u2219\u22c5\u30fb\uff65",
}
"""Marks of one kind, and the one that is written in their place."""


def _marked(text: ir.Value) -> ir.Value:
    for mark, others in _MARKS.items():
        text = text.re_replace(f"[{others}]", mark)
    return text


_WIDE: Final = [wide for wide in range(0xFF01, 0xFF5F) if wide != 0xFF3C]  # a backslash is an escape to some engines
_ZEROS: Final = "\u0660\u06f0\u0966\u0e50"


def _narrow(text: ir.Value) -> ir.Value:
    """Wide letters, digits and marks, and the digits of Arabic, Persian, Hindi and Thai, as those of ASCII."""
    narrow = {chr(wide): chr(wide - 0xFEE0) for wide in _WIDE}
    narrow |= {chr(ord(zero) + digit): str(digit) for zero in _ZEROS for digit in range(10)}
    return text.translate("".join(narrow), "".join(narrow.values()))


_WRITTEN_OUT: Final = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U(000[0-9a-f]{5}|0010[0-9a-f]{4}))")
"""A sign that nobody sees, as `plain` shows it: whoever copies a name from a page or a terminal has these letters."""


def _forms(key: str) -> list[str]:
    """How a key may be written in Unicode: an accented letter is one character or two, a digit wide or not.

    And how it reads where signs that nobody sees are written out, or are what was written out.
    """
    read = _WRITTEN_OUT.sub(lambda sign: chr(int(next(filter(None, sign.groups())), 16)), key)
    written = [each for each in (key, read, plain(key)) if is_text(each)]
    normal = (unicodedata.normalize(form, each) for each in written for form in ("NFC", "NFD", "NFKC", "NFKD"))
    return list(dict.fromkeys([*written, *normal]))


_THOUSANDS: Final = "^(\\d+)[,.' \u00a0\u202f\u2019](\\d{3})"


def _whole(text: ir.Value) -> ir.Value:
    """A whole number without what programs add that take it for a float, or part its thousands: 42.0, 1,234, 1.234.567."""
    digits = text.re_replace(r"^(\d+)\.0+$", r"\1")
    for _ in range(3):
        digits = digits.re_replace(_THOUSANDS, r"\1\2")
    return digits


_WAYS: Final[Mapping[str, Callable[[ir.Value], ir.Value]]] = {
    "Unicode forms": _narrow,
    "spaces": _spaced,
    "upper and lower case": lambda text: text.lower(),
    "spaces, and upper and lower case": lambda text: _spaced(text).lower(),
    "zeros in front": lambda text: text.re_replace(r"^0+(\d)", r"\1"),
    "apostrophes, quotes, dashes and dots": lambda text: _marked(_narrow(text)),
    "how whole numbers are written": _whole,
}
"""In what a key may differ that is meant to be the same, and how it is written without it; the first that holds is said.

Each is asked of all Unicode forms of a listed key. (Engines do not share a function that makes them of what rows hold; but
all of them exchange single characters.)"""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Matches(Private):
    """How keys of rows match a public list.

    Attributes:
        listed: how many keys are listed.
        named: how many of them some row names that passes the filter.
        unlisted: how many other keys rows name.
        alike: listed keys that no row names, and that an unlisted one would match but for this, by what they differ in.
        split: listed keys that some rows name, and that an unlisted one would match too, likewise.
    """

    listed: int
    named: int
    unlisted: int
    alike: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    split: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def beside(self, other: Matches) -> Matches:
        """Return both together: of the values of two columns, which are compared each for itself."""
        return Matches(
            self.listed + other.listed,
            self.named + other.named,
            self.unlisted + other.unlisted,
            _beside(self.alike, other.alike),
            _beside(self.split, other.split),
        )

    @property
    def lacking(self) -> int:
        """How many listed keys no row names."""
        return self.listed - self.named


def _beside(one: Mapping[str, tuple[str, ...]], other: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    return {way: keys for way in _WAYS if (keys := (*one.get(way, ()), *other.get(way, ())))}


def matches(bound: Bound, rows: ir.Table, listed: pa.Array) -> Matches:
    """Compare the keys of rows with those of a list.

    Args:
        bound: where the rows are.
        rows: an Ibis table with a column ``key``, of a type that is compared with the list.
        listed: the distinct keys of the list.
    """
    is_text = pa.types.is_string(listed.type) or pa.types.is_large_string(listed.type)
    own = bound.register("leeward_listed", pa.table({"listed": listed}))
    named = bound.staged("leeward_named", rows.filter(rows.key.notnull()).select("key").distinct())
    others = bound.staged("leeward_others", named.anti_join(own, named.key == own.listed))
    lacking = bound.staged("leeward_lacking", own.anti_join(named, own.listed == named.key))
    counted = {"named": named.count(), "others": others.count()}
    found = {what: int(bound.fetch(number.name("n").as_table())["n"][0].as_py()) for what, number in counted.items()}
    met = found["named"] - found["others"]
    if not is_text or not found["others"]:
        return Matches(len(listed), met, found["others"])
    order = {key: at for at, key in enumerate(pc.cast(listed, pa.large_string()).to_pylist())}
    every = [(key, form) for key in order for form in _forms(key)]
    formed = pa.table([pa.array(texts, listed.type) for texts in zip(*every, strict=True)], ["listed", "form"])
    forms = bound.register("leeward_forms", formed)
    alike, split, seen = dict[str, tuple[str, ...]](), dict[str, tuple[str, ...]](), set[str]()
    for way, written in _WAYS.items():
        plain = others.select(plain=written(others.key)).distinct()
        near = forms.filter(written(forms.form).isin(plain.plain))
        keys = set(bound.fetch(near)["listed"].to_pylist()) - seen
        if keys:
            no_row = set(bound.fetch(near.semi_join(lacking, near.listed == lacking.listed))["listed"].to_pylist())
            seen |= keys
            for found_so, those in ((alike, keys & no_row), (split, keys - no_row)):
                if those:
                    found_so[way] = tuple(sorted(those, key=order.__getitem__))
    return Matches(len(listed), met, found["others"], alike, split)


def matches_of_filter(bound: Bound, rows: ir.Table, keep: Mapping[str, Sequence[Allowed]]) -> Matches | None:
    """Compare the texts that rows hold with those that a filter allows; None where it allows none."""
    found: Matches | None = None
    for column, allowed in keep.items():
        if isinstance(allowed[0], str) and rows[column].type().is_string():
            listed = pa.array(dict.fromkeys(allowed), pa.large_string())
            one = matches(bound, rows.select(key=rows[column]), listed)
            found = one if found is None else found.beside(one)
    return found


def some(keys: Sequence[str]) -> str:
    """Name the first of some listed keys."""
    return ", ".join(map(repr, keys[:5])) + (", …" if len(keys) > 5 else "")


def may_be_alike(query: AnyQuestion, looks: Sequence[Look]) -> bool:
    """Whether, of the rows that some questions are about, one names a key that is not listed: else no spelling matters.

    Args:
        query: the first of the questions, windows of one run.
        looks: how much of each would count.
    """
    return (isinstance(query, Statistic) and query.others) or any(look.elsewhere for look in looks)


def refuse_alike(found: Matches | None, *, of_filter: bool = False) -> None:
    """Refuse a list, or a filter, with keys that some rows would name if they were written alike.

    Raises:
        DoubtfulDataError: there are such keys; it names some of them, as the list spells them. For the curator only.
    """
    if found is None or not (found.alike or found.split):
        return
    key = "allowed value" if of_filter else "listed key"
    lost = "the filter leaves those rows out" if of_filter else "those rows do not count there"
    correct = "Correct keep, or the table" if of_filter else "Correct one of the tables"
    pairs = [
        f"{counted(sum(map(len, by.values())), key)} would be named by {rows} if this made no difference: "
        + "; ".join(f"{way} ({some(keys)})" for way, keys in by.items())
        for by, rows in ((found.alike, "rows"), (found.split, "more rows"))
        if by
    ]
    raise DoubtfulDataError.stopping(
        "; and ".join(pairs),
        f"as they stand {lost}, and a place where nobody counts is safe, a group empty",
        correct,
        "they do mean different things",
    )


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Survey(Private):
    """What else a curator wants to know of a table.

    Attributes:
        matches: how the keys of rows match the public list, in whatever window; None where there is none, or it is a grid.
        beyond: how many numbers that count lie beyond the bounds; None where there are no bounds.
        filter: how the texts of rows match those that the filter allows; None where it allows none.
        people: how the rows are shared among people; None where each row is a person.
    """

    matches: Matches | None = None
    beyond: Beyond | None = None
    filter: Matches | None = None
    people: People | None = None
