# SPDX-License-Identifier: Apache-2.0
"""What a look before a release found, in words: facts about the data, for the curator only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from leeward._plain import counted
from leeward._private import Private
from leeward.planner._selection_plan import AnyPlan, SelectionPlan
from leeward.query._reasons import said
from leeward.query._statistic import Statistic
from leeward.query._unlisted_groups import UnlistedGroups
from leeward.session._standing import Standing

if TYPE_CHECKING:
    from leeward.engine import Look
    from leeward.engine._matches import Matches, Survey
    from leeward.ledger._records import Amount

FOR_CURATOR: Final = "For the curator only: facts about the data, which no promise covers. Do not publish them."


_NOTHING: Final = "Nothing was charged or written."


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Checked(Private):
    """What a curator should know before a release: facts about the data, which no promise covers.

    Its ``repr`` shows none of them, and it is not pickled; ``str`` and a notebook show them, without a value of any row.

    Attributes:
        dataset: the public name of the data.
        plans: the plans, one a window, about this public list.
        keys: how many public keys each answer has.
        looks: how much each window would count, and why not more.
        survey: what else there is to know of the table.
        standing: where the budget stands, and which answers are stored.
        prices: what the release would charge for each plan that is not paid for, by its key in the ledger.
        refusals: what would refuse the release, each once, in the words of the refusal.
        stand_in: what the first answer will look like: the first rows of one that was drawn from made-up counts.
        over_bound: what becomes of the people over the bound, in words, a window each; empty where there are none.
    """

    dataset: str
    plans: Sequence[AnyPlan]
    keys: int
    looks: Sequence[Look]
    survey: Survey
    standing: Standing
    prices: Mapping[str, Amount]
    refusals: Sequence[str]
    stand_in: pa.Table
    over_bound: Sequence[str]

    @property
    def price(self) -> Fraction:
        """What the release would charge: 0 where every answer is stored."""
        return sum((one.epsilon for one in self.prices.values()), Fraction(0))

    @property
    def delta(self) -> Fraction:
        """What it would charge of δ."""
        return sum((one.delta for one in self.prices.values()), Fraction(0))

    @property
    def answer_rows(self) -> int:
        """How many rows each answer has; at most so many, where groups are not listed."""
        return 1 if isinstance(self.plans[0], SelectionPlan) else self.keys

    @property
    def dropped(self) -> Mapping[str, int]:
        """How many rows would not count, by reason: in no window of the run, where there are several."""
        from leeward.engine._look import together

        return together(self.looks, sum(look.taken for look in self.looks))

    @property
    def all_named(self) -> bool:
        """Whether some row names every listed key and no other, as where the list was made from the rows."""
        found = self.survey.matches
        return found is not None and found.listed > 1 and not found.lacking and not found.unlisted

    def facts(self, *, ends: bool = False) -> list[tuple[str, str]]:
        """Return what was found, each with what it is about: rows, keys and the budget.

        Args:
            ends: tell the first and the last time in the data too. Each is a value of a row, and what is printed in a
                notebook is kept in its file.
        """
        return [*_rows(self, ends=ends), *_keys(self), *_budget(self)]

    @property
    def of_stand_in(self) -> str:
        """What `stand_in` is, in words."""
        unlisted = isinstance(self.plans[0].counted, UnlistedGroups)
        answer = f"An answer has {'at most ' if unlisted else ''}{counted(self.answer_rows, 'row')}"
        return f"{answer}. Drawn from made-up counts, which say nothing of the data, it begins:"

    def begins(self) -> list[dict[str, str]]:
        """Return the rows of `stand_in` as they are shown; what is missing is empty."""
        held = self.stand_in.to_pylist()
        return [{name: "" if value is None else str(value) for name, value in row.items()} for row in held]

    def __str__(self) -> str:
        refused = [("a release would be refused", said) for said in self.refusals]
        facts = [f"{about}: {said}" for about, said in (*self.facts(), *refused)]
        rows = ["  " + ", ".join(f"{name} {value}" for name, value in row.items()) for row in self.begins()]
        return "\n".join([FOR_CURATOR, *facts, self.of_stand_in, *rows, _NOTHING])

    def _repr_html_(self) -> str:
        from leeward.report import facts, table_html

        refused = [("a release would be refused", said) for said in self.refusals]
        columns = self.stand_in.column_names
        begins = table_html(self.of_stand_in, columns, [list(row.values()) for row in self.begins()])
        return facts(FOR_CURATOR, [*self.facts(), *refused]) + begins + facts(_NOTHING, [])


_MOST_WINDOWS = 12
_MOST_TOLD = 3


def _rows(found: Checked, *, ends: bool) -> Iterator[tuple[str, str]]:
    from leeward.engine._look import times_of

    looks = found.looks
    yield "rows", f"{looks[0].rows:,} in the table"
    if len(looks) == 1:
        yield "counted", counted(looks[0].taken, "row")
    else:
        each = [look.taken for look in looks]
        yield "counted", f"{counted(sum(each), 'row')} in {len(looks)} windows"
        shown = ", ".join(f"{rows:,}" for rows in each[:_MOST_WINDOWS])
        yield "counted", f"window by window: {shown}{', …' if len(each) > _MOST_WINDOWS else ''}"
    for reason, number in found.dropped.items():
        if number:
            yield "not counted", said(reason, number)
    if sum(look.stand_ins for look in looks):
        yield "people", said("stand_in", sum(look.stand_ins for look in looks))
    if found.survey.people is not None and found.survey.people.ids:
        yield "people", found.survey.people.said()
    over_bound = list(filter(None, found.over_bound))
    for over in list(dict.fromkeys(over_bound))[:_MOST_TOLD]:
        yield "over the bound", over
    if len(set(over_bound)) > _MOST_TOLD:
        yield "over the bound", f"and others in more windows: there are some in {len(over_bound)} of {len(looks)}"
    if (beyond := found.survey.beyond) is not None and (beyond.below or beyond.above):
        yield "beyond the bounds", f"{beyond.said()}: {beyond.count_as}"
    if (times := times_of(looks)) is not None:
        first, last = times
        yield (
            "times",
            f"the data run from {first} to {last}" if ends else "where the data begin and end: looks[0].times",
        )
        yield "times", _window(found)


def _window(found: Checked) -> str:
    windows = [each for made in found.plans if (each := made.counted.window) is not None]
    ends = [each.public() for each in windows]
    what = "the window runs" if len(windows) == 1 else f"the {len(windows)} windows run"
    return f"{what} from {min(each['start'] for each in ends)} to {max(each['end'] for each in ends)}"


def _spelt(matched: Matches, title: str, lost: str) -> Iterator[tuple[str, str]]:
    """Say what differs only in how it is written, and what that leaves out."""
    from leeward.engine._matches import some

    title = f"{title} spelt otherwise"
    for way, keys in matched.alike.items():
        yield title, f"{len(keys):,} would match but for {way}: {some(keys)}"
    for way, keys in matched.split.items():
        yield title, f"{len(keys):,} would match more rows but for {way}: {some(keys)}"
    if matched.alike or matched.split:
        yield title, f"as they stand, {lost}: correct one of the two"


def _keys(found: Checked) -> Iterator[tuple[str, str]]:
    matched = found.survey.matches
    if (allowed := found.survey.filter) is not None:
        yield "filter", f"{counted(allowed.listed, 'text')} allowed, of which rows hold {allowed.named:,}"
        yield from _spelt(allowed, "texts of the filter", "the filter leaves those rows out")
    if matched is None:
        return
    noun = found.plans[0].counted.noun
    title = f"{noun}s" if noun == "place" else "groups"
    one = title.removesuffix("s")
    asked = found.plans[0].counted
    listed = counted(matched.listed, one)
    if isinstance(asked, Statistic) and isinstance(asked.by, tuple):
        listed = f"{counted(matched.listed, 'value')} of {len(asked.by)} columns"
    yield title, f"{listed} listed, of which rows name {matched.named:,}, at any time"
    if matched.unlisted:
        yield title, f"rows name {matched.unlisted:,} more that {'is' if matched.unlisted == 1 else 'are'} not listed"
    yield from _spelt(matched, title, "those rows do not count there")
    if found.all_named and noun == "place":
        yield (
            title,
            (
                "every listed place is visited, and no other. If the list was made from the visits, it is not public:"
                " being listed reveals that somebody was there. Take one that was made without them"
            ),
        )


def _budget(found: Checked) -> Iterator[tuple[str, str]]:
    from leeward.ledger._records import with_delta

    stands, stored = found.standing, sum(found.standing.answered)
    new = len(found.plans) - stored
    price = f"{with_delta(found.price, found.delta)} for {counted(new, 'release')}"
    if not new:
        yield "price", f"nothing: {'the answer is' if stored == 1 else f'all {stored} answers are'} stored, and free"
    else:
        yield "price", f"{price}; {stored} more stored, and free" if stored else price
    cap = "no cap is given"
    if stands.cap is not None:
        of_delta = f", and {stands.spent.delta} of {stands.cap.delta} of δ" if stands.cap.delta else ""
        cap = f"{stands.spent.epsilon} of {stands.cap.epsilon} spent{of_delta}"
    yield "price", f"budget of '{found.dataset}': {cap}"
