"""A registry of sentences: what each says, as a predicate on the world that it is said of.

A world is a tiny universe with a mechanism on it, so small that what a sentence says can be decided by going through
everything. A sentence that no pattern matches fails the test: whoever writes a new sentence says here what makes it true.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

Predicate = Callable[..., bool]


@dataclass(frozen=True)
class Claim:
    """A pattern of sentences and what makes such a sentence true.

    Attributes:
        pattern: a regular expression that matches the whole sentence; its named groups are given to the predicate.
        holds: the predicate: a world, then what was matched.
        neutral: whether it says nothing that could be false (a heading, an instruction).
    """

    pattern: re.Pattern[str]
    holds: Predicate
    neutral: bool = False


@dataclass
class Claims:
    """The registry; ``seen`` holds which claims were met, and of which world a sentence was said."""

    claims: list[Claim] = field(default_factory=list)
    seen: dict[str, list[tuple[str, Any]]] = field(default_factory=dict)

    def says(self, *patterns: str) -> Callable[[Predicate], Predicate]:
        """Register a predicate for sentences of these patterns."""

        def register(holds: Predicate) -> Predicate:
            self.claims += [Claim(re.compile(pattern, re.DOTALL), holds) for pattern in patterns]
            return holds

        return register

    def neutral(self, *texts: str) -> None:
        """Register texts that claim nothing."""
        self.claims += [Claim(re.compile(text, re.DOTALL), lambda world: True, neutral=True) for text in texts]

    def matching(self, sentence: str) -> list[tuple[Claim, Mapping[str, str]]]:
        """Return the claims that a sentence makes, and what they matched: as it stands, or made of a part of a statement.

        A report begins such parts with a capital and ends them with a full stop.
        """
        plain = sentence.removesuffix(".")
        for text in (sentence, plain, plain[:1].lower() + plain[1:]):
            found = ((claim, claim.pattern.fullmatch(text)) for claim in self.claims)
            if matched := [(claim, match.groupdict()) for claim, match in found if match is not None]:
                return matched
        return []

    def check(self, sentence: str, world: Any) -> None:
        """Assert that a sentence is known and true of a world."""
        found = self.matching(sentence)
        assert found, f"a sentence without a predicate: {sentence!r}"
        for claim, matched in found:
            self.seen.setdefault(claim.pattern.pattern, []).append((sentence, world))
            assert claim.holds(world, **matched), f"false of {world}: {sentence!r}"

    def check_all(self, sentences: Iterable[str], world: Any) -> None:
        """Assert that all sentences are known and true; what is false is told together."""
        wrong = []
        for sentence in sentences:
            try:
                self.check(sentence, world)
            except AssertionError as error:
                wrong.append(str(error).split("\nassert")[0])
        assert not wrong, "\n".join(wrong)

    def met(self, sentences: Iterable[str]) -> set[str]:
        """Return the patterns of the claims that some of these sentences make."""
        return {claim.pattern.pattern for sentence in sentences for claim, _ in self.matching(sentence)}

    def never_false(self, sentences: Iterable[str], worlds: Iterable[Any]) -> list[str]:
        """Return those sentences that no world makes false: their predicates would let any sentence pass."""
        worlds = tuple(worlds)
        return [
            sentence
            for sentence in sentences
            if any(all(_holds(claim, world, found) for world in worlds) for claim, found in self.matching(sentence))
        ]


def _holds(claim: Claim, world: Any, matched: Mapping[str, str]) -> bool:
    try:
        return bool(claim.holds(world, **matched))
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError):
        return False  # the sentence has no meaning there
