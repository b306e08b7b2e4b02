# SPDX-License-Identifier: Apache-2.0
"""What the command writes: whole or not at all, prepared before it is paid for, and never over what it did not write.

`folder` writes folders that carry a list of what was written into them; `files` a file with its statement beside it, and
single pages.
"""

from leeward.outputs._files import Files, beside, write_page
from leeward.outputs._folder import MANIFEST, STATEMENT, Folder, Write, fresh, holds_release, prepared

__all__ = [
    "MANIFEST",
    "STATEMENT",
    "Files",
    "Folder",
    "Write",
    "beside",
    "fresh",
    "holds_release",
    "prepared",
    "write_page",
]
