# SPDX-License-Identifier: Apache-2.0
"""The documents in which a release says what it protects, as its callers know them."""

from leeward._statement import GroupStatement as GroupStatement
from leeward._statement import NumberStatement as NumberStatement
from leeward._statement import SelectionStatement as SelectionStatement
from leeward._statement import Statement as Statement
from leeward._statement import UnlistedStatement as UnlistedStatement
from leeward._statement import VisitorStatement as VisitorStatement
