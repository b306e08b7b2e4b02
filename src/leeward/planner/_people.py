# SPDX-License-Identifier: Apache-2.0
"""Numbers of people and of places, in words."""

from __future__ import annotations

from leeward._plain import counted


def people(count: int) -> str:
    """Count people: ``nobody``, ``1 person``, ``2 people``."""
    return "nobody" if count == 0 else counted(count, "person", "people")


def at_most_people(count: int) -> str:
    """Say how many people a safe place has: ``nobody``, ``at most 2 people``."""
    return people(count) if count == 0 else f"at most {people(count)}"


def places(count: int) -> str:
    """Count places: ``1 place``, ``2 places``."""
    return counted(count, "place")
