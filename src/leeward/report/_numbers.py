# SPDX-License-Identifier: Apache-2.0
"""A released statistic in plain words: what follows from its statement and its published answers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from leeward import _plain
from leeward._plain import at_most, listed
from leeward._statement import NumberMechanism, NumberQuery, NumberStatement
from leeward.exact._real import inf
from leeward.planner._accuracy import MeanAccuracy, NumberAccuracy, RankAccuracy
from leeward.planner._people import people
from leeward.query._group_names import Group, answer_column, columns_named, group_named, lists_of
from leeward.query._percentiles import names_of
from leeward.query._records import HOW, counted_once
from leeward.report._words import Readable, between, many, only_kept, when

MOST_LINES = 80
"""With more answers than this their errors are given in words: lines would hide the bars."""


def stated(result: Readable) -> NumberStatement:
    """Return the statement of a released statistic."""
    assert isinstance(result.statement, NumberStatement)
    return result.statement


def columns(statement: NumberStatement) -> dict[str, str]:
    """Return the columns of the table of answers and their headings."""
    query = statement.query
    heading = {**of_groups(query), "from": f"{query.column} from", "to": "up to"}
    return {
        **heading,
        "percentile": "Per cent",
        "value": (_name(query) if not isinstance(query.p, tuple) else "value").capitalize(),
        "count": "Noisy count",
        "people": "People (noisy)",
        "rows": "Rows (noisy)",
        "within_95_percent": "Within, 95 %",
    }


def of_groups(query: NumberQuery) -> dict[str, str]:
    """Return the columns of answers that say of which group they are, and their headings."""
    if isinstance(query.by, tuple):
        return {answer_column(column): column for column in query.by}
    return {"group": query.by or "Of"}


def group_of(row: Mapping[str, Any], query: NumberQuery) -> str | None:
    """Name the group of a published row; None where there are no groups."""
    if not query.groups:
        return None
    return named(tuple(row[name] for name in of_groups(query)), query)


def named(group: Group, query: NumberQuery) -> str:
    """Name a group; that of all others by its one name, which stands in each of several columns."""
    values = group if isinstance(group, tuple) else (group,)
    return str(query.others) if query.others is not None and {*values} == {query.others} else group_named(group)


def headline(result: Readable) -> str:
    """Say what was asked, and the answer or its range."""
    statement, query = stated(result), stated(result).query
    if query.kind == "histogram":
        if query.column is None and not query.groups:
            return f"About {plain(result.answers['count'][0].as_py())} {many(statement)}"
        if query.column is None:
            return (
                f"{many(statement).capitalize()} in {_count(query.groups, 'group')} by {columns_named(query.by, '‘’')}"
            )
        bins = result.answers.num_rows // max(1, len(query.groups))
        groups = f", in {_count(query.groups, 'group')}" if query.groups else ""
        intervals = _count(bins, "interval")
        return f"{many(statement).capitalize()} by ‘{query.column}’ in {intervals}{groups}"
    values = result.answers["value"].to_pylist()
    name = f"The {_name(query)} of ‘{query.column}’"
    if len(values) == 1:
        where = f" in ‘{group_named(query.groups[0])}’" if query.groups else ""
        return f"{name}{where} is about {plain(values[0])}"
    if isinstance(query.p, tuple) and len(query.groups) <= 1:
        each = [
            f"the {name} is about {plain(value)}"
            for name, value in zip(names_of(map(Fraction, query.p)), values, strict=True)
        ]
        where = f" in ‘{group_named(query.groups[0])}’" if query.groups else ""
        return f"Of ‘{query.column}’{where} {listed(each)}"
    least, most = plain(min(values)), plain(max(values))
    found = f"about {least} in each" if least == most else f"from {least} to {most}"
    return f"{name} in {_count(query.groups, 'group')}: {found}"


def lead(result: Readable) -> str:
    """Say when, where rows of one window count, and how near the answers are."""
    return when(stated(result).query.window) + _near(result)


def _near(result: Readable) -> str:
    accuracy, answers = stated(result).accuracy, result.answers
    if isinstance(accuracy, RankAccuracy):
        return _by_rank(stated(result).query, accuracy, answers.num_rows)
    if "within_95_percent" in answers.column_names:
        found = answers["within_95_percent"].to_pylist()
        if len(found) > 1:
            return f"Each answer is within {_bound(max(found))} of the exact one, or nearer, with probability at least 95 %."
        return f"The exact answer is within {_bound(found[0])}, with probability at least 95 %."
    assert isinstance(accuracy, NumberAccuracy)
    one, several = accuracy.within_95_percent, accuracy.all_within_95_percent
    if answers.num_rows == 1:
        return f"The exact answer is within {_bound(one)}, with probability at least 95 %."
    return (
        f"Each answer is within {_bound(one)} of the exact one with probability at least 95 %; all"
        f" {answers.num_rows:,} are within {_bound(several)} with that probability."
    )


def _by_rank(query: NumberQuery, accuracy: RankAccuracy, answers: int) -> str:
    one, together = accuracy.within_95_percent, accuracy.all_within_95_percent
    have, exact = _between(one, accuracy), f"the exact {_name(query) if isinstance(query.p, str) else 'percentile'}"
    if answers == 1:
        return f"{have} a number between it and {exact}, with probability at least 95 %."
    where = " of its group" if len(query.groups) > 1 else ""
    return (
        f"{have} a number between an answer and {exact}{where}, with probability at least 95 %; with {together:,} that"
        f" is so of all {answers:,} together, with that probability."
    )


def _between(k: int, accuracy: RankAccuracy) -> str:
    one = accuracy.counted == "rows"
    if k <= 1:
        return ("At most one " if k else "No ") + ("row has" if one else "person has")
    return f"At most {k:,} {accuracy.counted} have"


def errors(statement: NumberStatement) -> list[tuple[str, str]]:
    """Return the key figures of the noise: what they are, and how large."""
    accuracy = statement.accuracy
    if isinstance(accuracy, RankAccuracy):
        k = accuracy.within_95_percent
        whose = _count(k, "row") if accuracy.counted == "rows" else "1 person" if k == 1 else f"{k:,} people"
        return [(whose, "95 % error in rank")]
    if not isinstance(accuracy, NumberAccuracy) or statement.query.kind == "standard deviation":
        return []  # it depends on the answer, and stands beside it
    return [
        (f"± {_bound(accuracy.within_95_percent)}", "95 % error"),
        (_bound(accuracy.mean_absolute), "mean error"),
    ]


def single(result: Readable) -> dict[str, str] | None:
    """Return the value and the error of the only answer; None where there are several."""
    if result.answers.num_rows != 1:
        return None
    answer, accuracy = result.answers.to_pylist()[0], stated(result).accuracy
    bound = accuracy.within_95_percent if isinstance(accuracy, NumberAccuracy) else None
    error = answer.get("within_95_percent", bound)
    return {"value": plain(answer.get("value", answer.get("count"))), "error": "" if error is None else _bound(error)}


def certain_curve(result: Readable) -> list[list[int]] | None:
    """Return, of a histogram of a number whose counts are never too low, how many at most have a number from each on.

    A curve for each group, in their order; None of other releases. The counts of a group have noise of their own that is
    never negative, so what holds of one histogram holds of that of each group.
    """
    statement = stated(result)
    query, mechanism = statement.query, statement.mechanism
    if query.kind != "histogram" or query.column is None or not isinstance(mechanism, NumberMechanism):
        return None
    if [part.rate_down for part in mechanism.parts] != [str(inf)]:
        return None
    counts = result.answers["count"].to_pylist()
    bins = len(counts) // max(1, len(query.groups))
    each = [counts[first : first + bins] for first in range(0, len(counts), bins)]
    return [list(itertools.accumulate(reversed(own)))[::-1] for own in each]


def crossed(result: Readable) -> bool:
    """Whether the answers are counts by intervals of two numbers: a histogram of both."""
    query = stated(result).query
    both = tuple(one.column for one in query.intervals)
    return query.kind == "histogram" and len(both) == 2 and query.by == both and query.others is None


def caption(result: Readable) -> str:
    """Say what the picture shows."""
    counts, query = "count" in result.answers.column_names, stated(result).query
    if crossed(result):
        return "Each cell is a noisy count, the darker the larger; how far off counts are is said above, not drawn."
    each = "Bars are noisy counts" if counts else "Points are the answers"
    if certain_curve(result) is not None:
        line, whose = ("lines are", " of their group") if len(query.groups) > 1 else ("the line is", "")
        once = counted_once(query.combine, grouped=len(query.groups) > 1, numbers=True)
        sure = f"of people who are each {once}" if once else "of those counted"
        each += f", {line} how many{whose} at most have a number from there on, which is certain {sure}"
    each += ", from the smallest percentile to the largest" if isinstance(query.p, tuple) else ""
    if isinstance(stated(result).accuracy, RankAccuracy):
        return f"{each}; their errors are numbers of {many(stated(result))}, and are said above."
    if not any(reach(result)):
        return f"{each}; the error that is kept with probability 95 % is said above, not drawn."
    ends = "" if possible(result) == Possible() else ", and end where no true answer lies"
    return f"{each}; lines reach as far as the error that is kept with probability 95 %, each on its own{ends}."


def reach(result: Readable) -> list[float]:
    """Return how long the line of each answer is: the error that it keeps; 0 where lines would hide answers."""
    answers, accuracy = result.answers, stated(result).accuracy
    several = isinstance(stated(result).query.p, tuple)
    if answers.num_rows > MOST_LINES or several or isinstance(accuracy, RankAccuracy):
        return [0.0] * answers.num_rows
    if "within_95_percent" in answers.column_names:
        return [float(error) for error in answers["within_95_percent"].to_pylist()]
    assert isinstance(accuracy, NumberAccuracy)
    return [accuracy.within_95_percent] * answers.num_rows


class Possible(NamedTuple):
    """Where true answers can be.

    Attributes:
        least: none is smaller.
        most: none is greater.
        below: whether a true answer may be below the published one; it is not where noise only takes away.
        above: whether one may be above it; it is not where noise only adds.
    """

    least: float = -math.inf
    most: float = math.inf
    below: bool = True
    above: bool = True


def possible(result: Readable) -> Possible:
    """Return where true answers can be: no count and no spread is below 0, no mean beyond the bounds."""
    query, mechanism = stated(result).query, stated(result).mechanism
    found = Possible()
    if isinstance(mechanism, NumberMechanism) and len(mechanism.parts) == 1:
        (part,) = mechanism.parts
        found = Possible(below=part.rate_up != str(inf), above=part.rate_down != str(inf))
    if "count" in result.answers.column_names or query.kind in ("variance", "standard deviation"):
        return found._replace(least=0.0)
    if query.kind == "sum" or query.lower is None or query.upper is None:
        return found
    return found._replace(least=float(Fraction(query.lower)), most=float(Fraction(query.upper)))


def taken(query: NumberQuery) -> list[tuple[str, str]]:
    """Describe which numbers of which people, or rows, count, as terms and their values."""
    counted, rows = query.many, [] if query.window is None else between(query.window)
    if query.lower is not None and query.upper is not None and query.step is not None:
        bounds = f"{decimal(query.lower)} to {decimal(query.upper)}"
        steps = "in intervals of" if query.kind == "histogram" else "rounded half up to steps of"
        rows.append(("Numbers", f"clamped to {bounds}, {steps} {decimal(query.step)}"))
    if query.levels is not None:
        listed = (
            ", ".join(map(decimal, query.levels))
            if len(query.levels) <= MOST_LINES
            else f"{len(query.levels):,} levels"
        )
        rows.append((f"Levels of ‘{query.column}’", listed))
    cut = {
        one.column: f"{decimal(one.lower)} to {decimal(one.upper)}, in intervals of {decimal(one.step)}"
        for one in query.intervals
    }
    for column, values in lists_of(query.by, query.groups if query.others is None else query.groups[:-1]).items():
        rows.append((f"Groups by ‘{column}’", cut.get(column) or ", ".join(map(str, values))))
    if query.others is not None:
        rows.append(("All others", f"‘{query.others}’: {counted} in none of these groups"))
    if query.people is not None:
        number = people(query.people) if counted == "people" else _count(query.people, "row")
        rows.append(("Public number", f"{number} with a number"))
    rows += only_kept(query.keep)
    how = HOW.get(query.combine or "")
    if how and query.column is not None:
        rows.append(("A person with several rows", f"counts once, with {how} of their numbers"))
    return rows


def by_number(statement: NumberStatement) -> list[tuple[int, str]]:
    """Return the 95 % errors of a mean over a private number, by that number; empty where it does not depend on one."""
    accuracy = statement.accuracy
    errors = accuracy.by_number if isinstance(accuracy, MeanAccuracy) else ()
    return [(each.number, _bound(each.within_95_percent)) for each in errors]


def decimal(exact: str) -> str:
    """Write an exact public number as a decimal where it is one, else as a fraction."""
    return _plain.decimal(Fraction(exact))


def plain(number: float) -> str:
    """Write a published number: thousands set apart, and no more digits than it has."""
    if isinstance(number, int) or number == int(number):
        return f"{int(number):,}".replace("-", "−")
    return f"{number:,}".replace("-", "−")


def _short(number: float) -> str:
    return plain(number) if number == int(number) else f"{number:,.3g}" if abs(number) < 1000 else f"{number:,.0f}"


def _bound(error: float) -> str:
    """Write an error that is kept, or a mean one: like other numbers, but rounded up, as plans and the desk tell it."""
    return _short(error) if error == int(error) else at_most(error) if error < 1000 else f"{math.ceil(error):,}"


def _name(query: NumberQuery) -> str:
    if query.p is None:
        return query.kind
    return listed(names_of(map(Fraction, (query.p,) if isinstance(query.p, str) else query.p)))


def _count(things: Sequence[object] | int, noun: str) -> str:
    number = things if isinstance(things, int) else len(things)
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
