"""Every input of a question about a number: what makes it another question, and what does not."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
from tests.deciding import decide_by
from tests.keys.bench import NEW, SAME, Bench, Given, Row, number, refused, without_a_row

import leeward as lw
from leeward.notion import Manhattan, ValueGrid
from leeward.planner import plan
from leeward.query import Groups, Kind, Mean, Percentile, Records, Source, Statistic, Sum, records, statistic
from leeward.session import Budget, release
from leeward.session._question import about

TABLE = {"source": "people.parquet", "person": "user"}
BOUNDS = {"column": "age", "lower": 0, "upper": 10, "step": 2}
PLAIN = {"notion": lw.UnboundedDP("1")}


def asked(kind: str, table: Mapping[str, Any] = TABLE, **statistic: Any) -> dict[str, dict[str, Any]]:
    """Return a question about the ages."""
    return {
        "records": dict(table),
        "statistic": {"kind": kind, **BOUNDS, **statistic},
        "plan": dict(PLAIN),
        "Budget": {"dataset": f"{kind} {sorted(statistic)}", "cap": "1000", "new": True},
    }


QUESTIONS: Mapping[str, dict[str, dict[str, Any]]] = {
    "sum": asked("sum"),
    "percentile": asked("percentile", p="30"),
    "percentiles": asked("percentile", p=["25", "75"]),
    "histogram": asked("histogram", by="sex", groups=["f", "m"]),
    "above": {
        **asked("above"),
        "plan": {"notion": lw.AdditionOnly("1"), "safe_at_most": 3},
        "Budget": {"dataset": "above", "cap": "1000", "new": True},
    },
    "hour": asked("mean", {**TABLE, "time": "at"}, start="2026-01-01T00:00", end="2026-01-01T20:00"),
    "cut": asked(
        "histogram", column=None, lower=None, upper=None, step=None, by={"age2": {"lower": 0, "upper": 12, "step": 6}}
    ),
    "mean": asked("mean"),
    "counted": {**asked("mean", people=24, grid="1/2"), "plan": {"notion": lw.BoundedDP("1")}},
    "counted sum": {**asked("sum", people=24), "plan": {"notion": lw.BoundedDP("1")}},
    "near": {
        **asked("histogram"),
        "plan": {"notion": Manhattan("1", ValueGrid(0, 10, 2))},
        "Budget": {"dataset": "near", "cap": "1000", "new": True},
    },
}

ROWS: Mapping[str, list[Row]] = {
    "sum": [
        Row("records", "source", "elsewhere.parquet", SAME),
        Row("records", "source", "shuffled.parquet", SAME),
        Row("records", "source", ["half-2.parquet", "half-1.parquet"], SAME),
        Row("records", "source", "in memory", SAME),
        Row("records", "source", "other.parquet", refused("changed under version")),
        Row("records", "table", "people", SAME, beside={"records": {"source": "tables.duckdb"}}),
        Row("records", "person", "user2", NEW),
        Row("records", "person", "each row", refused("one person may have any number of rows")),
        Row("records", "person", "each row", NEW, beside={"Budget": {"dataset": "rows"}}),
        Row("records", "person", None, refused("person is missing")),
        Row("records", "combine", "sum", NEW),
        Row("records", "combine", "max", NEW),
        Row("records", "keep", {"sex": ["f", "m"]}, NEW),
        Row("statistic", "kind", "mean", NEW),
        Row("statistic", "kind", "max", NEW),
        Row("statistic", "column", "age2", NEW),
        Row("statistic", "lower", 2, NEW),
        Row("statistic", "lower", "0.0", SAME),
        Row("statistic", "upper", 12, NEW),
        Row("statistic", "step", 1, NEW),
        Row("statistic", "by", "sex", NEW, beside={"statistic": {"groups": ["f", "m"]}}),
        Row("plan", "notion", lw.UnboundedDP("1/2"), NEW),
        Row("plan", "notion", lw.UnboundedDP("0.5e0"), NEW, beside={"statistic": {"kind": "min"}}),
        Row("plan", "notion", lw.UnboundedDP("2/2"), SAME),
        Row("plan", "notion", lw.UnboundedDP("1.000000000001"), NEW),
        Row("Budget", "dataset", "another", NEW),
        Row("Budget", "version", "2", NEW),
    ],
    "percentile": [
        Row("statistic", "p", "31", NEW),
        Row("statistic", "p", "30.0", SAME),
        Row("statistic", "p", ["30"], SAME),
        Row("statistic", "p", ["30", "60"], NEW),
        Row("statistic", "kind", "median", NEW, beside={"statistic": {"p": None}}),
        Row("plan", "mechanism", "rank", SAME),  # it is taken by itself
        Row("plan", "mechanism", "geometric", NEW),
    ],
    "percentiles": [
        Row("statistic", "p", ("25.0", "75"), SAME),
        Row("statistic", "p", ["25", "76"], NEW),
        Row("statistic", "p", ["25", "50", "75"], NEW),
        Row("statistic", "p", "25", NEW),
        Row("statistic", "p", ["75", "25"], refused("several percentiles ascend")),
        Row("plan", "mechanism", "rank", SAME),
        Row("plan", "mechanism", "geometric", NEW),
    ],
    "histogram": [
        Row("statistic", "groups", ["m", "f"], NEW),
        Row("statistic", "groups", ["f", "m", "x"], NEW),
        Row("statistic", "groups", ("f", "m"), SAME),
        Row("statistic", "others", "else", NEW),
        Row("statistic", "others", "another", NEW),
        Row("statistic", "groups", ["f", "m", "else"], NEW),  # a key of its own is no group of all others
        Row("statistic", "by", "sex2", NEW),
        Row("statistic", "by", {"sex": ["f", "m"]}, SAME, beside={"statistic": {"groups": None}}),
        Row("statistic", "by", {"sex": ["f", "m"], "sex2": ["f"]}, NEW, beside={"statistic": {"groups": None}}),
        Row("statistic", "by", {"sex2": ["f"], "sex": ["f", "m"]}, NEW, beside={"statistic": {"groups": None}}),
        Row("statistic", "step", 5, NEW),
    ],
    "above": [
        Row(
            "statistic",
            "levels",
            [0, 2, 4, 6, 8, 10],
            SAME,
            beside={"statistic": {"lower": None, "upper": None, "step": None}},
        ),
        Row(
            "statistic",
            "levels",
            [0, 2, 4, 6, 10],
            NEW,
            beside={"statistic": {"lower": None, "upper": None, "step": None}},
        ),
        Row("plan", "safe_at_most", 4, NEW),  # it decides where the scan stops
    ],
    "hour": [
        Row("statistic", "start", "2026-01-01T01:00", NEW),
        Row("statistic", "end", "2026-01-01T21:00", NEW),
        Row("statistic", "end", "2026-01-01T20:00:00.000", SAME),
        Row("records", "time", "at2", NEW),
        Row("records", "time", None, refused("names no time column")),
        Row("records", "timezone", "Asia/Tokyo", NEW),
        Row("records", "time_unit", "s", NEW, beside={"records": {"time": "second"}}),
    ],
    "cut": [
        Row("statistic", "by", {"age2": {"lower": "0.0", "upper": 12, "step": "6"}}, SAME),
        Row("statistic", "by", {"age2": {"lower": 0, "upper": 12, "step": 4}}, NEW),
        Row("statistic", "by", {"age2": {"lower": 6, "upper": 12, "step": 6}}, NEW),
        Row("statistic", "by", {"age": {"lower": 0, "upper": 12, "step": 6}}, NEW),
        Row("statistic", "by", {"age2": {"lower": 0, "upper": 12, "step": 5}}, refused("not a grid")),
    ],
    "mean": [
        Row("statistic", "grid", "1", NEW),
        Row("statistic", "grid", "2", SAME),  # the step, which is the default
        Row("plan", "notion", lw.ReplaceDP("1"), NEW),
    ],
    "counted": [
        Row("statistic", "grid", "1/4", NEW),
        Row("statistic", "people", 25, refused("25 were declared")),
    ],
    "counted sum": [Row("statistic", "people", None, NEW)],
    "near": [
        Row("plan", "notion", Manhattan("1", ValueGrid(0, 10, 2), unit="2"), refused("nothing else can be priced")),
        Row(
            "plan",
            "notion",
            Manhattan("1", ValueGrid(0, 10, 2), nobody=False),
            refused("nothing else can be priced"),
        ),
        Row(
            "plan",
            "notion",
            Manhattan("1", ValueGrid(0, 10, 2), unit="1 year"),
            refused("nothing else can be priced"),
        ),
        Row("plan", "notion", Manhattan("1", ValueGrid(0, 10, 2), unit="1.0"), SAME),
        Row("plan", "notion", Manhattan("2", ValueGrid(0, 10, 2)), NEW),
    ],
}

HOLDERS = {"records": [records, Records, Source], "statistic": [statistic, Statistic, Kind, Groups]}
BY_OTHERS = {
    "statistic.records",
    "statistic.name",
    "statistic.values",
    "statistic.numeric",
    "statistic.window",
    "statistic.ps",
    "statistic.intervals",
}  # by their own fields
HOW_WRITTEN = {f"records.{key}" for key in ("given", "delimiter", "encoding", "decimal", "time_format", "engine")}
"""How a file is written, and what counts it, is no part of the question: the table is the same content either way."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty-four people with a number, in every form that must not matter."""
    made = tmp_path_factory.mktemp("numbers")
    people = pd.DataFrame(
        {"user": [f"p{i}" for i in range(24)], "age": [i % 12 for i in range(24)], "sex": ["f", "m"] * 12}
    )
    people["at"] = pd.date_range("2026-01-01", periods=24, freq="h").astype("datetime64[us]")
    people["second"] = people["at"].astype("int64") // 10**6
    people = people.assign(user2=people.user, age2=people.age, sex2=people.sex, at2=people["at"])
    for name in ("people", "elsewhere"):
        people.to_parquet(made / f"{name}.parquet")
    people.sample(frac=1, random_state=1).to_parquet(made / "shuffled.parquet")
    people.iloc[:9].to_parquet(made / "half-1.parquet")
    people.iloc[9:].to_parquet(made / "half-2.parquet")
    people.assign(age=people.age + 1).to_parquet(made / "other.parquet")
    with duckdb.connect(str(made / "tables.duckdb")) as file:
        file.execute(f"CREATE TABLE people AS FROM '{made / 'people.parquet'}'")
    return made


@pytest.fixture(scope="module")
def ask(folder: Path) -> Callable[[Given], lw.Release]:
    """Release a question, its paths taken from the folder."""

    def asking(given: Given) -> lw.Release:
        made = {holder: dict(parts) for holder, parts in given.items()}
        source = made["records"]["source"]
        made["records"]["source"] = (
            pd.read_parquet(folder / "people.parquet") if source == "in memory"
            else [str(folder / part) for part in source] if isinstance(source, list) else str(folder / source)
        )  # fmt: skip
        return release(
            decide_by(plan, number(made), **made["plan"]),
            Budget(Bench(folder).url, **made["Budget"]),
            accept_useless=True,  # percentiles and extremes at a small ε, of which only the key is looked at
            **made.get("release", {}),
        )

    return asking


@pytest.fixture(scope="module")
def answered(ask: Callable[[Given], lw.Release]) -> Mapping[str, lw.Release]:
    """The questions as they are, asked once."""
    return {name: ask(given) for name, given in QUESTIONS.items()}


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("question", "row"), [(name, row) for name, rows in ROWS.items() for row in rows], ids=lambda part: str(part)
)
def test_one_input_changed_alone(
    question: str, row: Row, ask: Callable[[Given], lw.Release], answered: Mapping[str, lw.Release], folder: Path
) -> None:
    Bench(folder).check(row, answered[question], lambda: ask(row.apply(QUESTIONS[question])))


def test_every_input_has_a_row() -> None:
    rows = [row for each in ROWS.values() for row in each]
    assert without_a_row(rows, HOLDERS) == BY_OTHERS | HOW_WRITTEN


MADE: Mapping[type, Any] = {
    Sum: Sum(ValueGrid(0, 10, 2)),
    Mean: Mean(ValueGrid(0, 10, 2), grid=Fraction(2)),
    Percentile: Percentile(ValueGrid(0, 10, 2)),
}
OTHERWISE: Mapping[str, Any] = {
    "values": ValueGrid(0, 12, 2), "people": 24, "grid": Fraction(1), "default": Fraction(4), "p": Fraction(31),
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, field.name) for kind in MADE for field in dataclasses.fields(kind)], ids=str
)
def test_a_question_made_by_hand_has_every_field_in_its_key(kind: type, name: str) -> None:
    """What `statistic` does not offer can be given to a `Statistic`, such as what stands in where nobody has a number."""
    one = number(asked(kind.__name__.lower() if kind is not Percentile else "median"))
    keys = {
        about(dataclasses.replace(one, numeric=numeric)).model_dump_json()
        for numeric in (MADE[kind], dataclasses.replace(MADE[kind], **{name: OTHERWISE[name]}))
    }
    assert len(keys) == 2
