# SPDX-License-Identifier: Apache-2.0
"""What the pages of one desk share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from leeward.desk._drafts import Drafts
from leeward.desk._folder import OWN, Folder
from leeward.desk._jobs import Jobs


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
        return self.files.root / OWN / "releases"
