# SPDX-License-Identifier: Apache-2.0
"""A first spec, drafted from a few answers: commented TOML, in which nothing is a value of the data."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from leeward._plain import probability
from leeward.planner._plan import Plan
from leeward.planner._unlisted_plan import UnlistedPlan

if TYPE_CHECKING:
    from leeward.planner._accuracy import UnlistedAccuracy
    from leeward.planner._number_plan import NumberPlan
    from leeward.planner._rank_plan import RankPlan

_ALTERNATIVE: Final[Mapping[str, str]] = {
    "addition-only": "{who} in the data can pass as {one} is not",
    "removal-only": "{who} not in the data can pass as {one} is (weak: docs/limits.md)",
    "dp": "{who} in the data can pass as {one} is not, and the reverse",
}
_WHO: Final = {"who": "Whoever is", "one": "somebody who"}
_EACH_ROW: Final = {"who": "A single row that is", "one": "one that"}
_DECIDES: Final[Mapping[str, str]] = {
    "addition-only": "'Safe' is never wrong of those counted",
    "removal-only": "'Dangerous' is never wrong of those counted",
    "dp": "Either word may be wrong, rarely",
}
_ANSWERS: Final[Mapping[str, str]] = {
    "addition-only": "No answer is ever below the exact one of those counted",
    "removal-only": "No answer is ever above the exact one of those counted",
    "dp": "An answer may be too low or too high",
}


def written(sections: Mapping[str, Mapping[str, Any]], odds: Sequence[str] = ()) -> str:
    """Return sections of a spec as commented TOML; those that are not answered yet may be missing."""
    return "\n".join(_lines(sections, odds)) + "\n"


def _lines(sections: Mapping[str, Mapping[str, Any]], odds: Sequence[str]) -> Iterator[str]:
    yield "# A first spec of Leeward. Every key is explained on the page docs/spec.md."
    yield "# Next: `leeward check` with this file, on your own terminal; then `leeward release`."
    decides, table = "decide" in sections, "table" in sections.get("data", {})
    beside = {**_BESIDE, **(_BESIDE_OF_TABLES if table else {})}
    for section, keys in sections.items():
        about = [*(_ABOUT_OF_TABLES if table else _ABOUT).get(section, _ABOUT.get(section, ()))]
        if section == "query":
            unlisted = isinstance(keys.get("by"), str)
            about += [said for key, said in _PUBLIC.items() if key in keys and not (unlisted and key == "by")]
            about += [_NOT_LISTED] if unlisted else []
        if section == "protect" and (notion := keys.get("notion", "")) in _ALTERNATIVE:
            unit = _EACH_ROW if sections.get("data", {}).get("person") == "each row" else _WHO
            certain = (_DECIDES if decides or not table else _ANSWERS)[notion]
            about.append(f"{_ALTERNATIVE[notion].format(**unit)}. {certain}.")
        if section == ("decide" if decides else "protect"):
            about += odds
        yield from ("", *(f"# {line}" for line in about), f"[{section}]")
        for key, value in keys.items():
            line = f"{key} = {_toml(value)}"
            yield f"{line}  # {beside[key]}" if key in beside else line


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

_ABOUT_OF_TABLES: Final[Mapping[str, tuple[str, ...]]] = {
    "data": ("The private table. It never leaves this machine.",),
    "query": ("What is asked.",),
}

_PUBLIC: Final[Mapping[str, str]] = {
    "lower": "The range is public. It must not be taken from the data: the largest number is somebody's own.",
    "levels": "The levels are public, and must not be taken from the data.",
    "by": "The groups are public. They must not be listed from the data: being listed would reveal that somebody is in one.",
}
"""What is said of keys that are public, and why."""

_NOT_LISTED: Final = "Groups with enough people are shown, and of all others nothing is said."

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
    "cap_delta": "nor does the delta of all of them",
    "keep": "only rows that hold one of these count",
    "delimiter": "what separates the columns",
    "encoding": "how its letters are stored",
    "decimal": "the decimal mark",
    "time_format": "how its times are written",
}

_BESIDE_OF_TABLES: Final[Mapping[str, str]] = {
    "person": 'who; "each row" means that nobody has two',
    "column": "the number of a person",
    "lower": "smaller numbers are taken for this",
    "upper": "larger numbers are taken for this",
    "step": "numbers are rounded to multiples of it, or intervals are so wide",
    "grid": "the answer is a multiple of it",
    "p": "which percentiles: 50 is the median",
    "levels": "asked from the highest down",
    "by": "the column of groups",
    "combine": "what becomes of a person's several rows",
    "most_groups": "so many are shown at most",
    "delta": "so likely the promise may fail",
    "groups_per_person": "one person counts in one group",
    "if_more": "whoever is in several counts in the first by name",
    "safe_at_most": '"safe" means: at most so many people are counted',
    "dangerous_at_least": '"dangerous" means: at least so many people are counted',
    "error_at_most": "the largest chance of one wrong word",
}


_BARE_KEY: Final = re.compile("[A-Za-z0-9_-]+")


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        named = ((key if _BARE_KEY.fullmatch(key) else _toml(key), _toml(each)) for key, each in value.items())
        return "{ " + ", ".join(f"{key} = {each}" for key, each in named) + " }"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return str(value)


def odds_of(made: Plan | NumberPlan | RankPlan | UnlistedPlan) -> list[str]:
    """Say what is known of the answers before anything is charged: a line each."""
    if isinstance(made, Plan):
        return _chances(made)
    if isinstance(made, UnlistedPlan):
        return _shown(made.accuracy())
    return [line[:1].upper() + line[1:] for line in made.accuracy().lines()]


def _shown(found: UnlistedAccuracy) -> list[str]:
    """Say from how many people on a group may be shown, and how large the noise of its count is."""
    several = [(found.half_shown_from, "every second time"), (found.mostly_shown_from, "95 times in 100")]
    if (always := found.always_shown_from) is not None:
        several = [each for each in several if each[0] < always] + [(always, "for certain")]
    shown = ", ".join(f"with {people:,} {often}" for people, often in several)
    return [
        f"How many {found.counted} a group needs to be shown: {shown.removeprefix('with ')}; if not too many are.",
        f"The noise of its count is at most {found.within_95_percent:,}, with probability 95 %.",
    ]


def _chances(made: Plan) -> list[str]:
    """Say how often places are called safe, or dangerous."""
    sentences = list[str]()
    curve = made.decision_curve()
    most = made.safe_at_most or 0
    by = f"by how many {made.counted.many} count there"
    if made.mechanism.stop_after is not None:
        by = f"of those that are asked, {by}"
    near = sorted({0, *((1, 2, 3) if most < 3 else (most // 2, most, most + 1))} & curve.keys())
    for at, (word, some) in enumerate((("safe", near), ("dangerous", list(curve)[-4:]))):
        chances = {count: curve[count][at] for count in some}
        listed = [
            f"{count}: {probability(float(chance), 2)}" for count, chance in chances.items() if chance is not None
        ]
        if listed:
            sentences.append(f"Chance of being called {word}, {by}: {', '.join(listed)}.")
    return sentences
