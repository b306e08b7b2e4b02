"""Write what the documentation shows of the papers: ``python docs/papers_draw.py FOLDER [--pictures]``.

``papers-numbers.md`` is kept beside this file; a test writes it again and compares. With ``--pictures`` the
figures are drawn too, by a headless Chromium, into ``FOLDER/papers-figures``.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path

from plotly.offline import get_plotlyjs

from leeward.papers import Claim, Figure, Recomputed, recompute
from leeward.papers._claim import SOURCES
from leeward.papers._page import table
from leeward.papers._recomputed import rows

HEAD = """# The papers in numbers

Every worked number of the three papers, as `leeward papers` recomputes it; [what it is about](papers.md). *Agrees*: the
paper's number, or its statement, is what we get. *Corrected*: it should read otherwise; the link leads to the correction.
*Read fairly*: what is printed is open, loose or a slip, and by the fairest reading it is what we get. *Added*: not printed,
but needed to judge what is. *Not reproducible*: no public data decides it; ours stand in.
"""
SHOWN = {
    "adp-figure-2": "Figure 2 of ADP: the truth, ε-DP, (ε, δ)-DP and ADP, safe = fewer than 3",
    "adp-figure-4-at-most": "Figure 4 of ADP: E[β] against ε, t, α and δ, safe = at most t",
    "adp-figure-5": "Figure 5 of ADP: at least so many right answers of SALap",
    "adp-figure-6": "Figure 6 of ADP: E[β] and the number of right answers",
    "one-sided-halves": "One-sided: noise halves",
    "one-sided-sparse": "One-sided: sparse histograms",
    "one-sided-region": "One-sided: where equation (3) wins",
    "one-sided-amplification": "One-sided: amplification by subsampling",
    "d-privacy-figure-3": "d-privacy, Figure 3: the earliest date",
    "d-privacy-figure-4": "d-privacy, Figure 4: a signature before and after",
}
"""Figures that the documentation shows as pictures."""
WIDTH = 1040


def page(found: Recomputed) -> str:
    """The page of numbers, in Markdown."""
    parts = [HEAD]
    for key, title in SOURCES.items():
        claims = [claim for claim in found.claims if claim.source == key]
        if claims:
            parts.append(f"## {title}\n\n" + "\n".join(_numbers(claims)))
            parts += [_table(f) for f in found.figures if f.source == key and f.drawing is None]
    parts.append("## By correction\n\n" + "\n".join(_corrections(rows(found.claims))))
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _numbers(claims: Iterable[Claim]) -> Iterator[str]:
    yield "| what | printed | ours | verdict |\n| --- | --- | --- | --- |"
    for c in claims:
        verdict = f"[{c.verdict}](corrections.md#{slug(c.row)})" if c.row else c.verdict
        why = f" *{_cell(c.why)}*" if c.why else ""
        what = f'<a id="{c.key}"></a>{_cell(c.where)}: {_cell(c.says)}.{why}'
        yield f"| {what} | {_cell(c.printed)} | **{c.shown}** | {verdict} |"


def _table(figure: Figure) -> str:
    shown = table(figure)
    lines = [f"### {figure.title}", "", figure.ours, "", "| " + " | ".join(map(_cell, shown["head"])) + " |"]
    lines.append("| " + " | ".join("---" for _ in shown["head"]) + " |")
    return "\n".join([*lines, *("| " + " | ".join(map(_cell, row)) + " |" for row in shown["body"])])


def _corrections(found: dict[str, list[Claim]]) -> Iterator[str]:
    yield "| correction | numbers |\n| --- | --- |"
    for row, claims in found.items():
        links = ", ".join(f"[{claim.shown}](#{claim.key})" for claim in claims)
        yield f"| [{_cell(row)}](corrections.md#{slug(row)}) | {links} |"


def _cell(text: str) -> str:
    return re.sub(r"([|*_\[\]`])", r"\\\1", html.escape(text, quote=False))


def slug(heading: str) -> str:
    """The anchor that the documentation gives a heading."""
    plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


def pictures(found: Recomputed, folder: Path) -> None:
    """Draw the chosen figures as PNG files, each in a window of its own size."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit("Chromium is needed to draw the pictures")
    folder.mkdir(parents=True, exist_ok=True)
    for figure in found.figures:
        if figure.key not in SHOWN or figure.drawing is None:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            source = Path(scratch, "figure.html")
            drawing = json.loads(figure.drawing.to_json())
            source.write_text(
                "<!doctype html><meta charset=utf-8><body style='margin:0;background:#fff'>"
                f"<div id=p style='height:{figure.height}px'></div><script>{get_plotlyjs()}</script>"
                f"<script>const f={json.dumps(drawing)};"
                "Plotly.newPlot('p',f.data,f.layout,{displayModeBar:false})</script>",
                "utf-8",
            )
            subprocess.run(
                [
                    *[browser, "--headless", "--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND"],
                    *[f"--user-data-dir={scratch}/profile", "--virtual-time-budget=8000", "--hide-scrollbars"],
                    *[
                        f"--window-size={WIDTH},{figure.height}",
                        f"--screenshot={folder / figure.key}.png",
                        source.as_uri(),
                    ],
                ],
                check=True,
                capture_output=True,
            )


if __name__ == "__main__":
    computed, where = recompute(), Path(sys.argv[1])
    (where / "papers-numbers.md").write_text(page(computed), "utf-8")
    if "--pictures" in sys.argv[2:]:
        pictures(computed, where / "papers-figures")
