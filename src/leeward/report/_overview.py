# SPDX-License-Identifier: Apache-2.0
"""One report over the releases of several questions: what each says and costs, and what they cost together."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from markupsafe import Markup

from leeward.report import _words as words
from leeward.report._html import headline
from leeward.report._page import asset, template
from leeward.report._words import Readable


def overview_html(releases: Mapping[str, Readable]) -> str:
    """Return one self-contained HTML page, without scripts, that makes no network request.

    Args:
        releases: by the path of the report of each, from the page; all of one data set, charged to one budget.
    """
    each = list(releases.values())
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
                "headline": headline(one),
                "text": one.statement.query.text,
                "guaranteed": words.nearest(one.statement.guaranteed),
                "notion": f"{one.statement.notion.name} at ε = {one.statement.notion.epsilon}",
                "price": words.charged(one.statement)[0],
            }
            for path, one in releases.items()
        ],
        total=str(sum(prices.values(), Fraction(0))),
        kept_in=None if first.budget is None else first.budget.notion,
        style=Markup(asset("report.css")),
    )
