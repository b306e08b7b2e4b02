# SPDX-License-Identifier: Apache-2.0
"""What a look before a release found, in words: facts about the data, for the curator only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from leeward._plain import counted
from leeward.query._reasons import said
from leeward.query._statistic import Statistic
from leeward.session._check import Checked

FOR_CURATOR: Final = "For the curator only: facts about the data, which no promise covers. Do not publish them."


def said_of(found: Checked, dataset: str) -> list[tuple[str, str]]:
    """Return what was found, each with what it is about: rows, keys and the budget."""
    return [*_rows(found), *_keys(found), *_budget(found, dataset)]


_MOST_WINDOWS = 12


def _rows(found: Checked) -> Iterator[tuple[str, str]]:
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
    for over in dict.fromkeys(filter(None, found.over_bound)):
        yield "over the bound", over
    if found.survey.below or found.survey.above:
        beyond = f"{found.survey.below or 0:,} below, {found.survey.above or 0:,} above"
        yield "beyond the bounds", f"numbers of {beyond}: each counts as the bound that it is beyond"
    if looks[0].times is not None:
        first, last = looks[0].times
        yield "times", f"the data run from {first} to {last}"
        yield "times", _window(found)


def _window(found: Checked) -> str:
    windows = [each for made in found.plans if (each := made.counted.window) is not None]
    first, last = min(windows, key=lambda each: each.start), max(windows, key=lambda each: each.end)
    what = "the window runs" if len(windows) == 1 else f"the {len(windows)} windows run"
    return f"{what} from {first.public()['start']} to {last.public()['end']}"


def _keys(found: Checked) -> Iterator[tuple[str, str]]:
    from leeward.engine._matches import some

    matched = found.survey.matches
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
    for way, keys in matched.alike.items():
        yield f"{title} spelt otherwise", f"{len(keys):,} would match but for {way}: {some(keys)}"
    if matched.alike:
        yield f"{title} spelt otherwise", "as they stand, nobody counts there: correct one of the tables"
    if found.all_named and noun == "place":
        yield (
            title,
            (
                "every listed place is visited, and no other. If the list was made from the visits, it is not public:"
                " being listed reveals that somebody was there. Take one that was made without them"
            ),
        )


def _budget(found: Checked, dataset: str) -> Iterator[tuple[str, str]]:
    from leeward.ledger._records import with_delta

    stands, stored = found.standing, sum(found.standing.answered)
    new = len(found.plans) - stored
    yield (
        "price",
        with_delta(found.price, found.delta)
        + f" for {counted(new, 'release')}"
        + (f"; {stored} more stored, and free" if stored else ""),
    )
    cap = "no cap is given"
    if stands.cap is not None:
        of_delta = f", and {stands.spent.delta} of {stands.cap.delta} of δ" if stands.cap.delta else ""
        cap = f"{stands.spent.epsilon} of {stands.cap.epsilon} spent{of_delta}"
    yield "price", f"budget of '{dataset}': {cap}"
