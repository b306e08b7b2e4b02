# SPDX-License-Identifier: Apache-2.0
"""Released groups that nobody has listed, in plain words and as bars: what follows from the statement and the answers."""

from __future__ import annotations

from html import escape

import plotly.graph_objects as go

from leeward._plain import percent, plain
from leeward._statement import UnlistedQuery, UnlistedStatement
from leeward.report._number_figures import MOST_GROUPS, bars
from leeward.report._words import Readable, between, many, only_kept, when


def stated(result: Readable) -> UnlistedStatement:
    """Return the statement of released groups."""
    assert isinstance(result.statement, UnlistedStatement)
    return result.statement


def headline(result: Readable) -> str:
    """Say how many groups are shown."""
    shown, by = result.answers.num_rows, stated(result).query.by
    which = "No group" if not shown else "1 group" if shown == 1 else f"{shown:,} groups"
    return f"{which} by ‘{by}’ {'is' if shown < 2 else 'are'} shown"


def lead(statement: UnlistedStatement) -> str:
    """Say which groups are shown, and how near their counts are."""
    accuracy = statement.accuracy
    always = (
        ""
        if accuracy.always_shown_from is None
        else f", and every group with {accuracy.always_shown_from:,} {accuracy.counted} or more always"
    )
    most = statement.query.most_groups
    shown = "1 group does, the one with the greatest noisy count is" if most == 1 else ""
    shown = shown or f"{most:,} groups do, those with the greatest noisy counts are"
    side = ""
    if accuracy.off_by_at_most is not None:
        side = f" A count is off by at most {accuracy.off_by_at_most:,}."
    elif statement.mechanism.rate_up == "inf":
        side = " A count is never above the exact one."
    return (
        f"{when(statement.query.window)}Groups were not listed beforehand. One with {accuracy.mostly_shown_from:,}"
        f" {accuracy.counted} reaches the threshold with probability at least 95 %{always}. Where more than {shown} shown."
        f" Of groups that are not shown nothing is said.{side}"
    )


def odds(statement: UnlistedStatement) -> list[tuple[int, str]]:
    """Return how often groups of some sizes reach the threshold."""
    return [(each.people, percent(each.chance)) for each in statement.accuracy.odds]


def taken(query: UnlistedQuery) -> list[tuple[str, str]]:
    """Describe which rows count, as terms and their values."""
    rows = [] if query.window is None else between(query.window)
    rows.append(("Groups", f"whatever ‘{query.by}’ holds, at most {query.most_groups:,} of them"))
    if query.groups_per_person is not None:
        m = query.groups_per_person
        rule = {
            "refuse": "never seen: checked",
            "first": f"counted only in the first {m} by name" if m > 1 else "counted only in the first by name",
        }.get(str(query.if_more), f"counted only in {m if m > 1 else 'that'} of their {query.if_more} rows")
        rows.append((f"A person in more than {m} group{'' if m == 1 else 's'}", rule))
    return rows + only_kept(query.keep)


def figure(result: Readable) -> go.Figure:
    """Draw the counts of the groups that are shown as bars, the greatest first."""
    answers = result.answers.slice(0, MOST_GROUPS)
    labels = [escape(plain(str(group))) for group in answers["group"].to_pylist()]
    return bars(labels, answers["count"].to_pylist(), f"{many(result.statement)} (noisy)")
