"""Budgets per person and day, and the same answer for the same question."""

from __future__ import annotations

import concurrent.futures
import os
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from tests.ledger.spent import spent_in
from tests.private_files import write_private

from leeward.errors import BudgetConflictError, CapExceededError, InputError, LedgerError
from leeward.ledger import MemoizedReports, PersonBudgets, read_secret
from leeward.ledger._spent import distinct, keys_of

SECRET = b"0123456789abcdef"
PRICE = "log(2)/200 a metre"


def budgets(folder: Path, **options: Any) -> PersonBudgets:
    given: dict[str, Any] = {"secret": SECRET, "price": PRICE, "reports_a_day": 3, "new": True} | options
    return PersonBudgets(folder / "people.db", **given)


def charged(store: PersonBudgets, *batches: list[str], then: Exception | None = None) -> None:
    """Charge batches of people on one day, in one go; then fail, if asked to."""
    with store.charging() as charge:
        for people in batches:
            charge(people, [1] * len(people))
        if then is not None:
            raise then


def test_reports_are_charged_by_person_and_day(tmp_path: Path) -> None:
    store = budgets(tmp_path)
    with store.charging() as charge:
        assert charge(["ann", "bob", "ann", "ann"], [1, 1, 2, 1]).all()
        assert charge(["ann", 7], [1, 1]).all()
    again = budgets(tmp_path)
    assert [again.spent(*key) for key in (("ann", 1), ("ann", 2), ("bob", 1), ("7", 1), ("eve", 1))] == [3, 1, 1, 1, 0]


WHO: dict[Any, str] = {
    "ann": "ann",
    "Ann": "Ann",
    7: "7",
    "7.0": "7",
    " 7": "7",
    100: "100",
    "1e2": "100",
    b"ann": "ann",
}
"""Ids, and who pays for each, in words of our own."""

REPORTS = st.tuples(st.sampled_from(sorted(WHO, key=str)), st.integers(-1, 1))


@pytest.mark.sweep
@settings(max_examples=60)
@given(
    batches=st.lists(
        st.lists(st.tuples(st.sampled_from(sorted(WHO, key=str)), st.integers(-1, 1)), max_size=12), max_size=4
    ),
    bound=st.sampled_from([1, 2, 3, 10**30]),
    told_apart=st.booleans(),
)
def test_reports_are_paid_in_their_order_by_whoever_they_are_of(
    batches: list[list[tuple[Any, int]]], bound: int, told_apart: bool
) -> None:
    """Whether reports are counted all together, or one by one as those that may be repeated are."""
    spent = Counter[tuple[str, int]]()
    with TemporaryDirectory() as folder:
        for number, batch in enumerate(batches):
            expected = []
            for person, day in batch:
                expected.append(spent[WHO[person], day] < bound)
                spent[WHO[person], day] += expected[-1]
            reports = [b"%d %d" % (number, row) for row in range(len(batch))] if told_apart else None
            with budgets(Path(folder), reports_a_day=bound).charging("withhold") as charge:
                paid = charge([person for person, _ in batch], [day for _, day in batch], reports=reports)
            assert paid.tolist() == expected
        store = budgets(Path(folder), reports_a_day=bound)
        assert all(store.spent(person, day) == spent[WHO[person], day] for person in WHO for day in (-1, 0, 1))


@pytest.mark.parametrize(
    "change",
    [
        *(
            f"reports = {value}"
            for value in ("'abc'", "1.5", "-1", "x''", "x'01'", "zeroblob(8)", "x'ffffffffffffffff'")
        ),
        "reports = reports || reports",
        "reports = CAST(reports || reports AS BLOB), accounts = CAST(accounts || accounts AS BLOB)",  # one is there twice
        "accounts = zeroblob(16)",  # of another block
        "accounts = substr(accounts, 2)",
        "accounts = 'sixteen letters.'",
    ],
)
def test_what_is_not_as_it_was_written_is_refused_in_words(change: str, tmp_path: Path) -> None:
    charged(budgets(tmp_path), ["ann"])
    (account, _), _ = spent_in(tmp_path / "people.db").popitem()
    assert account[0] >= 4, "zeros would be of the same block"
    with closing(sqlite3.connect(tmp_path / "people.db")) as raw, raw:
        raw.execute(f"UPDATE spent SET {change}")
    for ask in (lambda: charged(budgets(tmp_path), ["ann"]), lambda: budgets(tmp_path).spent("ann", 1)):
        with pytest.raises(LedgerError, match="it was changed or damaged"):
            ask()
    charged(budgets(tmp_path), ["bob"])


def test_many_people_and_days_are_kept_in_blocks_and_found_again(tmp_path: Path) -> None:
    """Against a plain count, over charges that add to blocks in their middle and at their ends, and to days before 1970."""
    spent, chosen = Counter[tuple[int, int]](), np.random.default_rng(7)
    store = budgets(tmp_path, reports_a_day=2)
    for _ in range(3):
        people, days = chosen.integers(0, 900, 1500).tolist(), chosen.integers(-2, 2, 1500).tolist()
        expected = []
        for key in zip(people, days, strict=True):
            expected.append(spent[key] < 2)
            spent[key] += expected[-1]
        with store.charging("withhold") as charge:
            assert charge(people, days).tolist() == expected
    assert Counter(spent_in(tmp_path / "people.db").values()) == Counter(spent.values())
    assert Counter(day for _, day in spent_in(tmp_path / "people.db")) == Counter(day for _, day in spent)
    assert [store.spent(person, 1) for person in range(30)] == [spent[person, 1] for person in range(30)]


@given(
    st.lists(st.tuples(st.integers(-1, 1), st.integers(0, 3), st.integers(0, 3))),
    st.booleans(),
)
@settings(max_examples=50, deadline=None)
def test_keys_that_begin_alike_are_told_apart(asked: list[tuple[int, int, int]], one_day: bool) -> None:
    """Against sorting Python's own tuples: a day, and the halves of a hash."""

    def keys(parts: list[tuple[int, int, int]]) -> Any:
        accounts = np.array([a.to_bytes(8) + b.to_bytes(7) + b"!" for _, a, b in parts], "S16")
        return keys_of(np.array([0 if one_day else day for day, _, _ in parts], np.int64), accounts)

    order = [(0 if one_day else day, a, b) for day, a, b in asked]
    found, each = distinct(keys(asked)), sorted(set(order))
    assert found.keys.tolist() == keys(each).tolist()
    assert found.first.tolist() == [order.index(one) for one in each]
    assert found.times.tolist() == [order.count(one) for one in each]
    assert found.at.tolist() == [each.index(one) for one in order]


def test_more_than_the_bound_is_refused_and_nothing_charged(tmp_path: Path) -> None:
    store = budgets(tmp_path)
    with pytest.raises(CapExceededError, match="curator only") as caught:
        charged(store, ["bob"], ["ann"] * 4)
    assert "ann" not in str(caught.value)
    assert store.spent("bob", 1) == store.spent("ann", 1) == 0
    with store.charging() as charge:
        assert charge(["ann"] * 3, [1] * 3).all(), "exactly the bound is allowed"


def test_or_withheld_in_their_order(tmp_path: Path) -> None:
    store = budgets(tmp_path)
    with store.charging("withhold") as charge:
        assert charge(["ann", "ann", "bob", "ann", "ann", "ann"], [1, 1, 1, 1, 1, 2]).tolist() == [1, 1, 1, 1, 0, 1]
        assert charge(["ann", "bob"], [1, 1]).tolist() == [0, 1]
    assert store.spent("ann", 1) == 3


def test_what_fails_outside_charges_nothing(tmp_path: Path) -> None:
    store = budgets(tmp_path)
    with pytest.raises(RuntimeError):
        charged(store, ["ann"], then=RuntimeError())
    assert store.spent("ann", 1) == 0


def test_two_at_once_never_spend_more_than_there_is(tmp_path: Path) -> None:
    budgets(tmp_path, reports_a_day=20)

    def work(_: int) -> int:
        paid = 0
        for _ in range(5):
            with budgets(tmp_path, reports_a_day=20).charging("withhold") as charge:
                paid += int(charge(["ann", "ann"], [1, 1]).sum())
        return paid

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(work, range(4))) == 20
    assert budgets(tmp_path, reports_a_day=20).spent("ann", 1) == 20


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"price": "1"}, "another price"),
        ({"reports_a_day": 4}, "another reports a day"),
        ({"secret": b"x" * 16}, "another secret"),
    ],
)
def test_a_store_keeps_what_it_was_made_for(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    budgets(tmp_path)
    with pytest.raises(BudgetConflictError, match=message):
        budgets(tmp_path, **options)
    budgets(tmp_path)


def test_no_name_is_in_the_file(tmp_path: Path) -> None:
    with budgets(tmp_path).charging() as charge:
        charge(["ann-of-the-mill"], [1])
    held = (tmp_path / "people.db").read_bytes()
    assert b"ann-of-the-mill" not in held
    assert SECRET not in held
    assert [(len(account), n) for (account, _), n in spent_in(tmp_path / "people.db").items()] == [(16, 1)]


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="A secret of 3 bytes"):
        budgets(tmp_path, secret=b"abc")
    for bound in (0, True, 1.5):
        with pytest.raises(InputError, match="reports_a_day"):
            budgets(tmp_path, reports_a_day=bound)
    with pytest.raises(LedgerError, match="cannot be read"):
        read_secret(tmp_path / "none.key")
    write_private(tmp_path / "short.key", b"short")
    with pytest.raises(LedgerError, match="5 bytes"):
        read_secret(tmp_path / "short.key")
    with sqlite3.connect(tmp_path / "people.db") as other:
        other.execute("CREATE TABLE mine (x)")
    other.close()
    with pytest.raises(LedgerError, match="not one of people's budgets"):
        budgets(tmp_path)
    (tmp_path / "people.db").write_bytes(b"not a database at all" * 100)
    with pytest.raises(LedgerError, match=r"The store .*people\.db cannot be used: it is not a SQLite file"):
        budgets(tmp_path)


def test_a_secret_is_a_regular_file_that_only_its_owner_may_read(tmp_path: Path) -> None:
    secret = tmp_path / "people.key"
    write_private(secret, SECRET)
    assert read_secret(secret) == SECRET
    for mode in (0o640, 0o604, 0o622, 0o666):
        secret.chmod(mode)
        with pytest.raises(LedgerError, match="chmod 600"):
            read_secret(secret)
    secret.unlink()
    os.mkfifo(secret)
    with pytest.raises(LedgerError, match="not a regular file"):
        read_secret(secret)
    with pytest.raises(LedgerError, match="cannot be read"):
        read_secret(tmp_path)


@pytest.mark.parametrize("nobody", [None, float("nan")])
def test_somebody_must_pay(nobody: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nobody pays"), budgets(tmp_path).charging() as charge:
        charge([nobody], [1])


# ---- memo


def memo(folder: Path, **options: Any) -> MemoizedReports:
    given: dict[str, Any] = {"key": SECRET, "law": "planar", "new": True} | options
    return MemoizedReports(folder / "memo.db", **given)


def test_the_same_question_has_the_same_answer(tmp_path: Path) -> None:
    drawn: list[list[int]] = []

    def draw(points: np.ndarray) -> np.ndarray:
        drawn.extend(points.tolist())
        return points * 10 + np.arange(len(points))[:, None] * 100

    points = np.array([[1, 2], [1, 2], [3, -4], [1, 2]])
    people = ["ann", "ann", "ann", "bob"]
    first = memo(tmp_path).once(people, points, draw)
    assert (first[0] == first[1]).all()
    assert (first[0] != first[3]).any(), "each person has answers of their own"
    assert sorted(drawn) == [[1, 2], [1, 2], [3, -4]], "one draw for each person and point"
    store = memo(tmp_path)
    assert (store.once(people, points, draw) == first).all()
    assert len(drawn) == 3
    keys = store.keys(["ann", "eve"], points[:2])
    assert store.known(keys) == {keys[0]}
    assert store.once([], np.empty((0, 2), np.int64), draw).shape == (0, 2)


def test_answers_are_encrypted_and_guarded(tmp_path: Path) -> None:
    memo(tmp_path).once(["ann-of-the-mill"], np.array([[123456789, 5]]), lambda points: points + 987654321)
    held = (tmp_path / "memo.db").read_bytes()
    for plain in (b"ann-of-the-mill", (123456789 + 987654321).to_bytes(8, "little"), b"1111111110"):
        assert plain not in held
    for options in ({"key": b"y" * 16}, {"law": "other"}):
        with pytest.raises(BudgetConflictError):
            memo(tmp_path, **options)
    with sqlite3.connect(tmp_path / "memo.db") as raw:
        (sealed,) = raw.execute("SELECT answer FROM memo").fetchone()
        raw.execute("UPDATE memo SET answer = ?", (sealed[:-1] + bytes([sealed[-1] ^ 1]),))
    raw.close()
    with pytest.raises(LedgerError, match="changed or damaged"):
        memo(tmp_path).once(["ann-of-the-mill"], np.array([[123456789, 5]]), lambda points: points)


def test_what_is_not_stored_is_not_shown(tmp_path: Path) -> None:
    def fail(points: np.ndarray) -> np.ndarray:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        memo(tmp_path).once(["ann"], np.array([[1, 2]]), fail)
    store = memo(tmp_path)
    assert store.known(store.keys(["ann"], np.array([[1, 2]]))) == set()


@pytest.mark.parametrize("whole", [list, tuple, np.array, pd.Series, lambda days: list(np.array(days, np.int16))])
def test_days_of_any_library_are_the_same_days(whole: Callable[[list[int]], Any], tmp_path: Path) -> None:
    store = budgets(tmp_path, reports_a_day=1)
    for days in ([20_000] * 3, [20_000, -1]):
        with store.charging("withhold") as charge:
            paid = charge(["ann"] * len(days), whole(days)).tolist()
        assert paid == ([True, False, False] if len(days) == 3 else [False, True])
    assert [store.spent("ann", day) for day in (20_000, np.int64(20_000), -1, 1)] == [1, 1, 1, 0]
    assert {day for _, day in spent_in(tmp_path / "people.db")} == {20_000, -1}


def test_a_day_is_paid_once_over_all_batches_of_one_charge(tmp_path: Path) -> None:
    store = budgets(tmp_path, reports_a_day=1)
    with store.charging("withhold") as charge:
        assert charge(["ann"] * 200_000, np.full(200_000, 20_000)).sum() == 1


@pytest.mark.parametrize("day", [20_000.0, 20_000.5, "20000", True, None, b"1", np.float64(1), date(2026, 1, 1)])
def test_what_is_no_whole_day_is_refused(day: Any, tmp_path: Path) -> None:
    store = budgets(tmp_path)
    with pytest.raises(InputError, match="A day that is a") as told, store.charging() as charge:
        charge(["ann", "bob"], [1, day])
    assert "20" not in str(told.value)
    assert store.spent("ann", 1) == 0
    with pytest.raises(InputError, match="A day that is a"):
        store.spent("ann", day)


def test_a_refusal_that_is_caught_leaves_nothing_charged_and_nothing_free(tmp_path: Path) -> None:
    """Inside the block as outside: what was refused is neither paid for nor free, and what came with it does not stand."""
    store = PersonBudgets(tmp_path / "p.db", secret=SECRET, price="1", reports_a_day=2, new=True)

    def caught() -> None:
        with store.charging() as charge:
            charge(["ben"], [1], reports=[b"b1"])
            with suppress(CapExceededError):
                charge(["ann"] * 3, [1] * 3, reports=[b"r1", b"r2", b"r3"])

    with pytest.raises(CapExceededError):
        caught()
    assert (store.spent("ann", 1), store.spent("ben", 1)) == (0, 0)
    with store.charging("withhold") as charge:
        assert charge(["ann"] * 3, [1] * 3, reports=[b"r1", b"r2", b"r3"]).tolist() == [True, True, False]
    assert store.spent("ann", 1) == 2


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((["ann"], [2**63]), "A day beyond 64 bits"),
        ((["ann"], [-(2**63) - 1]), "A day beyond 64 bits"),
        ((["ann", "ben"], [1]), "of different lengths"),
        ((["ann"], [1, 2]), "of different lengths"),
        (([pd.NA], [1]), "without a person"),
        (([np.array([1, 2])], [1]), "without a person"),
    ],
)
def test_what_cannot_be_charged_is_told_in_words(given: Any, words: str, tmp_path: Path) -> None:
    store = PersonBudgets(tmp_path / "p.db", secret=SECRET, price="1", reports_a_day=2, new=True)

    def charged() -> None:
        with store.charging() as charge:
            charge(*given)

    with pytest.raises(InputError, match=words):
        charged()


def test_there_are_two_things_that_happen_beyond_the_bound(tmp_path: Path) -> None:
    store = PersonBudgets(tmp_path / "p.db", secret=SECRET, price="1", reports_a_day=2, new=True)
    with pytest.raises(InputError, match="over = "), store.charging("Refuse"):  # type: ignore[arg-type]
        pass
