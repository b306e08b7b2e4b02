"""Counts of groups of rows under steps of policies: exact, against every pair of rows that a step leads between."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from datetime import date
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from tests.asking import statistic_by

from leeward import records, statistic
from leeward.errors import InputError, NotPrivateError, SpecError
from leeward.exact import inf
from leeward.notion import ADP, OSDP, Blowfish, Both, BoundedDP, Notion, Personalised, has, where
from leeward.planner._number_plan import plan_number
from leeward.query import Groups, Statistic

EPSILON = Fraction(3, 2)
ROWS: list[Any] = [
    *({"ill": ill, "town": town} for ill in ("flu", "cold", "cough", "another", None) for town in ("A", "B", None))
]
Oracle = Callable[[Any, Any], bool]
"""Whether a step leads from one row to another; None is no row."""


def among(column: str, *values: str) -> Callable[[Any], bool]:
    """A proposition about a row, told by hand."""
    return lambda row: row is not None and row[column] in values


def keeps(*policies: Callable[[Any], bool], absent_too: bool = False) -> Oracle:
    def step(before: Any, after: Any) -> bool:
        if None in (before, after) and not absent_too:
            return False
        return all(policy(after) for policy in policies if policy(before))

    return step


def masks(sensitive: Callable[[Any], bool], *, to_any: bool) -> Oracle:
    return lambda r, s: None not in (r, s) and sensitive(r) and (to_any or not sensitive(s))


def joined(*edges: str) -> Oracle:
    pairs = {tuple(edge.split()) for edge in edges}
    return lambda r, s: None not in (r, s) and bool({(r["ill"], s["ill"]), (s["ill"], r["ill"])} & pairs)


FLU, COLD, IN_A = where("ill", equals="flu"), where("ill", equals="cold"), where("town", one_of=["A"])
flu, cold, in_a = among("ill", "flu"), among("ill", "cold"), among("town", "A")
VALUES = ["flu", "cold", "cough"]

NOTIONS: dict[str, tuple[Notion, Oracle]] = {
    "not flu": (ADP(EPSILON, ~FLU), keeps(lambda r: not flu(r))),
    "not flu, absent too": (ADP(EPSILON, ~FLU, absent_too=True), keeps(lambda r: not flu(r), absent_too=True)),
    "flu, absent too": (ADP(EPSILON, FLU, absent_too=True), keeps(flu, absent_too=True)),
    "not flu, not cold": (ADP(EPSILON, [~FLU, ~COLD]), keeps(lambda r: not flu(r), lambda r: not cold(r))),
    "neither flu nor cold": (ADP(EPSILON, ~(FLU | COLD)), keeps(lambda r: not flu(r) and not cold(r))),
    "flu and not cold": (ADP(EPSILON, [FLU, ~COLD]), keeps(flu, lambda r: not cold(r))),
    "not flu in A": (ADP(EPSILON, ~(FLU & IN_A)), keeps(lambda r: not (flu(r) and in_a(r)))),
    "not flu, and where": (
        ADP(EPSILON, [~FLU, IN_A, ~IN_A]), keeps(lambda r: not flu(r), in_a, lambda r: not in_a(r)),
    ),
    "flu is sensitive": (OSDP(EPSILON, FLU), masks(flu, to_any=True)),
    "flu is sensitive, narrower": (OSDP(EPSILON, FLU, "non-sensitive"), masks(flu, to_any=False)),
    "flu in A is sensitive": (OSDP(EPSILON, FLU & IN_A), masks(lambda r: flu(r) and in_a(r), to_any=True)),
    "flu – cold": (Blowfish(EPSILON, VALUES, [("flu", "cold")]), joined("flu cold")),
    "cough – flu": (Blowfish(EPSILON, VALUES, [("cough", "flu")]), joined("cough flu")),
    "flu – cold, and nothing else": (Blowfish(EPSILON, ["flu", "cold"], [("flu", "cold")]), joined("flu cold")),
    "a path": (
        Blowfish(EPSILON, VALUES, [("flu", "cough"), ("cough", "cold")]), joined("flu cough", "cough cold"),
    ),
}  # fmt: skip

GROUPS: list[list[str]] = [["flu"], ["cold"], ["flu", "cold"], ["cold", "cough"], VALUES, ["another"]]
KEEP: list[dict[str, list[str]]] = [{}, {"town": ["A"]}, {"town": ["A", "B"]}, {"town": ["B"], "ill": ["flu", "cold"]}]


def asked(
    groups: Sequence[str], keep: dict[str, list[str]], person: str = "each row", others: str | None = None
) -> Statistic:
    table = records("t.parquet", person=person, keep=keep or None)
    return statistic(table, "histogram", by=Groups({"ill": groups}, others=others))


def moves(step: Oracle, groups: Sequence[str], keep: dict[str, list[str]], others: Any = None) -> set[tuple[int, int]]:
    """All (rise, fall) of the counts along a step, by hand."""

    def counts(row: Any) -> list[bool]:
        kept = row is not None and all(row[column] in allowed for column, allowed in keep.items())
        held = [bool(kept and row["ill"] == group) for group in groups]
        return [*held, bool(kept and row["ill"] not in groups)] if others else held

    found = set()
    for before, after in itertools.product([*ROWS, None], repeat=2):
        if step(before, after):
            pairs = list(zip(counts(before), counts(after), strict=True))
            found.add((sum(a > b for b, a in pairs), sum(b > a for b, a in pairs)))
    return found - {(0, 0)}


@pytest.mark.parametrize("others", [None, "else"], ids=["listed", "and others"])
@pytest.mark.parametrize("keep", KEEP, ids=str)
@pytest.mark.parametrize("groups", GROUPS, ids=" ".join)
@pytest.mark.parametrize("name", NOTIONS)
def test_rates_are_allowed_on_every_step_and_cannot_be_larger(
    name: str, groups: list[str], keep: dict[str, list[str]], others: str | None
) -> None:
    notion, step = NOTIONS[name]
    found = moves(step, groups, keep, others)
    listed = isinstance(notion, Blowfish) and (bool(keep or others) or not {*groups} <= {*notion.universe})
    if not found and not listed:
        with pytest.raises(NotPrivateError, match="no step of the notion changes it"):
            plan_number(asked(groups, keep, others=others), notion)
        return
    (part,) = plan_number(asked(groups, keep, others=others), notion).parts
    up, down = part.line.rise, part.line.fall
    assert not (up.is_infinite and any(rise for rise, _ in found))
    assert not (down.is_infinite and any(fall for _, fall in found))
    spent = [
        (EPSILON * 0 if not rise else up * rise) + (EPSILON * 0 if not fall else down * fall) for rise, fall in found
    ]
    assert all(each <= EPSILON for each in spent), "not private"
    if listed:  # nothing is derived: the noise is that of any change
        any_change = (
            EPSILON if len(groups) == 1 and not others else EPSILON / 2
        )  # a single count moves one way at a time
        assert (up, down) == (any_change, any_change)
        return
    assert max(spent) == EPSILON, "more noise than it takes"
    assert up.is_infinite == (not any(rise for rise, _ in found))
    assert down.is_infinite == (not any(fall for _, fall in found))


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("question", "notion"),
    [
        (asked(["flu"], {}, person="who"), ADP(EPSILON, ~FLU)),
        (asked(["flu"], {}), ADP(EPSILON, ~has("flu"))),
        (asked(["flu"], {}), OSDP(EPSILON, lambda r: r == 1, records=[0, 1])),
        (asked([f"ill {i}" for i in range(1200)], {"town": ["A"]}), ADP(EPSILON, [~where("ill", equals="ill 1"), ~IN_A])),
    ],
    ids=["persons with several rows", "facts", "records that are not the groups", "too many kinds of rows"],
)  # fmt: skip
def test_where_nothing_is_derived_the_noise_is_that_of_any_change(question: Statistic, notion: Notion) -> None:
    made, any_change = (plan_number(question, each).parts for each in (notion, BoundedDP(EPSILON)))
    assert [part.line for part in made] == [part.line for part in any_change]


def test_other_notions_made_of_policies() -> None:
    """Of several ε the least counts, and of two promises both."""
    one = Personalised(ADP(1, ~FLU), ["2", "1/2"])
    assert plan_number(asked(["flu"], {}), one).parts[0].line.fall == Fraction(1, 2)
    two = Both(ADP("1", ~FLU), OSDP("1/4", where("ill", one_of=["cold"])))
    line = plan_number(asked(["flu"], {}), two).parts[0].line
    assert (line.rise, line.fall) == (Fraction(1, 4), 1), "a cold may become a flu"


def test_a_policy_graph_of_one_record_protects_nothing_and_says_so() -> None:
    """No edge moves a count, and no going from one group to another is charged beside them."""
    with pytest.raises(NotPrivateError, match="no step of the notion changes it"):
        plan_number(asked(["flu"], {}), Blowfish(EPSILON, ["flu"], []))


def test_a_policy_that_leaves_a_filtered_column_alone_is_not_one_sided() -> None:
    """Not flu, and counted in A only: someone with flu in B passes as one in A, and the count rises."""
    assert plan_number(asked(["flu"], {}), ADP("1", ~FLU)).parts[0].line.rise == inf
    assert plan_number(asked(["flu"], {"town": ["A"]}), ADP("1", ~FLU)).parts[0].line.rise != inf


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"groups": [1, 2], "others": True}, "others = -1"),
        ({"groups": [1, 2], "others": "else"}, "others = -1"),
        ({"groups": ["a"], "others": -1}, 'others = "all others"'),
        ({"groups": ["a"], "others": "a"}, "by another name"),
        ({"groups": [1], "others": 2**63}, "beyond 64 bits"),
        ({"groups": [f"g{i}" for i in range(10**6)], "others": "else"}, "answers are the most"),
    ],
)
def test_a_group_of_all_others_is_one_key_more(given: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError, match=re.escape(said)):
        statistic_by(records("t.parquet", person="p"), "histogram", by="x", **given)


def test_others_need_groups() -> None:
    with pytest.raises(SpecError, match="Give by and groups"):
        statistic(records("t.parquet", person="p"), "mean", column="x", lower=0, upper=1, by=Groups({}, others="else"))


def within(question: Statistic, column: str = "when") -> Statistic:
    """The same of rows in a window."""
    table = records("t.parquet", person="each row", keep=question.records.keep or None, time=column)
    groups = list(question.groups)
    return statistic(table, "histogram", start="2026-01-01", end="2026-01-02", by={"ill": groups})


@pytest.mark.parametrize("keep", KEEP, ids=str)
@pytest.mark.parametrize("groups", [["flu"], ["cold", "cough"], VALUES], ids=" ".join)
@pytest.mark.parametrize("name", NOTIONS)
def test_a_window_is_a_filter_of_which_no_policy_speaks(
    name: str, groups: list[str], keep: dict[str, list[str]]
) -> None:
    """Rates are allowed on every step between rows that also have a time, which is in the window or is not."""
    notion, step = NOTIONS[name]
    (part,) = plan_number(within(asked(groups, keep)), notion).parts
    up, down = part.line.rise, part.line.fall
    found = set()
    timed = [None, *itertools.product(ROWS, (True, False))]
    for one, other in itertools.product(timed, repeat=2):
        before, after = (None if each is None else each[0] for each in (one, other))
        if step(before, after):
            counts = [
                [
                    each is not None
                    and each[1]
                    and each[0]["ill"] == group
                    and all(each[0][column] in allowed for column, allowed in keep.items())
                    for group in groups
                ]
                for each in (one, other)
            ]
            pairs = list(zip(*counts, strict=True))
            found.add((sum(b > a for a, b in pairs), sum(a > b for a, b in pairs)))
    assert all((up * rise if rise else 0) + (down * fall if fall else 0) <= EPSILON for rise, fall in found)


def test_a_policy_about_times_gets_the_noise_of_any_change() -> None:
    policy = ADP(EPSILON, ~where("when", equals="2026-01-01"))
    (part,) = plan_number(within(asked(["flu", "cold"], {})), policy).parts
    assert part.line == plan_number(asked(["flu", "cold"], {}), BoundedDP(EPSILON)).parts[0].line
    one_sided = plan_number(asked(["flu"], {}), ADP(EPSILON, ~FLU)).parts[0].line
    assert one_sided.rise == inf
    assert plan_number(within(asked(["flu"], {})), ADP(EPSILON, ~FLU)).parts[0].line.rise != inf, "it may be moved in"
    assert plan_number(within(asked(["flu"], {}), "ill"), ADP(EPSILON, ~FLU)).parts[0].line.rise != inf


def test_a_policy_may_let_rows_of_one_time_alone_change_groups() -> None:
    """In the window, from one group to the other: both counts move. At other times a row may only leave the window."""
    at = where("when", equals="2026-01-01")
    policy = ADP(EPSILON, [at | FLU, at | ~FLU])
    (part,) = plan_number(within(asked(["flu", "cold"], {})), policy).parts
    assert part.line == plan_number(asked(["flu", "cold"], {}), BoundedDP(EPSILON)).parts[0].line


def test_a_universe_of_groups_says_nothing_of_a_window() -> None:
    """Whose group alone is a record is moved into the window, or out of it, by no step that is derived from groups."""
    notion = OSDP(EPSILON, lambda group: group == "flu", records=VALUES)
    derived, timed, any_change = (
        plan_number(question, each).parts[0].line
        for question, each in (
            (asked(["flu"], {}), notion),
            (within(asked(["flu"], {})), notion),
            (asked(["flu"], {}), BoundedDP(EPSILON)),
        )
    )
    assert timed == any_change != derived


CROSSED: list[dict[str, list[str]]] = [{"ill": ["flu", "cold"], "town": ["A", "B"]}, {"town": ["A"], "ill": ["cold"]}]


@pytest.mark.parametrize("keep", KEEP, ids=str)
@pytest.mark.parametrize("by", CROSSED, ids=" ".join)
@pytest.mark.parametrize("name", NOTIONS)
def test_groups_by_two_columns_move_as_every_pair_of_rows_says(
    name: str, by: dict[str, list[str]], keep: dict[str, list[str]]
) -> None:
    notion, step = NOTIONS[name]
    table = records("t.parquet", person="each row", keep=keep or None)
    question = statistic(table, "histogram", by=by)

    def counts(row: Any) -> list[bool]:
        kept = row is not None and all(row[column] in allowed for column, allowed in keep.items())
        return [
            bool(kept and all(row[c] == v for c, v in zip(by, group, strict=True)))
            for group in itertools.product(*by.values())
        ]

    found = set()
    for before, after in itertools.product([*ROWS, None], repeat=2):
        if step(before, after):
            pairs = list(zip(counts(before), counts(after), strict=True))
            found.add((sum(a > b for b, a in pairs), sum(b > a for b, a in pairs)))
    if not found - {(0, 0)} and not isinstance(notion, Blowfish):
        with pytest.raises(NotPrivateError, match="no step of the notion changes it"):
            plan_number(question, notion)
        return
    (part,) = plan_number(question, notion).parts
    spent = [(part.line.rise * r if r else 0) + (part.line.fall * f if f else 0) for r, f in found]
    assert all(each <= EPSILON for each in spent), "not private"
    if not isinstance(notion, Blowfish):  # its records are the values of one column
        assert max(spent) == EPSILON, "more noise than it takes"


@pytest.mark.parametrize("keep", KEEP[:2], ids=str)
@pytest.mark.parametrize("name", NOTIONS)
def test_others_of_two_columns_move_as_every_pair_of_rows_says(name: str, keep: dict[str, list[str]]) -> None:
    notion, step = NOTIONS[name]
    by = CROSSED[0]
    table = records("t.parquet", person="each row", keep=keep or None)
    question = statistic(table, "histogram", by=Groups(by, others="else"))

    def cell(row: Any) -> Any:
        if row is None or not all(row[column] in allowed for column, allowed in keep.items()):
            return None
        values = tuple(row[column] for column in by)
        return values if all(value in by[c] for c, value in zip(by, values, strict=True)) else "else"

    found = set()
    for before, after in itertools.product([*ROWS, None], repeat=2):
        if step(before, after) and cell(before) != cell(after):
            found.add((int(cell(after) is not None), int(cell(before) is not None)))
    (part,) = plan_number(question, notion).parts
    spent = [(part.line.rise * r if r else 0) + (part.line.fall * f if f else 0) for r, f in found]
    assert all(each <= EPSILON for each in spent), "not private"
    if not isinstance(notion, Blowfish):
        assert max(spent) == EPSILON, "more noise than it takes"


@pytest.mark.parametrize("others", [None, "else"])
@pytest.mark.parametrize("name", ["not flu", "flu and not cold", "not flu in A", "flu is sensitive", "a path"])
def test_intervals_are_groups_like_listed_ones_where_no_policy_looks_at_the_number(name: str, others: Any) -> None:
    """The interval of a row follows from its number alone, of which the policies say nothing."""
    notion, _ = NOTIONS[name]
    table, cut = records("t.parquet", person="each row"), {"lower": 0, "upper": 20, "step": 10}
    for more in ({}, {"ill": ["flu", "cold"]}):
        lines = [
            plan_number(statistic(table, "histogram", by=Groups({"age": band, **more}, others=others)), notion)
            .parts[0]
            .line
            for band in (cut, ["0 to 10", "10 to 20"])
        ]
        assert lines[0] == lines[1]
    (one_sided,) = plan_number(statistic(table, "histogram", by={"age": cut, "ill": ["flu"]}), ADP(EPSILON, ~FLU)).parts
    assert one_sided.line.rise != inf, "someone's number may become another"
    about = ADP(EPSILON, ~where("age", one_of=[3]))
    any_change = plan_number(statistic(table, "histogram", by={"age": cut}), BoundedDP(EPSILON)).parts[0].line
    assert plan_number(statistic(table, "histogram", by={"age": cut}), about).parts[0].line == any_change


@pytest.mark.parametrize(
    ("listed", "named"),
    [(["05", "06"], 5), (["5-9"], 5.5), (["a"], True), ([5, 6], "x"), ([5], date(2026, 1, 1)), (["a"], ("a",))],
)
@pytest.mark.parametrize("of", ["groups", "filter"])
def test_a_policy_about_values_of_another_kind_is_refused(listed: list[Any], named: object, of: str) -> None:
    """No value of a column is both: the policy would be about nobody, and the noise for nobody."""
    table = pa.table({"column": listed, "other": ["x"] * len(listed)})
    keep = {"column": listed} if of == "filter" else None
    rows = records(table, person="each row", keep=keep)
    query = statistic(rows, "count", by={"column": listed} if keep is None else {"other": ["x"]})
    with pytest.raises(InputError, match=f"values in the {of} are"):
        plan_number(query, OSDP("1", where("column", equals=named)))
    plan_number(query, OSDP("1", where("column", equals=listed[0])))
