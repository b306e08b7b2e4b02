# SPDX-License-Identifier: Apache-2.0
"""What a notebook shows as a table, and what draws itself.

How is told in one place, `leeward.report`, which stands above the objects that are shown. It is reached by its name, and
only when something is shown: the one reach upwards that there is, and nothing is charged or decided by it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


class Displayed:
    """An object whose facts are public, and that a notebook shows as a table with a caption and headings."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        shown: str = _report().html(self)
        return shown


class Drawn(Displayed):
    """An object that a notebook shows as a table, and that has a picture."""

    __slots__ = ()

    def plot(self) -> Figure:
        """Return its picture as a plotly figure, which a notebook shows; nothing but public facts is in it.

        Raises:
            InputError: there is nothing to draw.
        """
        return _report().plot(self)


def _report() -> Any:
    return importlib.import_module("leeward.report")
