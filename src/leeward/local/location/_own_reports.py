# SPDX-License-Identifier: Apache-2.0
"""One person's own reports, on their own device: one call a report, its state in one small file, and no network.

Time is cut into public ticks of one length. In a tick one report is drawn, from the first position that is asked about; who
asks again in the tick is shown it again, wherever they are. So a day has at most ``reports_a_day`` draws, and which answers
are equal says nothing: it follows from the ticks alone. By sequential composition a day costs at most that many reports.

A report is durable before it is shown. It is first written beside the file and then takes its place; whoever finds one
beside it, because the process before was killed there, takes it over, so that no tick has a second draw.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np

from leeward._paths import resolve
from leeward._plain import counted
from leeward._private import Private
from leeward._taught import acting
from leeward.errors import BudgetConflictError, CapExceededError, DataError, InputError, LedgerError
from leeward.exact._real import whole
from leeward.ledger._beside import PRIVATE
from leeward.ledger._file import plain_file, refuse_odd
from leeward.ledger._secret import read_private
from leeward.local.location._planar_laplace import PlanarLaplace
from leeward.local.location._positions import columns_of
from leeward.local.series._quantities import microseconds
from leeward.outputs._disk import alone_in, give, said, sync

_DAY: Final = 24 * 60 * 60 * 10**6
_LARGEST: Final = 1 << 14
_BESIDE: Final = ".next"
_BEGUN: Final = re.compile(rb"[0-9a-f]{0,64}|[0-9a-f]{64}\n(\{.*)?", re.DOTALL)
"""What a write that was cut short leaves."""


@dataclass(frozen=True, slots=True)
class _State:
    """What the file holds: all of it follows from what was shown, and from the clock.

    Attributes:
        made_for: the law of a report, the ticks and the bound, in words.
        tick: the last in which a report was drawn, counted from 1970; None before the first.
        report: the grid point that it is.
        day: of that tick, in UTC, since 1970.
        reports: how many were drawn on that day.
    """

    made_for: str
    tick: int | None = None
    report: tuple[int, int] = (0, 0)
    day: int = 0
    reports: int = 0

    def written(self) -> bytes:
        held = json.dumps({name: getattr(self, name) for name in self.__slots__}).encode()
        return hashlib.sha256(held).hexdigest().encode() + b"\n" + held + b"\n"

    @classmethod
    def read(cls, written: bytes) -> _State:
        """Raises ValueError for anything that `written` does not return."""
        _, _, held = written.partition(b"\n")
        try:
            found: dict[str, Any] = json.loads(held)
            state = cls(**{**found, "report": tuple(found["report"])})
        except (TypeError, KeyError, RecursionError):
            raise ValueError from None
        if state.written() != written:
            raise ValueError
        return state


@acting
class OwnReports(Private):
    """Reports of one person's own positions, at most so many a day; see the module for what is promised.

    ``OwnReports(geo, "own.state", every="10 min", reports_a_day=6, new=True).report(39.9, 116.4)``

    Args:
        geo: the noise of a report.
        path: the file that remembers; its folder is locked for the moment of a report.
        every: the length of a tick, such as ``"10 min"``; a day is a whole number of ticks.
        reports_a_day: how many reports of a day, in UTC, are paid for.
        new: whether the file may be made where there is none: then nothing is known of earlier reports.

    A restored copy of the file forgets what was reported since: keep it out of backups that are put back.

    Raises:
        InputError: for ticks that do not fill a day, or fewer than 1 report.
        LedgerError: the file is damaged or cannot be read, has two names, or is not there and may not be made.
        BudgetConflictError: it was made for another mechanism, other ticks or another bound.
    """

    __slots__ = ("_every", "_geo", "_made_for", "_path", "_reports_a_day")

    def __init__(
        self,
        geo: PlanarLaplace,
        path: str | os.PathLike[str],
        *,
        every: str,
        reports_a_day: int,
        new: bool = False,
    ) -> None:
        self._every = microseconds(every, "every")
        if _DAY % self._every:
            raise InputError(f"every = '{every}'", "a day is no whole number of them", "Take a part of a day: 10 min")
        self._reports_a_day = whole(reports_a_day, "reports_a_day", says="it says how many are paid for")
        # a link leads to the file: replaced by what is written, it would be a second one that knows nothing of the first
        self._geo, self._path = geo, plain_file(resolve(path))
        self._made_for = f"{geo.law}; one in {self._every} microseconds, {self._reports_a_day} a day"
        with said(self._path), alone_in(self._path.parent):
            state = self._read()
            if state is None:
                if not new:
                    raise LedgerError(
                        f"The file {self._path} is not there",
                        "a new one would know nothing of what was reported before",
                        "Bring it back, or correct its name; if a new one is meant, say new=True",
                    )
                self._write(_State(self._made_for))

    def report(self, latitude: float, longitude: float, *, at: datetime | None = None) -> tuple[float, float]:
        """Return the report of this tick, latitude and longitude in degrees: drawn once, and shown again.

        Args:
            latitude: of the true position, in degrees.
            longitude: of the true position, in degrees.
            at: the moment, with an offset from UTC; by default it is now.

        Raises:
            DataError: for a position that is missing, or outside the box unless it is clamped.
            InputError: for a moment without an offset, or before the last report.
            CapExceededError: the reports of the day are spent.
            LedgerError: the file is damaged, not there or not writable; nothing is then shown.
        """
        tick = self._tick(at)
        day = tick * self._every // _DAY
        north, east = columns_of([latitude], [longitude])
        with said(self._path), alone_in(self._path.parent):
            state = self._held()
            if tick != state.tick:
                if state.tick is not None and tick < state.tick:
                    raise InputError(
                        "A moment before that of the last report",
                        "what was reported then is not kept, and another report would be a second one",
                        "Correct the clock, or wait",
                    )
                before = state.reports if state.tick is not None and day == state.day else 0
                if before >= self._reports_a_day:
                    raise CapExceededError(
                        f"{before} of {counted(self._reports_a_day, 'report')} of this day made",
                        "one more is not paid for; nothing was drawn",
                        "Wait for the next day, in UTC",
                    )
                if not self._geo.present(north, east).all():
                    raise DataError("A position that is missing", "a report is about one", "Give degrees")
                ((i, j),) = self._geo.draw(self._geo.to_grid(north, east)).tolist()
                state = _State(self._made_for, tick, (int(i), int(j)), day, before + 1)
                self._write(state)
        shown = self._geo.shown(np.array([state.report], np.int64))
        return float(shown[0][0]), float(shown[1][0])

    def made(self, *, at: datetime | None = None) -> int:
        """Return how many reports were drawn on the day of a moment, by default today; of earlier days nothing is kept."""
        day = self._tick(at) * self._every // _DAY
        with said(self._path), alone_in(self._path.parent):
            state = self._held()
        return state.reports if state.tick is not None and state.day == day else 0

    def _tick(self, at: datetime | None) -> int:
        moment = datetime.now(UTC) if at is None else at
        if not isinstance(moment, datetime) or moment.utcoffset() is None:
            raise InputError(
                "A moment without an offset from UTC", "ticks are counted in UTC", "Give one with a time zone"
            )
        since = moment - datetime(1970, 1, 1, tzinfo=UTC)
        return (since.days * _DAY + since.seconds * 10**6 + since.microseconds) // self._every

    def _held(self) -> _State:
        state = self._read()
        if state is None:
            raise LedgerError(
                f"The file {self._path} is gone", "it knew what was reported", "Bring it back; nothing was reported"
            )
        return state

    def _read(self) -> _State | None:
        """Return what is known, and finish what a killed process began; None where there is no file."""
        refuse_odd(self._path)
        fresh = self._path.with_name(self._path.name + _BESIDE)
        try:
            begun = read_private(fresh, _LARGEST)[0]
        except FileNotFoundError:
            pass
        else:
            self._finish(fresh, begun)
        try:
            state = _State.read(read_private(self._path, _LARGEST)[0])
        except FileNotFoundError:
            return None
        except ValueError:
            raise LedgerError(
                f"The file {self._path} is not as it was written",
                "it was changed or damaged, and nobody knows what was reported before",
                "Restore it; or begin another one on a day on which nothing was reported",
            ) from None
        self._check(state)
        return state

    def _finish(self, fresh: Path, begun: bytes) -> None:
        """Take over what a killed process had written whole; what is not whole was never shown, and is made again."""
        try:
            state = _State.read(begun)
        except ValueError:
            if not _BEGUN.fullmatch(begun):
                raise LedgerError(
                    f"The file {fresh} is none of ours", "the next report is written there", "Move it away"
                ) from None
            fresh.unlink()
            return
        self._check(state)
        fresh.replace(self._path)
        sync(self._path.parent)

    def _check(self, state: _State) -> None:
        if state.made_for != self._made_for:
            raise BudgetConflictError(
                f"The file {self._path} was made with another mechanism, other ticks or another bound",
                f"it says {state.made_for}",
                "Open it as it was made, or name another file",
            )

    def _write(self, state: _State) -> None:
        fresh = self._path.with_name(self._path.name + _BESIDE)
        opened = os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE)
        with open(opened, "wb") as file:
            give(file.fileno(), self._path)
            file.write(state.written())
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._path)
        sync(self._path.parent)
