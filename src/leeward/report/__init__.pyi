# SPDX-License-Identifier: Apache-2.0
from ._cells import facts, html, release_html, table_html
from ._figures import decision_curve, mapped, places_map
from ._formats import FORMATS
from ._html import report_html, write_report
from ._plots import plot, release_plot
from ._windows import windows_html
from ._words import Readable

__all__ = [
    "FORMATS",
    "Readable",
    "decision_curve",
    "facts",
    "html",
    "mapped",
    "places_map",
    "plot",
    "release_html",
    "release_plot",
    "report_html",
    "table_html",
    "windows_html",
    "write_report",
]
