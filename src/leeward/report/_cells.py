# SPDX-License-Identifier: Apache-2.0
"""What a notebook shows: plans, comparisons, verdicts, budgets, accounts and releases as tables that a screen reader reads.

Each table has a caption, and headings for its rows or columns. All text is escaped; there is no script, and no style beyond
the side on which text stands, so that a notebook's own light or dark look stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from leeward._plain import counted
from leeward.accounting import Accountant, Filter, Odometer
from leeward.accounting._pure import Cost
from leeward.planner._answer_cells import cells_of
from leeward.planner._answer_compare import AnswerComparison
from leeward.planner._answer_report import answer_report, name_report
from leeward.planner._compare import Comparison
from leeward.planner._plan_report import plan_report
from leeward.planner._selection_compare import NameComparison
from leeward.planner._words import refused
from leeward.report._page import unturned
from leeward.report._plan import table_of
from leeward.report._words import Readable

if TYPE_CHECKING:  # a release shows nothing here, and loads none of these
    from leeward.planner._number_plan import NumberPlan
    from leeward.planner._plan import Plan
    from leeward.planner._rank_plan import RankPlan
    from leeward.planner._recommend import Recommendation
    from leeward.planner._selection_plan import SelectionPlan
    from leeward.planner._unlisted_plan import UnlistedPlan
    from leeward.verification import DeltaVerdict, Verdict

    Single = Plan | NumberPlan | RankPlan | SelectionPlan | UnlistedPlan | Recommendation | Verdict | DeltaVerdict
    """What says in its ``str`` all there is to say: a line each, most of them a term, a colon, and what it is."""

    Shown = Single | Comparison | NameComparison | AnswerComparison | Accountant | Odometer
    """What is shown here, beside what stands above the report: releases (`release_html`), and budgets (`facts`)."""

MOST_ANSWERS = 10
"""Of the answers of a release so many are shown; its report has all of them."""


def html(shown: Shown) -> str:
    """Return an object as a table in HTML."""
    match shown:
        case Comparison():
            columns, rows = table_of(plan_report(shown))
            caption = "What could be released; the row in bold is recommended"
            return _table(caption, columns, [cells for _, cells in rows], [chosen for chosen, _ in rows])
        case NameComparison() | AnswerComparison():
            return _numbers_or_names(shown)
        case Accountant():
            return _accountant(shown)
        case Odometer():
            return _odometer(shown)
        case _:
            caption, *lines = str(shown).splitlines()
            return facts(caption, map(_term, lines))


def facts(caption: str, rows: Iterable[tuple[str, str]]) -> str:
    """Return a table of terms and what they are, with a heading for each row.

    Args:
        caption: what the table is about.
        rows: terms, and what they are; a row without a term is a sentence, one without the other heads those after it.
    """
    return _table(caption, [], [[term, value] for term, value in rows])


def table_html(caption: str, columns: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """Return a table with a heading for each column; the first cell of a row is its heading.

    Args:
        caption: what the table is about.
        columns: the headings.
        cells: those of each row.
    """
    return _table(caption, columns, cells)


def release_html(result: Readable) -> str:
    """Return a release as a table: what was asked and promised, and its first answers."""
    said, answers = result.statement, result.answers
    rows = [
        ("question", said.query.text),
        ("data set", f"{said.dataset}, version {said.version}"),
        ("notion", f"{said.notion.name}, {said.strength} per {said.notion.unit}, price {said.price}"),
        ("protected", said.notion.protects),
        ("not protected", said.notion.does_not_protect or "nothing"),
        *(("guaranteed", sentence) for sentence in said.guaranteed),
    ]
    if not said.fit_for_release:
        rows.insert(
            0, ("not fit for release", "its noise came from a seed, and whoever knows the seed can subtract it")
        )
    first = answers.slice(0, MOST_ANSWERS)
    cells = zip(*(first[name].to_pylist() for name in answers.column_names), strict=True)
    many = answers.num_rows
    caption = f"The first {len(first)} of {many:,} answers" if many > len(first) else counted(many, "answer")
    listed = [["–" if value is None else str(value) for value in row] for row in cells]
    return facts(f"A release of {said.dataset}, {said.created}", rows) + _table(caption, answers.column_names, listed)


def _term(line: str) -> tuple[str, str]:
    """Take a line apart into a term and what it is; a line without a colon is a sentence, and may be about the one above."""
    term, colon, value = line.strip().partition(": ")
    if colon and len(term) <= _LONGEST:
        return term, value
    return (line.strip().removesuffix(":"), "") if line.endswith(":") else ("", line.strip())


_LONGEST = 80
"""A longer text before a colon is a sentence, and no term."""


def _numbers_or_names(compared: NameComparison | AnswerComparison) -> str:
    report = name_report(compared) if isinstance(compared, NameComparison) else answer_report(compared)
    (headings, rows), advice = cells_of(report)
    said = [("refused as asked", compared.refusal)] if compared.refusal else []
    said += [("advice", each) for each in advice]
    said += refused(report.options)
    caption = "What could be released" + ("" if compared.refusal else "; the first row is what was asked for")
    columns = [each.replace("\n", " ").replace("95%", "95 %") for each in headings]
    return _table(caption, columns, rows) + facts("What speaks for which", said)


def _accountant(accountant: Accountant) -> str:
    counts = accountant.events
    rows = [(event.kind, f"{times:,}") for event, times in counts.items()]
    return facts(
        f"{counted(sum(counts.values()), 'release')}, accounted for each direction", [*_ways(accountant.cost), *rows]
    )


def _odometer(odometer: Odometer) -> str:
    rows = _ways(odometer.total)
    if isinstance(odometer, Filter):
        rows = [("spent", str(odometer.spent)), ("cap", str(odometer.cap)), ("counted in", str(odometer.notion)), *rows]
    return facts(f"{counted(len(odometer.events), 'release')} so far", rows)


def _ways(cost: Cost) -> list[tuple[str, str]]:
    return [
        ("a person taken out costs at most", str(cost.withdraw)),
        ("a person put in", str(cost.insert)),
        ("some facts about a person taken away", str(cost.shrink)),
        ("some facts about a person invented", str(cost.grow)),
    ]


def _table(caption: str, columns: Sequence[str], rows: Sequence[Sequence[str]], bold: Sequence[bool] = ()) -> str:
    """Return a table whose first cell of each row is its heading."""
    head = f"<thead>{_row('th', 'col', columns)}</thead>" if columns else ""
    body = [
        _fact(*row) if not columns else _row("td", "row", row, strong=bool(bold) and bold[i])
        for i, row in enumerate(rows)
    ]
    return (
        '<div class="leeward" style="overflow-x:auto"><table>'
        f'<caption style="text-align:left">{_safe(caption)}</caption>'
        f"{head}<tbody>{''.join(body)}</tbody></table></div>"
    )


def _row(cell: str, scope: str, cells: Sequence[str], *, strong: bool = False) -> str:
    made = []
    for i, text in enumerate(cells):
        tag = "th" if scope == "col" or i == 0 else cell
        said = f' scope="{scope}"' if tag == "th" else ""
        inner = f"<strong>{_safe(text)}</strong>" if strong else _safe(text)
        made.append(f'<{tag}{said} style="text-align:left">{inner}</{tag}>')
    return f"<tr>{''.join(made)}</tr>"


def _fact(term: str, value: str) -> str:
    if term and value:
        return _row("td", "row", (term, value))
    tag, scope = ("td", "") if value else ("th", ' scope="rowgroup"')
    return f'<tr><{tag}{scope} colspan="2" style="text-align:left">{_safe(term or value)}</{tag}></tr>'


def _safe(text: str) -> Markup:
    return escape(unturned(text))
