# SPDX-License-Identifier: Apache-2.0
"""What the pages of one desk share."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from leeward.desk._drafts import Draft, Drafts
from leeward.desk._folder import LEDGER, OWN, Folder
from leeward.desk._jobs import Jobs
from leeward.errors import InputError, LeewardError
from leeward.ledger import Account, Ledger
from leeward.tables._detected import Detected, detected, sheets_of
from leeward.tables._files import stamp_of


@dataclass(frozen=True)
class Desk:
    """What the pages of one desk share.

    Attributes:
        files: the tables.
        drafts: the specs that are being written.
        jobs: what takes long.
    """

    files: Folder
    drafts: Drafts
    jobs: Jobs

    @property
    def released(self) -> Path:
        """The folder of what was released."""
        return self.files.own(OWN, "releases")

    @property
    def ledger(self) -> Path:
        """The file of the budget."""
        return self.files.own(LEDGER)

    def table(self, draft: Draft, section: str, key: str) -> str:
        """Return the name, below the folder, of a file that a draft names."""
        path = os.path.normpath(draft.folder / draft.sections[section][key])
        return Path(path).relative_to(self.files.root).as_posix()

    def private(self, draft: Draft) -> Detected:
        """Return what the private table of a draft seems to be.

        Raises:
            LeewardError: it cannot be read.
        """
        path = self.files.file(self.table(draft, "data", draft.table))
        return detected(str(path), draft.sections["data"].get("visits_table"))

    def sheets(self, file: str) -> list[str]:
        """Return the names of the sheets of a file; none where it is no workbook, or cannot be read."""
        try:
            return sheets_of(str(self.files.file(file)))
        except LeewardError:
            return []

    def lists(self, draft: Draft) -> list[str]:
        """Return the tables that may be a public list: not the private one of a draft, if it has no other sheet."""
        mine = self.table(draft, "data", draft.table)
        return [one for one in self.files.files() if one != mine or len(self.sheets(mine)) > 1]

    def public(self, draft: Draft, file: str, sheet: str | None) -> Path:
        """Return the path of a public list.

        Raises:
            InputError: see `Folder.file`; or it is the private table of the draft.
        """
        path = self.files.file(file)
        data = draft.sections["data"]
        if path == self.files.file(self.table(draft, "data", draft.table)) and sheet == data.get("visits_table"):
            raise InputError(
                f"The list '{file}'",
                "it is the private table itself: being listed would reveal that somebody is in it",
                "Choose a list that was made without it",
            )
        return path

    def state(self, draft: Draft) -> str:
        """Return what is another where a draft, or a table that it names, is."""
        named = [self.table(draft, "data", draft.table)]
        named += [self.table(draft, "places", "table")] if "table" in draft.sections.get("places", {}) else []
        return f"{draft.text()} {[stamp_of(str(self.files.file(name))) for name in named]}"

    def account(self, dataset: str) -> Account | None:
        """Return the budget of a data set, if it is open."""
        opened = Ledger.find(self.ledger)
        return None if opened is None else next(iter(opened.show(dataset)), None)
