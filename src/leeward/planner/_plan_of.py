# SPDX-License-Identifier: Apache-2.0
"""What every plan has: a question, a notion whose ε is its price, what is protected; and how it is told."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, Self, TypeVar

from leeward._displayed import Displayed
from leeward._plain import plain_lines
from leeward.exact._real import Real
from leeward.notion import Notion, PrivacyDescription, words_of
from leeward.query import Selection
from leeward.query._statistic import DrawnFrom
from leeward.query._unlisted_groups import AnyQuestion

Asked = TypeVar("Asked", bound=AnyQuestion | Selection)


@dataclass(frozen=True)
class PlanOf(ABC, Displayed, Generic[Asked]):
    """What a release of a question will do, known before anything is spent.

    Attributes:
        query: the question.
        notion: the privacy notion.
    """

    query: Asked
    notion: Notion

    @property
    def counted(self) -> AnyQuestion:
        """The question that an engine counts."""
        return self.query.counts if isinstance(self.query, Selection) else self.query

    @property
    def drawn_from(self) -> DrawnFrom:
        """What the mechanism draws from: the exact answers."""
        return "answer"

    @property
    def price(self) -> Real:
        """ε of the notion: rates are the largest that the costs of its steps allow, so it is the least price."""
        return self.notion.epsilon

    @property
    def words(self) -> PrivacyDescription:
        """The notion's words at the ε of the whole price, about rows where every row is a person of its own."""
        return words_of(self.notion.with_epsilon(self.price), rows=self.query.of_rows)

    def listing(self, places: int | None) -> Self:
        """Return the plan for so many public keys; the same, where nothing depends on their number."""
        return self

    @abstractmethod
    def lines(self) -> Iterable[str]:
        """Say in lines what is asked, what it costs, and what the answers are worth."""

    def __str__(self) -> str:
        """Say what it costs, what the answers are worth, and what is protected."""
        words = self.words
        protected = f"protected: {words.protects}", f"not protected: {words.reveals or 'nothing'}"
        return plain_lines("\n".join([*self.lines(), *protected]))
