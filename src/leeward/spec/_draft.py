# SPDX-License-Identifier: Apache-2.0
"""A first spec, drafted from a few answers: commented TOML, in which nothing is a value of the data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from leeward._plain import probability

if TYPE_CHECKING:
    from leeward.planner._plan import Plan

Never = Literal["safe", "dangerous", "neither"]
"""What must never be wrong: that a place is safe, that it is dangerous, or neither."""

NOTIONS: Final[Mapping[Never, str]] = {"safe": "addition-only", "dangerous": "removal-only", "neither": "dp"}
"""The notion under which it is."""

_MEANS: Final[Mapping[Never, str]] = {
    "safe": "Whoever is in the data can pass as somebody who is not. 'Safe' is never wrong of those counted",
    "dangerous": "Whoever is not in the data can pass as somebody who is (weak: docs/limits.md). 'Dangerous' is never wrong",
    "neither": "Whoever is in the data can pass as somebody who is not, and the reverse. Either word may be wrong, rarely",
}


@dataclass(frozen=True)
class Draft:
    """What a first spec says: names of columns and of files, and what its author answered.

    Attributes:
        data: keys of ``[data]``.
        places: keys of ``[places]``, or of its ``grid``.
        start: when the window begins.
        end: when it ends.
        never: what must never be wrong.
        at_most: so many people are still safe; or, where ``dangerous`` is never wrong, so many are dangerous.
        epsilon: ε of one release.
        cap: what may be spent in all.
        dataset: the public name of the budget.
        ledger: the file of the budget.
        every: the length of each of several windows.
    """

    data: Mapping[str, str]
    places: Mapping[str, Any]
    start: str
    end: str
    never: Never
    at_most: int
    epsilon: str
    cap: str
    dataset: str
    ledger: str
    every: str | None = None

    def sections(self) -> dict[str, dict[str, Any]]:
        """Return the spec as nested dicts."""
        window = {"start": self.start, "end": self.end} | ({"every": self.every} if self.every else {})
        return {
            "data": dict(self.data),
            "places": dict(self.places),
            "window": window,
            "protect": protected(self.never, self.epsilon),
            "decide": decided(self.never, self.at_most),
            "budget": {"ledger": self.ledger, "dataset": self.dataset, "cap": self.cap},
        }

    def text(self, odds: str = "") -> str:
        """Return the spec as commented TOML.

        Args:
            odds: what is known of the answers before anything is charged.
        """
        return written(self.sections(), odds)


def protected(never: Never, epsilon: str) -> dict[str, Any]:
    """Return the keys of ``[protect]``: one person counts at one place, the one visited last."""
    return {"notion": NOTIONS[never], "epsilon": epsilon, "places_per_person": 1, "if_more": "latest"}


def decided(never: Never, at_most: int) -> dict[str, Any]:
    """Return the keys of ``[decide]``; see `Draft`."""
    if never == "dangerous":
        return {"dangerous_at_least": at_most}
    return {"safe_at_most": at_most} | ({"error_at_most": "0.01"} if never == "neither" else {})


def written(sections: Mapping[str, Mapping[str, Any]], odds: str = "") -> str:
    """Return sections of a spec as commented TOML; those that are not answered yet may be missing.

    Args:
        sections: the keys of each section.
        odds: what is known of the answers before anything is charged.
    """
    return "\n".join(_lines(sections, odds)) + "\n"


def _lines(sections: Mapping[str, Mapping[str, Any]], odds: str) -> Iterator[str]:
    yield "# A first spec of Leeward. Every key is explained on the page docs/spec.md."
    yield "# Next: `leeward check` with this file, on your own terminal; then `leeward release`."
    for section, keys in sections.items():
        yield ""
        yield from (f"# {line}" for line in _ABOUT.get(section, ()))
        if section == "protect":
            yield from (f"# {_MEANS[never]}." for never, notion in NOTIONS.items() if notion == keys["notion"])
        if section == "decide" and odds:
            yield f"# {odds}"
        yield f"[{section}]"
        for key, value in keys.items():
            line = f"{key} = {_toml(value)}"
            yield f"{line}  # {_BESIDE[key]}" if key in _BESIDE else line


_ABOUT: Final[Mapping[str, tuple[str, ...]]] = {
    "data": ("The private table: one row a visit. It never leaves this machine.",),
    "places": (
        "The public list: the answer has one row for each place, in this order. It must not be made from the visits: being",
        "listed would then reveal that somebody was there.",
    ),
    "window": ("From the start up to, but not at, the end.",),
    "protect": ("What is promised to each person, and how strongly: a smaller epsilon promises more and says less.",),
    "budget": ("What may ever be spent on these people, in all releases together.",),
}

_BESIDE: Final[Mapping[str, str]] = {
    "person": "who",
    "place": "where, written as in the other table",
    "time": "when",
    "epsilon": "what this release costs",
    "places_per_person": "one person counts at one place",
    "if_more": "whoever was at several counts at the one visited last",
    "safe_at_most": '"safe" means: at most so many people were counted there',
    "dangerous_at_least": '"dangerous" means: at least so many people were counted there',
    "error_at_most": "the largest chance of a wrong word about one place",
    "dataset": "a public name of the data",
    "cap": "no release goes beyond this",
    "delimiter": "what separates the columns",
    "encoding": "how its letters are stored",
    "decimal": "the decimal mark",
    "time_format": "how its times are written",
}


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_toml(each)}" for key, each in value.items()) + " }"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value)


def odds_of(made: Plan) -> str:
    """Say how often places are called safe, or dangerous, before anything is charged."""
    told = list[str]()
    curve = made.decision_curve()
    for at, (word, some) in enumerate((("safe", list(curve)[:4]), ("dangerous", list(curve)[-4:]))):
        chances = {count: curve[count][at] for count in some}
        listed = [
            f"{count}: {probability(float(chance), 2)}" for count, chance in chances.items() if chance is not None
        ]
        if listed:
            told.append(f"Chance of being called {word}, by how many people count there: {', '.join(listed)}.")
    return " ".join(told)
