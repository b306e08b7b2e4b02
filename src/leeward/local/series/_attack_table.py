# SPDX-License-Identifier: Apache-2.0
"""A table of readings, and what was published of it, under attack by somebody who asks whether an appliance ran.

For the machine on which the readings are, and its owner's eyes alone: the figures depend on the readings. Those of the table
are moved to the bounds and rounded first, as they are before noise, and then compared with the same less the appliance's
signature, where the table holds it, or with the signature added. Readings and totals have the exact odds of what was
published, up to the rounding of floats. Totals that were made to add up have a bound, and a guess by least squares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from leeward._plain import counted, likely, odds
from leeward._private import Private
from leeward.errors import DataError
from leeward.local.series._appliance import Appliance
from leeward.local.series._files import ReadingsFile
from leeward.local.series._grid import Integers, ReadingGrid
from leeward.local.series._readings import Readings, numbers_of
from leeward.local.series._totals import Totals
from leeward.local.series._totals_table import columns_of, rows_of
from leeward.local.series._tree import TotalsTree
from leeward.tables._columns import check_named

_ROUNDED: Final = 1e-3
"""Of a step: more than a float that is written and read is off, unless noise is of 10^12 steps."""


@dataclass(frozen=True, repr=False, slots=True)
class Held(Private):
    """The readings of a table, and where each of them is published.

    Attributes:
        readings: those of the table.
        group: for each of them, the number of what it is published in: its meter, or its group.
        names: the names of these; one that is None where there is one meter.
        column: the column that names them; None where there is one meter.
        called: what they are: "meter", or "group".
        own: the number of the level of each reading.
        levels: for each meter or group, the number of the level that its noise is drawn at.
        left_out: how many rows of the table were not in the period.
    """

    readings: Readings
    group: Integers
    names: Sequence[Any]
    column: str | None
    called: str
    own: Integers
    levels: Integers
    left_out: int

    def dense(self, slots: int) -> tuple[Integers, NDArray[np.bool_]]:
        """Return the readings of each group at each time, added up, and where there are those of all of its meters."""
        whole = np.zeros((len(self.names), slots), np.int64)
        count = np.zeros_like(whole)
        there, slot = self.readings.there, self.readings.slot
        np.add.at(whole, (self.group[there], slot[there]), self.readings.steps[there])
        np.add.at(count, (self.group[there], slot[there]), 1)
        meters = np.unique(np.column_stack([self.group, self.readings.meter]), axis=0)[:, 0]
        return whole, count == np.bincount(meters, minlength=len(self.names))[:, None]


@dataclass(frozen=True, repr=False, slots=True)
class Seen(Private):
    """What was published, and what it was made of, in steps and in the order of `Appliance.moves`: shape (n, numbers).

    Attributes:
        held: the readings.
        truth: exact values.
        shown: what was published; any value where there is none.
        there: where something was published, of readings that are all there.
    """

    held: Held
    truth: Integers
    shown: Integers
    there: NDArray[np.bool_]


def seen_readings(published: Path, value: str, held: Held, grid: ReadingGrid, slots: int) -> Seen:
    """Read noisy readings: one row for each reading of the table, in its order."""
    truth, there = held.dense(slots)
    column = _read(published, [value], value)[value]
    if len(column) != len(held.readings):
        raise _made_by_another()
    values, given = numbers_of(column, value)
    at = held.group, held.readings.slot
    shown, is_shown = np.zeros_like(truth), np.zeros_like(there)
    shown[at], is_shown[at] = _in_steps(values, grid.step_value), given
    return Seen(held, truth, shown, there & is_shown)


def seen_totals(published: Path, asked: Totals | TotalsTree, held: Held, attack: Appliance) -> Seen:
    """Read noisy totals: one row for each meter or group, and span; the attack is one that knows what they are made of."""
    totals = asked.totals if isinstance(asked, TotalsTree) else asked
    slots, order = totals.series.schedule.slots, rows_of(asked)
    truth, there = held.dense(slots)
    many, total = columns_of(asked)[-2:]
    table = _read(published, [many, total, *([] if held.column is None else [held.column])], total)
    each, groups = len(order), len(held.names)
    if len(table) != each * groups:
        raise _made_by_another()
    values = numbers_of(table[total], total)[0].reshape(groups, each)[:, order]
    readings = attack.made_of(np.ones(slots, np.int64))
    counted_there = [int(str(number)) for number in table[many].to_pylist()]
    called = held.names if held.column is None else [str(name) for name in table[held.column].to_pylist()[::each]]
    if (
        called != [name if held.column is None else str(name) for name in held.names]
        or (np.array(counted_there).reshape(groups, each)[:, order] != readings).any()
    ):
        raise _made_by_another()
    shown, whole = _in_steps(values, totals.step), attack.made_of(there.astype(np.int64)) == readings
    return Seen(held, attack.made_of(truth), shown, whole)


def _read(published: Path, names: Sequence[str], number: str) -> Any:
    file = ReadingsFile(published)
    check_named(names, file.columns, in_first_line=file.is_csv)
    table = file.read(names, number)
    file.file.check_unchanged()
    return table


def attack_table(attacks: Mapping[str | None, Sequence[Appliance]], seen: Seen, *, ran: bool) -> list[str]:
    """Return what the attacker makes of what was published, in sentences for the curator only.

    He has an attack for each number of days, at each level, in their order. The table holds the appliance's run, or not.
    """
    found, left, held = [], 0, seen.held
    for number, (level, each) in enumerate(attacks.items()):
        rows = np.flatnonzero(held.levels == number)
        for attack in each:
            whole = rows[seen.there[rows][:, attack.reach].all(axis=1)]
            left = max(left, len(rows) - len(whole))
            quiet = seen.truth[whole] - attack.moves if ran else seen.truth[whole]
            if len(whole):
                found.append(_in_words(level, attack, attack.weighed(seen.shown[whole], quiet), held.called, ran=ran))
    if left:
        found.append(
            f"left out: {counted(left, held.called)}, of which readings are missing that the appliance would be in"
        )
    return [f"for the curator only: {each}" for each in found]


def _in_words(level: str | None, attack: Appliance, weighed: NDArray[np.float64], called: str, *, ran: bool) -> str:
    right = int((weighed > 0 if ran else weighed < 0).sum())
    sentence = f"{'' if level is None else f'level {level}, '}{counted(attack.days, 'day')} with a run,"
    sentence += f" {counted(len(weighed), called)}: "
    truth = f"that it {'ran' if ran else 'did not run'}"
    if attack.bounds_only:
        return sentence + (
            f"by least squares he guesses {truth}, which is so, for {right:,}; the odds of totals that add up are not known,"
            f" but are {odds(float(attack.most))} at most"
        )
    belief = 1 / (1 + np.exp(np.clip(-weighed if ran else weighed, -700, 700)))
    return (
        sentence
        + f"he holds it for {likely(belief.mean())} likely {truth}, which is so, and would guess it for {right:,}"
    )


def _in_steps(values: NDArray[Any], step: Fraction) -> Integers:
    """Return values that were published in steps."""
    steps = values / float(step)
    found = np.rint(steps)
    if (np.abs(steps - found) > _ROUNDED).any():
        raise _made_by_another()
    return found.astype(np.int64)


def _made_by_another() -> DataError:
    return DataError(
        "A published file that is not what this spec writes of the table (this is for the curator only)",
        "numbers are compared with what they were made of",
        "Give the spec and the table that it was made with",
    )
