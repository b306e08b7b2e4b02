# SPDX-License-Identifier: Apache-2.0
"""What a charge bought, in words: read from the key that the ledger keeps of its question, which holds public facts only."""

from __future__ import annotations

from pydantic import ValidationError

from leeward._plain import listed
from leeward.errors import LeewardError
from leeward.exact._text import read
from leeward.planner._words import epsilon
from leeward.session._question import AboutUnlisted, AboutVisitors, Naming, Question, Span


def bought(key: str) -> str:
    """Say what was asked, when, and under which promise; nothing of a key that is none of this version's."""
    try:
        asked = Question.model_validate_json(key)
        cost = epsilon(str(read(asked.notion.epsilon)))
        sentence = f"{_what(asked)}{_when(asked)}, {asked.notion.name} at {cost}"
        sentence += "" if asked.rounds is None else f", window {len(asked.rounds)} of a monitor"
        return sentence + ("" if asked.fit_for_release else ", from a seed: not fit for release")
    except (ValidationError, LeewardError):
        return ""


def _what(asked: Question) -> str:
    about = asked.about
    named = next((one.which for one in asked.mechanisms if isinstance(one, Naming)), None)
    if isinstance(about, AboutVisitors):
        return f"the {named} place" if named else "people at each place"
    if isinstance(about, AboutUnlisted):
        return f"groups by '{about.by}' that nobody has listed"
    by = [] if about.by is None else [about.by] if isinstance(about.by, str) else list(about.by)
    groups = f" by {listed([f'{name!r}' for name in by])}" if by else ""
    if named:
        return f"the {named} group{groups}"
    of = "" if about.column is None else f" of '{about.column}'"
    kind = about.kind if about.numeric is None else about.numeric.kind
    return f"{kind}{of}{groups}"


def _when(asked: Question) -> str:
    window = getattr(asked.about, "window", None)
    if not isinstance(window, Span):
        return ""
    start, end = (text.replace("T", " ").removesuffix(":00") for text in (window.start, window.end))
    return f", {start} to {end}"
