# SPDX-License-Identifier: Apache-2.0
"""One report over the releases of several questions: what each says and costs, and what they cost together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from markupsafe import Markup

from leeward.report import _words as words
from leeward.report._html import headline
from leeward.report._page import asset, template
from leeward.report._words import Readable


def overview_html(releases: Mapping[str, Sequence[Readable]]) -> str:
    """Return one self-contained HTML page, without scripts, that makes no network request.

    The releases, one a window, are given by the path of each question's report; all are charged to one budget.
    """
    each = [one for windows in releases.values() for one in windows]
    first = each[0].statement
    # two questions that are one to the ledger have one entry, and are charged once
    prices = {one.statement.entry: Fraction(words.charged(one.statement)[0]) for one in each}
    return template("overview.html.j2").render(
        statement=first,
        words=words,
        unfit=any(not one.statement.fit_for_release for one in each),
        asked=[
            {
                "path": path,
                "name": path.partition("/")[0],
                "headline": headline(windows[0]) if len(windows) == 1 else f"{len(windows):,} windows",
                "text": windows[0].statement.query.text,
                "guaranteed": words.nearest(windows[0].statement.guaranteed),
                "notion": f"{windows[0].statement.notion.name} at ε = {windows[0].statement.notion.epsilon}",
                "price": str(sum((Fraction(words.charged(one.statement)[0]) for one in windows), Fraction(0))),
            }
            for path, windows in releases.items()
        ],
        total=str(sum(prices.values(), Fraction(0))),
        counted_in=None if first.budget is None else first.budget.notion,
        style=Markup(asset("report.css")),
    )
