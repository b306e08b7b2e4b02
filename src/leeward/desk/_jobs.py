# SPDX-License-Identifier: Apache-2.0
"""Work that takes long: in a thread of its own, telling where it is, and ended where that is safe."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Sequence
from typing import Any, Final

from leeward._private import Private
from leeward._progress import Progress
from leeward.errors import LeewardError

_COMMITTED: Final = frozenset({"saving", "saved", "stored", "withdrawn", "deciding", "writing the report"})
"""Stages from which on an answer may be paid for and stored: it is then shown, whoever asks for an end."""


class CancelledError(LeewardError):
    """Somebody asked for the end of a job."""


class Job(Private):
    """One piece of work.

    Attributes:
        what: it, in words.
        about: the name of the draft that it is about.
        of: what that draft said when it was begun.
        stages: what it was doing, the last is what it does now.
        found: what it came to; None until then.
        refused: why it came to nothing, in the words of the refusal; empty if it did not.
        note: what else is to be known of its end.
    """

    __slots__ = (
        "_cancelled",
        "_ends",
        "_thread",
        "about",
        "found",
        "note",
        "number",
        "of",
        "refused",
        "share",
        "stages",
        "what",
    )

    def __init__(self, number: int, what: str, about: str, of: str = "") -> None:
        self.number, self.what, self.about, self.of = number, what, about, of
        self.stages: list[str] = []
        self.share: float | None = None
        self.found: Any = None
        self.refused = self.note = ""
        self._cancelled, self._ends = threading.Event(), False
        self._thread: threading.Thread | None = None

    def progress(self, stage: str, share: float = -1.0, /) -> None:
        """Hear that a stage is reached; end the work there, if that was asked for and nothing is paid for yet."""
        if not self.stages or self.stages[-1] != stage:
            self.stages.append(stage)
        self.share = share if share >= 0 else None
        if not self._ends and self._cancelled.is_set() and stage not in _COMMITTED:
            self._ends = True  # what is cleaned up on the way out is not cut short, however often that is asked for
            raise CancelledError("This was cancelled", "", "Nothing of it is kept")

    def start(
        self, work: Callable[[Progress], object], end: Callable[[Sequence[str]], str], tell: Callable[[str], object]
    ) -> None:
        """Begin the work."""

        def said(error: Exception) -> str:
            if isinstance(error, LeewardError):
                return " ".join([error.in_full, *getattr(error, "__notes__", ())])
            tell(f"leeward: the desk met an unexpected {type(error).__name__}; please report it.")
            return f"An unexpected {type(error).__name__}: a defect of Leeward's; please report it."

        def run() -> None:
            try:
                self.found = work(self.progress)
            except Exception as error:
                self.refused = said(error)
            try:
                self.note = end(self.stages)
            except Exception as error:
                self.note = said(error)

        self._thread = threading.Thread(target=run, name=f"leeward-desk-job-{self.number}", daemon=True)
        self._thread.start()

    @property
    def runs(self) -> bool:
        """Whether it is at work."""
        return self._thread is not None and self._thread.is_alive()

    def cancel(self) -> None:
        """Ask for its end: it ends at the next stage at which nothing is paid for yet."""
        self._cancelled.set()

    def wait(self, seconds: float | None = None) -> None:
        """Wait until it has ended."""
        if self._thread is not None:
            self._thread.join(seconds)


class Jobs:
    """The work of one desk.

    Args:
        tell: called with what fails unforeseen.
    """

    def __init__(self, tell: Callable[[str], object]) -> None:
        self._jobs: dict[int, Job] = {}
        self._numbers, self._tell, self._lock = itertools.count(1), tell, threading.Lock()

    def start(
        self,
        what: str,
        about: str,
        work: Callable[[Progress], object],
        end: Callable[[Sequence[str]], str] = lambda _: "",
        of: str = "",
    ) -> Job:
        """Begin some work about a draft; of one that is at work on the same already, that one is returned.

        Args:
            what: it, in words.
            about: the name of the draft.
            work: it, which reports its progress.
            end: says what else is to be known, once it has ended, by the stages that it reached.
            of: what the draft said when it was begun.
        """
        with self._lock:
            for job in self._jobs.values():
                if job.runs and (job.what, job.about, job.of) == (what, about, of):
                    return job
            job = Job(next(self._numbers), what, about, of)
            self._jobs[job.number] = job
            job.start(work, end, self._tell)
        return job

    def get(self, number: int) -> Job | None:
        """Return a job; None if there is none, as after the desk was started anew."""
        return self._jobs.get(number)

    def last(self, what: str, about: str) -> Any:
        """Return what the last such job that came to something came to; None where none did."""
        found = [
            job.found for job in list(self._jobs.values()) if (job.what, job.about) == (what, about) and not job.runs
        ]
        return next((each for each in reversed(found) if each is not None), None)

    def ended(self) -> list[Any]:
        """Return what all jobs that ended came to."""
        return [job.found for job in list(self._jobs.values()) if not job.runs and job.found is not None]

    def close(self, seconds: float = 20.0) -> None:
        """End all work, as far as that is safe within so many seconds each."""
        running = [job for job in self._jobs.values() if job.runs]
        for job in running:
            job.cancel()
        for job in running:
            job.wait(seconds)
