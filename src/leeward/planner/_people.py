# SPDX-License-Identifier: Apache-2.0
"""Numbers of people and of places, in words: of rows and of groups, where these are what is counted and listed."""

from __future__ import annotations

from leeward._plain import counted
from leeward.query._records import Many
from leeward.query._statistic import Noun


def people(count: int, many: Many = "people") -> str:
    """Count people: ``nobody``, ``1 person``, ``2 people``; or rows: ``no row``, ``1 row``."""
    if many == "rows":
        return counted(count, "row") if count else "no row"
    return "nobody" if count == 0 else counted(count, "person", "people")


def if_left_out(most: int) -> str:
    """Say for which places the chances of words about all who were there are exact, by a guess of how many are left out."""
    return f"where nobody was left out, and {f'at most {people(most)}' if most else 'nobody'} anywhere"


def at_most_people(count: int, many: Many = "people") -> str:
    """Say how many people a safe place has: ``nobody``, ``at most 2 people``."""
    return people(count, many) if count == 0 else f"at most {people(count, many)}"


def places(count: int, noun: Noun = "place") -> str:
    """Count places: ``1 place``, ``2 places``; or groups."""
    return counted(count, noun)


def a(noun: Noun) -> str:
    """Return a noun with its article: ``a place``, ``an interval``."""
    return f"{'an' if noun == 'interval' else 'a'} {noun}"


def there(noun: Noun) -> str:
    """Say of people that they count: they were ``there``; or they are ``in the group``."""
    if noun == "level":
        return "above the level"
    return "there" if noun == "place" else f"in the {noun}"


def those_there(noun: Noun, many: Many, *, counted: bool) -> str:
    """Say of whom a number is: the ``people there``; or ``people counted there`` where others may be there as well."""
    return f"{many} {'counted ' if counted else ''}{there(noun)}"


def were_there(count: int, noun: Noun) -> str:
    """Say that so many people at most, or at least, count at a place: ``were there``; or ``are in the group``."""
    return f"{('was' if count < 2 else 'were') if noun == 'place' else ('is' if count < 2 else 'are')} {there(noun)}"


def empty(noun: Noun, many: Many) -> str:
    """Say that nobody counts at a place: ``where nobody was``; or of a group ``with nobody``."""
    if noun == "level":
        return f"above which {people(0, many)} is"
    return "where nobody was" if noun == "place" else f"with {people(0, many)}"


def nobody(noun: Noun, many: Many) -> str:
    """Say "if nobody were anywhere"; of groups, "if all were empty"."""
    if noun == "level":
        return f"{people(0, many)} were above any"
    return "nobody were anywhere" if noun == "place" else "all were empty"
