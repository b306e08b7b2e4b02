"""Notions of a user's own, written after one of Leeward's: what tests change, and nothing that Leeward knows of it."""

from __future__ import annotations

from typing import Any, ClassVar

from leeward.exact import Real
from leeward.notion import Change, Notion


class After(Notion):
    """The steps, distance and words of a notion of Leeward's (`class Mine(After, notion=UnboundedDP)`), if not its own."""

    notion: ClassVar[type[Notion]]

    def __init_subclass__(cls, *, notion: type[Notion] | None = None, **options: Any) -> None:
        super().__init_subclass__(**options)
        if notion is not None:
            cls.notion = notion
            cls.name, cls.words = (vars(cls).get(key, getattr(notion, key)) for key in ("name", "words"))

    def record(self, before: Any, after: Any) -> Real:
        return self.notion(self.epsilon).record(before, after)

    def cost(self, change: Change) -> Real:
        return self.notion(self.epsilon).cost(change)
