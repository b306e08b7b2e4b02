"""The spec: every malformed key is refused by name, with the nearest known one."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Callable
from typing import Any

import pytest
from tests.session.conftest import SPEC

from leeward.errors import InputError, LeewardError, SpecError
from leeward.session._question import question
from leeward.spec import check_spec, read_spec

GIVEN = tomllib.loads(SPEC)


def _with(section: str, **changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda spec: spec[section].update(changes)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_with("protect", epsilonn="1"), "Did you mean 'epsilon'?"),
        (_with("protect", epsilon=1.0), "binary float"),
        (_with("protect", epsilon="0"), "epsilon must be above 0"),
        (_with("protect", epsilon="-1"), "epsilon must be above 0"),
        (_with("protect", epsilon="inf"), "promises nothing"),
        (_with("protect", epsilon="one"), "not an exact number"),
        (_with("protect", notion="presense"), "Did you mean 'presence'?"),
        (_with("protect", if_more="newest"), "if_more"),
        (_with("protect", places_per_person=0), "places_per_person"),
        (_with("protect", places_per_person=True), "places_per_person"),
        (lambda s: s["protect"].pop("epsilon"), 'Add epsilon = "1"'),
        (lambda s: s.pop("protect"), "[protect]"),
        (lambda s: s.update(budgets={}), "Did you mean 'budget'?"),
        (_with("decide", safe_at_most="2"), "safe_at_most"),
        (_with("decide", safe_at_most=-1), "safe_at_most"),
        (_with("decide", error_at_most="2"), "error_at_most"),
        (lambda s: s.pop("window"), "[window]"),
        (lambda s: s["window"].pop("end"), "start and end"),
        (_with("window", start=5), "[window] start"),
        (_with("window", end="2020-01-01"), "empty or reversed"),
        (lambda s: s["places"].pop("table"), "a table or a grid"),
        (_with("places", grid={"west": 1}), "south"),
        (_with("publish", mechanism="laplace"), "mechanism"),
        (_with("publish", stop_after=1), "stop_after"),
        (_with("publish", what="everything"), "what"),
        (_with("data", keep={"state": "STAY"}), "keep"),
        (lambda s: s.update(query={"kind": "count", "by": {"flag": [True]}}), "a group is a text or a whole number"),
        (lambda s: s.update(folder="/etc"), "folder"),
    ],
)
def test_what_is_malformed_is_refused_by_name(change: Callable[[dict[str, Any]], Any], said: str) -> None:
    spec = copy.deepcopy(GIVEN)
    change(spec)
    with pytest.raises(LeewardError) as refused:
        check_spec(spec).plans()
    assert isinstance(refused.value, InputError)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            _with("data", keep={"ward": "north"}),
            "[data] keep: what stands under 'ward': it is not a list. Write keep = { ward = [ … ] }.",
        ),
        (_with("data", keep={"ward": ["north", 1.5]}), 'keep = { ward = ["…"] }.'),
        (_with("data", keep={"place": "x"}), "[data] keep: what stands under 'place': it is not a list"),
        (_with("data", keep={'a {b"': "x"}), 'keep = { "a {b\\"" = [ … ] }.'),
        (_with("data", keep=["ward"]), "[data] keep: it is not a table of keys and values. Write keep = { … = … }."),
        (
            _with("data", spark={"column": 1}),
            "[data] spark: what stands under 'column': it is not text. Write it in quotation marks: spark = { column = ",
        ),
        (lambda s: s.update(query={"kind": "count", "by": {"column": "north"}}), "Write by = { column = [ … ] }."),
        (_with("places", grid="box"), "Write [places.grid], and its keys below."),
        (
            lambda s: s.update(protect="dp"),
            "[protect]: it is not a section of keys and values. Write [protect], and its keys below.",
        ),
    ],
)
def test_what_is_wrong_in_a_table_of_names_is_told_of_the_name_and_so_is_what_to_write(
    change: Callable[[dict[str, Any]], Any], said: str
) -> None:
    spec = copy.deepcopy(GIVEN)
    change(spec)
    with pytest.raises(SpecError) as refused:
        check_spec(spec)
    assert said in str(refused.value)


def test_the_unchanged_spec_is_accepted() -> None:
    (plan,) = check_spec(copy.deepcopy(GIVEN)).plans()
    assert str(plan.price) == "1"


def test_paths_are_relative_to_the_spec(tmp_path: Any) -> None:
    (tmp_path / "spec.toml").write_text(SPEC)
    spec = read_spec(tmp_path / "spec.toml")
    assert spec.visits().source.held() == str(tmp_path / "visits.parquet")
    assert spec.ledger().ledger == str(tmp_path / "budget.db")


@pytest.mark.parametrize(("text", "said"), [("[data", "not TOML"), (None, "no such file")])
def test_files_that_are_no_spec(tmp_path: Any, text: str | None, said: str) -> None:
    path = tmp_path / "spec.toml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(SpecError, match=said):
        read_spec(path)


def test_windows_may_stand_at_the_top() -> None:
    spec = copy.deepcopy(GIVEN)
    window = spec.pop("window")
    spec["windows"] = [window, {"start": "2026-01-02", "end": "2026-01-03"}]
    assert len(check_spec(spec).plans()) == 2


def test_a_zone_that_is_none_is_refused_before_windows_are_cut_in_it() -> None:
    spec = copy.deepcopy(GIVEN)
    spec["window"]["every"] = "30min"
    spec["data"]["timezone"] = "Europe/Pari"
    with pytest.raises(SpecError, match="timezone = 'Europe/Pari': it is not the name of a time zone"):
        check_spec(spec).plans()


OF_NUMBERS: dict[str, Any] = {
    "data": {"table": "t.parquet", "person": "p", "time": "t", "timezone": "Europe/Paris"},
    "query": {"kind": "count"},
    "protect": {"notion": "dp", "epsilon": "1"},
    "budget": {"ledger": "b.db", "dataset": "d", "cap": "1"},
}


def test_a_time_that_no_clock_shows_is_not_cut_into_all_times() -> None:
    """No window was left of it, and rows of all times were counted."""
    for start, end, zone, every in (
        ("2026-03-29T02:00", "2026-03-29T03:00", "Europe/Paris", "30min"),
        ("2011-12-30", "2011-12-31", "Pacific/Apia", "1h"),
        ("2026-10-04T02:00", "2026-10-04T02:30", "Australia/Lord_Howe", "10min"),
    ):
        of_visits = copy.deepcopy(GIVEN)
        for given in (of_visits, copy.deepcopy(OF_NUMBERS)):
            given["data"]["timezone"] = zone
            given["window"] = {"start": start, "end": end, "every": every}
            with pytest.raises(SpecError, match="never show that time"):
                check_spec(given).counted()


def test_a_list_of_no_windows_is_not_one_of_all_times() -> None:
    for windows in ({"windows": []}, {"window": {"windows": []}}):
        with pytest.raises(SpecError, match="windows = "):
            check_spec(copy.deepcopy(OF_NUMBERS) | windows)


def test_graded_notions_have_two_prices() -> None:
    spec = copy.deepcopy(GIVEN)
    spec["protect"] |= {"notion": "graded", "presence": "1", "absence": "4", "if_more": "refuse"}
    del spec["protect"]["epsilon"]
    spec["decide"]["error_at_most"] = "1e-2"
    (plan,) = check_spec(spec).plans()
    assert str(plan.notion) == 'Graded(presence="1", absence="4")'
    spec["protect"]["epsilon"] = "1"
    with pytest.raises(SpecError, match="a price for each direction"):
        check_spec(spec).plans()
    other = copy.deepcopy(GIVEN)
    other["protect"]["presence"] = "1"
    with pytest.raises(SpecError, match="one price"):
        check_spec(other).plans()


def test_graded_promises_of_other_prices_are_other_questions() -> None:
    keys = []
    for presence in ("1", "2"):
        spec = copy.deepcopy(GIVEN)
        spec["protect"] |= {"notion": "graded", "presence": presence, "absence": "4", "if_more": "refuse"}
        del spec["protect"]["epsilon"]
        spec["decide"]["error_at_most"] = "1e-2"
        keys.append(question(check_spec(spec).visitor_plans()[0], ""))
    assert keys[0] != keys[1]


def _started(tmp_path: Any, start: str) -> Any:
    text = SPEC.replace("start = 2026-01-01T18:00:00", f"start = {start}")
    assert text != SPEC
    (tmp_path / "spec.toml").write_text(text)
    return read_spec(tmp_path / "spec.toml").counted()[0].window.start


@pytest.mark.parametrize(
    "start", ["2026-01-01T18:00:00.1234567", '"2026-01-01T18:00:00.1234567"', "2026-01-01 18:00:00.000000001"]
)
def test_a_time_finer_than_a_microsecond_is_refused_and_not_cut(tmp_path: Any, start: str) -> None:
    """The reader of TOML cuts it, and so does Python's of texts."""
    with pytest.raises(SpecError, match="Give whole microseconds"):
        _started(tmp_path, start)


@pytest.mark.parametrize("digits", ["123456", "1234560000", "1"])
def test_a_time_of_whole_microseconds_is_read(tmp_path: Any, digits: str) -> None:
    """Also beside a comment and a text that hold a finer one."""
    found = _started(tmp_path, f"2026-01-01T18:00:00.{digits} # not 2026-01-01T18:00:00.1234567")
    assert found.microsecond == int(digits[:6].ljust(6, "0"))
