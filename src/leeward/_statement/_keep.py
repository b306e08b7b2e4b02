# SPDX-License-Identifier: Apache-2.0
"""Which rows are meant, as documents say it: apart from them, because the key of a question needs this and no statement."""

from typing import TypeAlias

Keep: TypeAlias = dict[str, tuple[bool | int | str, ...]]
"""A filter: the values of each column with which a row takes part."""
