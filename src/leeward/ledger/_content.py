# SPDX-License-Identifier: Apache-2.0
"""What a ledger knows of the content it was charged for: that it changed under its label, or has another name already.

All of it is for the curator alone. Digests and marks are made by `leeward.engine._content`, under a key that is not in the
ledger; here they are only compared. What cannot be compared is unknown, and unknown content is refused, not taken for equal.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, RowMapping, case, select

from leeward._plain import reading_alike
from leeward.errors import BudgetConflictError, ContentChangedError
from leeward.ledger._parts import altered
from leeward.ledger._schema import charges

if TYPE_CHECKING:
    from leeward.engine._content import Content

_ALIKE = 0.75
"""Names that agree more than this (`difflib.SequenceMatcher.ratio`) are refused: "gowala" and "gowalla" agree to 0.92."""

_ANYWAY = "If it is to have a budget of its own all the same, say so: --new-budget, or Budget(..., new=True) in Python"

_KEPT = (charges.c.digest_form, charges.c.digest_columns, charges.c.digest, charges.c.marks)


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Digests of a content, as they are kept.

    Attributes:
        form: how they were made, and with which key.
        columns: what the digest covers, as one text.
        digest: of all rows.
        marks: of the values of single columns, and which of them distinguish tables, as one text.
    """

    form: str
    columns: str
    digest: bytes
    marks: str

    @classmethod
    def kept(cls, charge: Mapping[str, Any] | RowMapping) -> Fingerprint:
        """Return that of a charge."""
        return cls(charge["digest_form"], charge["digest_columns"], charge["digest"], charge["marks"])

    @classmethod
    def of(cls, content: Content, key: str) -> Fingerprint:
        """Write digests as they are kept, with the fingerprint of the key that they were made with."""
        marks, telling = dict(content.marks), {*content.telling}
        written = json.dumps({"marks": marks, "telling": sorted(telling & {*marks})}, sort_keys=True)
        return cls(f"{content.form} {key}", json.dumps(list(content.columns)), bytes(content.digest), written)

    @property
    def by_column(self) -> dict[str, str]:
        """The marks by the names of their columns."""
        return self._read()[0]

    @property
    def telling(self) -> set[str]:
        """The marks that distinguish tables."""
        return self._read()[1]

    def _read(self) -> tuple[dict[str, str], set[str]]:
        try:
            kept = json.loads(self.marks)
            marks: dict[str, str] = dict(kept["marks"])
            return marks, {marks[name] for name in kept["telling"]}
        except (ValueError, TypeError, KeyError, RecursionError):
            raise altered("What the ledger keeps to recognise content cannot be read") from None

    def differs(self, other: Fingerprint) -> bool:
        """Whether two contents, of one form, differ in what both cover."""
        if self.columns == other.columns:
            return self.digest != other.digest
        mine, theirs = self.by_column, other.by_column
        return any(mine[name] != theirs[name] for name in mine.keys() & theirs.keys())


def charged_as(
    connection: Connection, dataset: str, version: str, lives: Callable[[object], bool]
) -> list[Fingerprint]:
    """Return what a label is bound to: contents that have an answer, or that somebody who ``lives`` has reserved one for.

    What was reserved and not answered binds nothing once its process has ended: nothing of that content was shown, and a
    table that grows from run to run would never be again what it was then.
    """
    of_label = (charges.c.dataset == dataset) & (charges.c.version == version)
    holder = case((charges.c.payload.is_(None), charges.c.holder), else_=None)
    rows = connection.execute(select(*_KEPT, holder).where(of_label).distinct()).all()
    ended = {one for one in {row[-1] for row in rows} if one is not None and not lives(one)}
    return [*dict.fromkeys(Fingerprint(*row[:-1]) for row in rows if row[-1] not in ended)]


def refuse_changed(charged: Iterable[Fingerprint], dataset: str, version: str, asked: Fingerprint) -> None:
    """Refuse content that is not what was charged under the same label.

    Raises:
        ContentChangedError: it changed, or cannot be compared.
    """
    for known in charged:
        if known.form != asked.form:
            raise ContentChangedError(
                f"The content of '{dataset}' under version '{version}'",
                "whether it changed is unknown: its digest was made with another key or in another form",
                "Give the data a new version label",
            )
        if known.differs(asked):
            raise ContentChangedError(
                f"The content of '{dataset}' changed under version '{version}'",
                "answers of different content must not share a label",
                "Give the data a new version label. That it changed is a fact about the data: for you only, not to be"
                " published",
            )


def refuse_known(
    connection: Connection, dataset: str, asked: Fingerprint, *, opens: bool, beside: Iterable[Fingerprint] = ()
) -> None:
    """Refuse content that is charged under another name, unless both names were charged for one content before.

    Args:
        connection: within a transaction.
        dataset: the name it is asked under.
        asked: the content.
        opens: whether this would open the budget of that name.
        beside: what is charged under that name in this transaction, and not written yet.

    Raises:
        BudgetConflictError: it is, or that is unknown. For the curator only.
    """
    names = select(charges.c.dataset).where(charges.c.dataset != dataset).distinct().order_by(charges.c.dataset)
    others = connection.execute(names).scalars().all()
    ours = [*_kept(connection, charges.c.dataset == dataset), *beside] if others else []
    mine: set[str] = set().union(*(known.telling for known in ours))
    if mine & asked.telling:
        return
    for other in others:
        kept = _kept(connection, charges.c.dataset == other)
        theirs: set[str] = set().union(*(known.telling for known in kept))
        if opens and any(known.form != asked.form for known in kept):
            raise BudgetConflictError(
                f"The first release of '{dataset}'",
                f"whether its content is charged as '{other}' already is unknown: the digests there were made with"
                " another key or in another form",
                _ANYWAY,
            )
        if theirs & asked.telling and not theirs & mine:
            raise BudgetConflictError(
                f"The content of '{dataset}' is charged as '{other}' already (this is for the curator only)",
                "two budgets for the same data add up to more than either says",
                f'Write dataset = "{other}". {_ANYWAY}',
            )


def refuse_alike(dataset: str, known: Iterable[str]) -> None:
    """Refuse to open a budget whose name is nearly that of another.

    Raises:
        BudgetConflictError: it is.
    """
    forms = {reading_alike(name): name for name in known}
    close = difflib.get_close_matches(reading_alike(dataset), forms, n=1, cutoff=_ALIKE)
    if close:
        other = forms[close[0]]
        raise BudgetConflictError(
            f"There is no budget of '{dataset}' yet, and one of '{other}'",
            "a mistyped name would get its own budget, for data that is charged elsewhere",
            f'Did you mean "{other}"? {_ANYWAY}',
        )


def versions_of(connection: Connection, dataset: str) -> set[str]:
    """Return the version labels that a dataset was charged under."""
    asked = select(charges.c.version).where(charges.c.dataset == dataset).distinct()
    return {*connection.execute(asked).scalars()}


def refuse_twin_version(known: Collection[str], dataset: str, version: str) -> None:
    """Refuse a new version label that reads as a known one of the dataset does: it would be charged anew.

    Raises:
        BudgetConflictError: it does.
    """
    if version in known:
        return
    equivalent = [
        one for one in sorted(known, key=str) if isinstance(one, str) and reading_alike(one) == reading_alike(version)
    ]
    if equivalent:
        raise BudgetConflictError(
            f"There is no version '{version}' of '{dataset}' yet, and one '{equivalent[0]}'",
            "they read alike, and the answers of one would be charged again under the other",
            f'Write version = "{equivalent[0]}", or a label that reads otherwise',
        )


def _kept(connection: Connection, where: Any) -> list[Fingerprint]:
    return [Fingerprint(*row) for row in connection.execute(select(*_KEPT).where(where).distinct())]
