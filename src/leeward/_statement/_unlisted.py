# SPDX-License-Identifier: Apache-2.0
"""The statement of a release of groups that nobody has listed: which groups there are is part of its answer."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar, Literal, TypeAlias

from leeward._document import Document, Part
from leeward._statement._documents import (
    GroupStatement,
    NumberStatement,
    SelectionStatement,
    VisitorStatement,
    WindowStated,
)
from leeward._statement._heading import Heading
from leeward._statement._keep import Keep
from leeward.planner._accuracy import UnlistedAccuracy
from leeward.query._records import Many
from leeward.query._statistic import Noun
from leeward.query._unlisted_groups import IfMoreGroups


class UnlistedQuery(Part):
    """Which groups were asked for, and who counts in them.

    Attributes:
        kind: ``unlisted groups``.
        text: the question in words.
        by: the column of the groups.
        groups_per_person: in so many of them a person counts at most; None where every row is a person of its own.
        if_more: what becomes of a person in more; None where every row is a person of its own.
        most_groups: so many groups are published at most, those with the greatest noisy counts.
        longest_name: so many bytes a group's name has at most; rows with a longer one name no group.
        keep: the filter.
        window: when; None where rows of all times count.
    """

    kind: Literal["unlisted groups"] = "unlisted groups"
    text: str
    by: str
    groups_per_person: int | None
    if_more: IfMoreGroups | None
    most_groups: int
    longest_name: int
    keep: Keep
    window: WindowStated | None

    noun: ClassVar[Noun] = "group"
    """What each answer is about."""

    @property
    def many(self) -> Many:
        """What those are called who are counted: ``people``; ``rows`` where every row is a person of its own."""
        return "rows" if self.groups_per_person is None else "people"

    @property
    def listed(self) -> int:
        """How many answers there are at most."""
        return self.most_groups


class UnlistedMechanism(Part):
    """How groups that occur are shown, or not.

    Attributes:
        name: ``unknown keys``.
        text: what is done, in words.
        rate_up: of the noise; ``inf`` where it never adds.
        rate_down: of the noise; ``inf`` where it never takes away.
        reach: how far noise goes at most; None where it has no end.
        threshold: the least noisy count that is shown.
    """

    name: Literal["unknown keys"] = "unknown keys"
    text: str
    rate_up: str
    rate_down: str
    reach: int | None
    threshold: int


class DeltaStated(Part):
    """The probability with which ε may not hold for a person.

    Attributes:
        promised: δ, exact: what is promised, and taken from the budget; "0" where ε holds always.
        needed: the δ that the mechanism has, at most that: a decimal, rounded up.
        of_one_group: how often a group with one person in it is shown at most: a decimal, rounded up.
        text: what it means, in words.
    """

    promised: str
    needed: str
    of_one_group: str
    text: str


class UnlistedStatement(Heading, Document):
    """The statement of a release of groups that nobody has listed; the attributes of a `Heading`, and these.

    Attributes:
        query: what was asked.
        mechanism: which groups are shown, and the noise of their counts.
        delta: the probability with which ε may not hold for a person.
        accuracy: which groups are shown how often, and how far their counts are off.
    """

    query: UnlistedQuery
    mechanism: UnlistedMechanism
    delta: DeltaStated
    accuracy: UnlistedAccuracy

    @property
    def promised_delta(self) -> Fraction:
        """The δ of the promise, which is taken from the budget too; 0 where ε holds always."""
        return Fraction(self.delta.promised)


Statement: TypeAlias = VisitorStatement | GroupStatement | NumberStatement | SelectionStatement | UnlistedStatement
"""The statement of any release; ``query.kind`` says which, and of a histogram whether there is a ``decision``."""
