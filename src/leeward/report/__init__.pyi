# SPDX-License-Identifier: Apache-2.0
from ._cells import facts as facts
from ._cells import html as html
from ._cells import release_html as release_html
from ._cells import table_html as table_html
from ._figures import decision_curve as decision_curve
from ._figures import mapped as mapped
from ._figures import places_map as places_map
from ._formats import FORMATS as FORMATS
from ._html import report_html as report_html
from ._html import write_report as write_report
from ._plots import plot as plot
from ._plots import release_plot as release_plot
from ._windows import windows_html as windows_html
from ._words import Readable as Readable
