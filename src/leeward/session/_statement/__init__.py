# SPDX-License-Identifier: Apache-2.0
"""The privacy statement of a release: what was asked, what is promised, on what grounds, and what is not.

It is made from the plan and the public keys alone, so it is the same whatever the data holds; ``release.json`` is this
statement, and the report puts it into a page.
"""

from leeward.session._statement import _decisions, _numbers, _ranks, _selections, _unlisted  # which enter themselves
from leeward.session._statement._heading import privacy_statement

__all__ = ["_decisions", "_numbers", "_ranks", "_selections", "_unlisted", "privacy_statement"]
