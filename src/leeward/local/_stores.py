# SPDX-License-Identifier: Apache-2.0
"""The stores about people that a run charges and asks: of their budgets, and of the reports that they had."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from leeward._paths import resolve, resolve_ledger
from leeward._scratch import scratch
from leeward._toml import Section
from leeward.errors import DataError, SpecError
from leeward.exact._real import Real
from leeward.ledger import MemoizedReports, PersonBudgets, read_secret
from leeward.ledger._level_budgets import LevelBudgets
from leeward.ledger._people_store import is_store
from leeward.local._job import OpensStores
from leeward.outputs import holds_release
from leeward.outputs._disk import said, set_aside

_FORGOTTEN: Final = {
    "budgets": "in a new store of budgets everybody has a whole one again",
    "reports": "without the reports that it held, others are drawn for the same people at the same places",
}
"""What making a store anew does where there was one."""

_ROOM: Final = "room"
_TO_BE_MADE: Final = 48 * 1024
"""More bytes than a store takes when it is made, its journal included."""

_OF_A_REPORT: Final = 100
"""More bytes than a remembered report takes: 65, in pages that are two thirds full."""

_OF_A_PAGE: Final = 4200
"""A page that is written to is first copied to the journal: as it was, with what belongs to it."""


class StoreSection(Section):
    """A section of a spec that names a store, and the secret that people are kept under in it: two files."""

    store: str
    secret: str


@dataclass(frozen=True)
class Stores:
    """The files of a spec's sections ``[budget]`` and ``[repeat]``, relative to its folder."""

    budget: StoreSection | None
    repeat: StoreSection | None
    folder: Path

    def opens(self) -> OpensStores | None:
        """Return the stores that a run would make: see `leeward.local._job.Job.opens`."""
        known = {path: is_store(path) for path in self._files().values()}
        made = {kind: path for kind, path in self._files().items() if not known[path]}
        doubt = None
        for kind, path in made.items():
            if os.path.exists(path):
                doubt = f"{path} is empty, and may have been emptied: {_FORGOTTEN[kind]}"
            elif others := [other for other, there in known.items() if there]:
                doubt = f"{others[0]} is there, and the other may have been moved: {_FORGOTTEN[kind]}"
        return OpensStores(made, doubt) if made else None

    def kept(self) -> list[Path]:
        """Return the files about people: stores and secrets."""
        secrets = [part.secret for part in (self.budget, self.repeat) if part is not None]
        return [*self._files().values(), *(resolve(name, self.folder) for name in secrets)]

    def check(self) -> None:
        """Refuse one file for both stores; and stores and secrets in the folder of a release, by whatever links.

        That folder holds what may be published.
        """
        paths = [os.path.realpath(path) for path in self._files().values()]
        if len(set(paths)) < len(paths):
            raise SpecError(f"[budget] and [repeat] with one store, {paths[0]}", "they are two files", "Name another")
        for named in self.kept():
            path = Path(os.path.realpath(named))
            if any(map(holds_release, path.parents)):
                raise SpecError(
                    f"{path} within the folder of an earlier release",
                    "that folder holds what may be published, and this file is about people",
                    "Keep it elsewhere",
                )

    def check_openable(self) -> None:
        """See that secrets can be read, and room for the stores that are not there yet: one made alone would look lost.

        Raises:
            LedgerError: a secret cannot be read, or is unfit.
            InputError: there is no room.
        """
        for part in (self.budget, self.repeat):
            if part is not None:
                self._secret(part)
        with ExitStack() as stack:  # all at once: they may be on one disk
            for path in self._files().values():
                if not is_store(path):
                    stack.enter_context(_set_aside(path, _TO_BE_MADE))

    @contextmanager
    def room(self, rows: int) -> Iterator[None]:
        """Keep room for reports of so many rows while they are charged: what is drawn then is remembered before it is shown.

        Raises:
            InputError: there is none.
        """
        if self.budget is None or self.repeat is None:
            yield  # nothing is charged, or nothing remembered
            return
        path = self._files()["reports"]
        held = path.stat().st_size if os.path.exists(path) else 0
        with _set_aside(path, _OF_A_REPORT * rows + min(held, _OF_A_PAGE * rows)):
            yield

    def reports(self, law: str, *, new: bool) -> MemoizedReports | None:
        """Open the store of reports, drawn by this law; None where none are kept."""
        if self.repeat is None:
            return None
        return MemoizedReports(self._files()["reports"], key=self._secret(self.repeat), law=law, new=new)

    def budgets(self, price: str, reports_a_day: int | None, *, new: bool) -> PersonBudgets | None:
        """Open the store of budgets, for so many reports of this price (as text); None where there are none."""
        if self.budget is None:
            return None
        assert reports_a_day is not None
        path, secret = self._files()["budgets"], self._secret(self.budget)
        return PersonBudgets(path, secret=secret, price=price, reports_a_day=reports_a_day, new=new)

    def budgets_of_levels(
        self, notion: str, prices: Sequence[Real], a_day: Real | None, *, new: bool
    ) -> LevelBudgets | None:
        """Open the store of budgets, for reports of these prices, counted in one notion; None where there are none."""
        if self.budget is None:
            return None
        assert a_day is not None
        path, secret = self._files()["budgets"], self._secret(self.budget)
        return LevelBudgets(path, secret=secret, notion=notion, prices=prices, a_day=a_day, new=new)

    def _files(self) -> dict[str, Path]:
        """Return the files of the stores, by what they are for."""
        kept = {"budgets": self.budget, "reports": self.repeat}
        return {kind: resolve_ledger(part.store, self.folder) for kind, part in kept.items() if part is not None}

    def _secret(self, part: StoreSection) -> bytes:
        return read_secret(resolve(part.secret, self.folder), stores=self._files().values())


@contextmanager
def _set_aside(store: Path, room: int) -> Iterator[None]:
    """Take so many bytes beside a store, until the block ends."""
    with ExitStack() as stack:
        with said(store):
            made = stack.enter_context(scratch(os.path.realpath(store.parent), (_ROOM,)))
            set_aside(made.path / _ROOM, room)
        yield


def forgotten() -> DataError:
    """Return the refusal of a store that lost, within one run, what was not charged because it was known."""
    return DataError(
        "The store of reports forgot what it held a moment ago (this is for the curator only)",
        "what is drawn anew was not paid for; nothing was written, and the charge stands",
        "Leave the store alone, and run again",
    )
