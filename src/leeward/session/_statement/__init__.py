# SPDX-License-Identifier: Apache-2.0
"""The privacy statement of a release: what was asked, what is promised, on what grounds, and what is not.

It is made from the plan and the public keys alone, so it is the same whatever the data holds; ``release.json`` is this
statement, and the report puts it into a page.
"""

from leeward.session._statement._decisions import deciding_statement
from leeward.session._statement._heading import privacy_statement
from leeward.session._statement._numbers import number_statement
from leeward.session._statement._ranks import rank_statement
from leeward.session._statement._selections import selection_statement
from leeward.session._statement._unlisted import unlisted_statement

__all__ = [
    "deciding_statement",
    "number_statement",
    "privacy_statement",
    "rank_statement",
    "selection_statement",
    "unlisted_statement",
]
