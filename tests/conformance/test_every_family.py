"""No mechanism is left out: every public class with an exact matrix has a conformance case."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import leeward.mechanism
from leeward.mechanism import FiniteMechanism


def families() -> set[str]:
    found = set()
    for name in leeward.mechanism.__all__:
        value = getattr(leeward.mechanism, name)
        if inspect.isclass(value) and (hasattr(value, "on") or value is FiniteMechanism):
            found.add(name)
    return found


def test_every_family_has_its_conformance_cases() -> None:
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*_conformance.py"))
    missing = {name for name in families() if not re.search(rf"\b{name}(\.\w+)?\(|: {name}\b", tests)}
    assert missing == set(), "add a subclass of MechanismConformance"
    assert len(families()) >= 9, "classes are found by their method `on`"
