# SPDX-License-Identifier: Apache-2.0
"""Each meter's own ε for its readings: noise is drawn at the level of ε that a public column gives to the meter.

Meters are drawn for independently, so all that is published is private for the sum over meters of each one's own distance
(`leeward.notion.Personalised`): meter m of level l(m) has ε_{l(m)}·d. What is common to all levels is public and the same:
the clock, the grid, the distance d, the windows, the noise's shape. Which meter has which level is public and passes out.

So two people of different levels are held to what this gives: that they exchanged their readings moves both, and costs
(ε_{l(m)} + ε_{l(m')})·d. That somebody had *another level* costs ∞: noise of a smaller ε reaches further than e^(ε·d) allows
noise of a larger one, so no number covers it, and it is not promised.

A total over meters of several levels has the noise of the smallest ε among them: each of them is held to that, or less.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from leeward._taught import taught
from leeward.errors import InputError
from leeward.exact._real import Real
from leeward.local._levels import LevelsOfPeople, name_of_level
from leeward.local.series._closeness import Closeness
from leeward.local.series._grid import Integers, ReadingGrid
from leeward.local.series._post_processing import PostProcessing
from leeward.local.series._readings import Columns, Missing, Readings
from leeward.local.series._schedule import Schedule
from leeward.local.series._series import Series, perturb_frame
from leeward.local.series._totals import Totals
from leeward.mechanism._series import SeriesNoise
from leeward.noise import Bits
from leeward.tables._given import Table


@taught
class SeriesLevels:
    """Exact noise for series of readings, each meter's at the level of ε that a public column gives to it.

    ``SeriesLevels({"usual": Closeness(within="100 W", factor=2), "careful": Closeness(within="1 kW", factor=2)}, grid,
    clock)`` promises each meter what the `Closeness` of its level says. Who has which level is public: it is published
    beside the readings, and must not follow from them.

    Args:
        levels: by name, which series of a meter of that level are to be indistinguishable, and how far. All have one
            ``between`` and one ``window``.
        grid: as for `Series`; the same for all levels, as all that follows.
        schedule: as for `Series`.
        noise: as for `Series`.
        missing: as for `Series`.
        post_processing: as for `Series`; a prior is weighed against the noise of each level.
        bits: the entropy source; by default a fresh cryptographic stream for each call.

    Attributes:
        each: the `Series` of each level.
        weakest: that with the largest ε: what it promises holds of every meter.

    Raises:
        InputError: if there are no levels, or they differ in more than ε; and as for `Series`.
    """

    def __init__(
        self,
        levels: Mapping[str, Closeness],
        grid: ReadingGrid,
        schedule: Schedule,
        *,
        noise: SeriesNoise | None = None,
        missing: Missing = "refuse",
        post_processing: PostProcessing | None = None,
        bits: Bits | None = None,
    ) -> None:
        if not levels or not all(isinstance(name, str) for name in levels):
            raise InputError(
                "Levels without names, or none", "a column names one for each meter", 'Give {"usual": Closeness(…), …}'
            )
        if len({(close.between, close.window) for close in levels.values()}) > 1:
            raise InputError(
                "Levels of different distances or windows",
                "what is promised is a sum over meters of one distance, each times its own ε",
                "Give all levels one between and one window",
            )
        options: dict[str, Any] = {"noise": noise, "missing": missing, "post_processing": post_processing, "bits": bits}
        self.each = {name: Series(close, grid, schedule, **options) for name, close in levels.items()}
        self.weakest = max(self.each.values(), key=lambda series: series.mechanism.epsilon)

    def __repr__(self) -> str:
        asked = {name: series.closeness for name, series in self.each.items()}
        return f"SeriesLevels({asked!r}, {self.weakest.grid!r}, {self.weakest.schedule!r})"

    def exchange(self, one: str, other: str) -> Real:
        """Return what it costs that two meters of these levels exchange their readings: ε for each unit of the grid.

        For ``"hamming"`` it is for each reading that changes.
        """
        return self.each[one].mechanism.epsilon + self.each[other].mechanism.epsilon

    def check(self) -> None:
        """Refuse what would show readings, or say nothing about them, at any level.

        Raises:
            RefusedError: as for `Series.check`.
            LowUtilityError: as for `Series.check`.
        """
        for series in self.each.values():
            series.check()

    def perturb(self, table: Table, *, time: str, value: str, meter: str, level: str) -> Table:
        """Return a copy of a table with its readings perturbed, each meter's at its own level; see `Series.perturb`.

        Args:
            table: a DataFrame or a pyarrow Table; the same kind is returned, in the same order.
            time: the column of times.
            value: the column of readings.
            meter: the column that says whose reading it is.
            level: the public column that says the level of each meter. It passes out as it is.

        Raises:
            InputError: for one column named twice.
            DataError: for a level that is not listed, a meter with two, and as for `Series.perturb`.
            RefusedError: as for `check`.
            LowUtilityError: as for `check`.
        """
        columns = Columns(time, value, meter)
        if level in columns.names:
            raise InputError("One column named twice", "meter, time, value and level are four", "Name each once")
        self.check()

        def release(readings: Readings, held: Any) -> Integers:
            return self.release(readings, self.of(readings, held[level], level))

        return perturb_frame(self.weakest, table, columns, release, level)

    def of(self, readings: Readings, column: Any, name: str) -> Integers:
        """Return the number of the level of each reading, in the order of `each`.

        Args:
            readings: checked readings of a table.
            column: the table's column of levels, of pyarrow.
            name: its name.

        Raises:
            DataError: a level is not listed, or a meter has two.
        """
        held = column.take(readings.rows).to_pylist()
        LevelsOfPeople(name, self.each, "their readings").check(held, readings.meter.tolist())
        numbers = {level: number for number, level in enumerate(self.each)}
        return np.array([numbers[name_of_level(level)] for level in held], np.int64)

    def release(self, readings: Readings, levels: Integers, bits: Bits | None = None) -> Integers:
        """Return what is published for each reading, in steps, each drawn at its level; any value where there is none."""
        return self.finish(self.draw(readings, levels, bits), readings, levels)

    def draw(self, readings: Readings, levels: Integers, bits: Bits | None = None) -> Integers:
        """Return a noisy reading in steps for each reading, at its level; any value where there is none."""
        noisy = np.empty_like(readings.steps)
        for number, series in enumerate(self.each.values()):
            which = np.flatnonzero(levels == number)
            noisy[which] = series.draw(readings.of(which), bits)
        return noisy

    def finish(self, noisy: Integers, readings: Readings, levels: Integers) -> Integers:
        """Return what is made of noisy readings, of each level by itself; see `PostProcessing`."""
        made = np.empty_like(noisy)
        for number, series in enumerate(self.each.values()):
            which = np.flatnonzero(levels == number)
            made[which] = series.finish(noisy[which], readings.of(which))
        return made

    def of_groups(self, levels: Integers, group: Integers, groups: int) -> Integers:
        """Return for each group the number of the level of its meters that has the smallest ε.

        Args:
            levels: the number of the level of each reading.
            group: the number of its group.
            groups: how many groups there are; each has a reading.
        """
        rates = [series.mechanism.epsilon for series in self.each.values()]
        careful_first = np.array(sorted(range(len(rates)), key=rates.__getitem__), np.int64)
        places = np.full(groups, len(rates) - 1)
        np.minimum.at(places, group, np.argsort(careful_first)[levels])
        found: Integers = careful_first[places]
        return found

    def release_totals(
        self, totals: Mapping[str, Totals], readings: Readings, levels: Integers, group: Integers
    ) -> Integers:
        """Return noisy totals in steps: shape (groups, spans).

        Args:
            totals: those of each level.
            readings: checked readings.
            levels: for each group, the number of the level that its noise is drawn at.
            group: for each reading, the number of its group.
        """
        spans = len(next(iter(totals.values())).spans)
        noisy = np.zeros((len(levels), spans), np.int64)
        for number, name in enumerate(self.each):
            groups = np.flatnonzero(levels == number)
            which = np.flatnonzero(levels[group] == number)
            place = np.searchsorted(groups, group[which])
            noisy[groups] = totals[name].release(readings.of(which), place, len(groups))
        return noisy
