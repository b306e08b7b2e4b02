# SPDX-License-Identifier: Apache-2.0
"""What a notion class of a user's own is held to.

Nobody has read such a class, so little of it is believed: `record` on the records that its changes list, which are then all
records there are. From them come its prices in other notions; a class that lists none has a price in itself alone. And
nothing that is known of a class of Leeward's, such as its prices, is taken to hold for what somebody has made of it: a class
that changes more than the words is derived from Notion itself.
"""

from __future__ import annotations

import functools
import itertools
from abc import ABC
from collections.abc import Callable
from typing import Any

from leeward._taught import is_ours
from leeward.errors import InputError
from leeward.exact._real import Exact, finite


def hold_to_its_words(kind: type, notion: type) -> bool:
    """Refuse a class of a user's own that changes what a notion of Leeward's promises.

    Args:
        kind: the new class.
        notion: `leeward.notion.Notion`, from which it may be derived.

    Returns:
        Whether it is another name for a notion of Leeward's: it changes nothing but words.
    """
    # by the order of bases: `issubclass` of an abstract class goes by what a class has that is not finished here
    ours, *more = (base for base in kind.__mro__ if is_ours(base) and notion in base.__mro__)
    if ours is notion:
        return False
    made = itertools.takewhile(lambda base: base is not ours, kind.__mro__)
    changed = sorted({name for base in made for name in vars(base)} - _WORDS)
    changed += [base.__name__ for base in more if base not in ours.__mro__]
    if changed:
        raise InputError(
            f"The class {kind.__name__}, a {ours.__name__} with another `{changed[0]}`",
            f"what Leeward knows of {ours.__name__} would be taken to hold for it, and it may promise something else",
            "Derive it from Notion itself, with its own `record`, `changes` and `cost`; of a notion of Leeward's only"
            " `name` and `words` may be changed",
        )
    return True


class _Nothing(ABC):
    """Has what Python writes on every class, and nothing else."""

    nothing: None


_WORDS = {"name", "words", "__orig_bases__", "__parameters__", *vars(_Nothing)}
"""What may be changed of a notion of Leeward's."""


def checked(with_epsilon: Callable[[Any, Exact], Any]) -> Callable[[Any, Exact], Any]:
    """Return the method of a class of a user's own, held to what it is for: the same promise with another ε."""

    @functools.wraps(with_epsilon)
    def held(notion: Any, epsilon: Exact) -> Any:
        made, asked = with_epsilon(notion, epsilon), finite(epsilon, "epsilon")
        if getattr(made, "epsilon", None) != asked:
            kind = type(notion).__name__
            raise InputError(
                f"`with_epsilon` of {kind}, asked for ε = {asked}",
                "what it gives is no notion with that ε, so no multiple of the promise is known",
                f"Return a {kind} of which all prices are scaled so that `epsilon` is the one that was asked for",
            )
        check_proportional(notion, made)
        return made

    return held


def check_proportional(notion: Any, made: Any) -> None:
    """Refuse another ε where it would not change what a class of a user's own promises in proportion."""
    try:
        asked = [(notion.cost(change), made.cost(change)) for change in notion.changes]
    except InputError:  # changes that cannot be listed: nothing is derived from them either
        asked = []
    records = notion.sees.records or (frozenset(("a fact",)), frozenset(("a fact", "another fact")), None)
    for x, y in itertools.permutations(records[:_MOST_ASKED], 2):
        try:
            asked.append((notion.record(x, y), made.record(x, y)))
        except (AttributeError, TypeError, KeyError, ValueError, InputError):
            break  # records of another kind
    for before, after in asked:
        if before.is_infinite != after.is_infinite or before * made.epsilon != after * notion.epsilon:
            kind = type(notion).__name__
            raise InputError(
                f"{notion} with ε = {made.epsilon}",
                f"a cost of {before} would be {after}: the costs of `{kind}` are not ε times something that does not depend"
                " on ε, and a multiple of the promise would be another promise than it says",
                f"Give {kind} a method `with_epsilon` that scales all its costs alike, as Graded does",
            )


_MOST_ASKED = 12
"""Records between which distances are compared, where they are listed."""
