# SPDX-License-Identifier: Apache-2.0
"""What the pages of one desk share."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from leeward.desk._drafts import Draft, Drafts
from leeward.desk._folder import LEDGER, OWN, Folder
from leeward.desk._jobs import Jobs
from leeward.ledger import Account, Ledger
from leeward.tables._detected import Detected, detected


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

    def account(self, dataset: str) -> Account | None:
        """Return the budget of a data set, if it is open."""
        opened = Ledger.find(self.ledger)
        return None if opened is None else next(iter(opened.show(dataset)), None)
