# SPDX-License-Identifier: Apache-2.0
"""The report: a release in plain words, with a map and a decision curve. Reads releases, never data."""

from leeward.report._cells import facts, html, release_html, table_html
from leeward.report._figures import decision_curve, mapped, places_map
from leeward.report._formats import FORMATS
from leeward.report._html import report_html, write_report
from leeward.report._plots import plot, release_plot
from leeward.report._windows import windows_html
from leeward.report._words import Readable

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
