# SPDX-License-Identifier: Apache-2.0
"""Everything at once: recompute the papers, compare with the pins, write the page, the numbers and the data."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from leeward._progress import Progress, silent
from leeward.outputs import Folder, Write, prepared
from leeward.papers import _adp_day as adp_day
from leeward.papers import _adp_hour as adp_hour
from leeward.papers import _adp_numbers as adp_numbers
from leeward.papers import _d_privacy_figures as d_privacy_figures
from leeward.papers import _d_privacy_tables as d_privacy_tables
from leeward.papers import _one_sided as one_sided
from leeward.papers import _peopleflow as peopleflow
from leeward.papers import _universal as universal
from leeward.papers import _visits as of_visits
from leeward.papers._claim import Chapter, Figure
from leeward.papers._peopleflow import Peopleflow
from leeward.papers._recomputed import Recomputed
from leeward.papers._visits import VisitsFile
from leeward.tables._sheets import write_frame

OUTPUT = "the papers, recomputed"
"""What the folder of it says that it holds."""


def recompute(full: bool = False, visits: Sequence[VisitsFile] = (), progress: Progress = silent) -> Recomputed:
    """Recompute every figure, table and worked number of the three papers.

    Args:
        full: more readings, larger programs, more draws: minutes instead of seconds.
        visits: tables of the user's own, for ADP's curves.
        progress: called with which part is being computed, and which share of all parts is done.
    """
    parts: list[tuple[str, Callable[[], Chapter]]] = [
        ("ADP: definitions, bounds, mechanisms", adp_numbers.chapter),
        ("ADP: Figures 1 to 4", lambda: adp_hour.chapter(full)),
        ("ADP: Figures 5 and 6", lambda: adp_day.chapter(full)),
        ("One-sided", lambda: one_sided.chapter(full)),
        ("d-privacy: figures and examples", lambda: d_privacy_figures.chapter(full)),
        ("d-privacy: sensitivities and optimal mechanisms", lambda: d_privacy_tables.chapter(full)),
        ("universal optimality", lambda: universal.chapter(full)),
        *((f"visits: {source.path.name}", lambda source=source: _of_visits(source)) for source in visits),
    ]
    found = Recomputed(full)
    for done, (name, part) in enumerate(parts):
        progress(name, done / len(parts))
        start = time.perf_counter()
        chapter = part()
        found.claims += chapter.claims
        found.figures += chapter.figures
        found.seconds[name] = time.perf_counter() - start
    return found


def _of_visits(source: VisitsFile) -> Chapter:
    return peopleflow.chapter(source) if isinstance(source, Peopleflow) else of_visits.chapter(source)


def write(found: Recomputed, folder: Path) -> Path:
    """Write papers.html, papers.json and one CSV a figure into a folder, and return the path of the page.

    Raises:
        InputError: the folder holds something else, or what would be lost, or cannot be written.
    """
    with prepared(folder, OUTPUT) as place:
        return write_into(place, found)


def write_into(place: Folder, found: Recomputed) -> Path:
    """Write what `write` does into a folder that was prepared before the work began."""
    from leeward.papers._page import page  # plotly.js is read only here

    text = json.dumps(found.to_dict(), ensure_ascii=False, indent=2) + "\n"
    files: dict[str, Write] = {f"data/{figure.key}.csv": _csv(figure) for figure in found.figures}
    files["papers.json"] = lambda path: path.write_text(text, "utf-8")
    files["papers.html"] = lambda path: path.write_text(page(found), "utf-8")
    return place.write(files) / "papers.html"


def _csv(figure: Figure) -> Write:
    return lambda path: write_frame(figure.data, path)
