# SPDX-License-Identifier: Apache-2.0
"""The privacy statement of a release: what was asked, what is promised, on what grounds, and what is not.

It is made from the plan and the public keys alone, so it is the same whatever the data holds; ``release.json`` is this
statement, and the report puts it into a page. Each kind of plan enters itself where statements are made.
"""

from leeward.session._statement import _decisions as _decisions
from leeward.session._statement import _numbers as _numbers
from leeward.session._statement import _ranks as _ranks
from leeward.session._statement import _selections as _selections
from leeward.session._statement import _unlisted as _unlisted
from leeward.session._statement._heading import privacy_statement as privacy_statement
