# SPDX-License-Identifier: Apache-2.0
"""Documents: what is published, printed as JSON or kept in a ledger, as typed models with one serialiser.

A document is frozen, knows each of its keys, and says its ``format``: a reader of old files sees which rules they follow.
Exact numbers are texts ("1/3", "inf"), so no reader rounds them.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict

Exactly = Annotated[str, BeforeValidator(lambda number: str(number) if isinstance(number, Fraction) else number)]
"""An exact number, which may be given as a fraction."""


class Part(BaseModel):
    """A part of a document: read by attribute, never changed; a key that it does not know is an error."""

    # built when first used: a command uses few of them
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    @classmethod
    def copied_from(cls, held: object, **others: Any) -> Self:
        """Return it from what an object holds under the same names, and others."""
        return cls(**{name: getattr(held, name) for name in cls.model_fields if name not in others}, **others)


class Document(Part):
    """A whole document. Its ``format``, a literal integer in each, grows when a key comes, goes or changes its meaning."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON can hold it: dicts, lists, texts, numbers, truths and None."""
        return self.model_dump(mode="json", by_alias=True)

    def to_json(self) -> str:
        """Return it as the text that is written to files and printed."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def canonical(self) -> str:
        """Return the one text of it that two equal documents share: keys in order, one line, no escapes."""
        return json.dumps(self.to_dict(), sort_keys=True, ensure_ascii=False)
