"""One person has one budget, whatever the type of the column that names them; no two people share a remembered report."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import combinations, product
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pytest

from leeward.errors import BudgetConflictError, CapExceededError, InputError
from leeward.ledger import MemoizedReports, PersonBudgets
from leeward.ledger._identity import in_whole_numbers, named, payer, payers

SECRET = bytes(range(32))

SEVEN: list[Any] = [
    7, 7.0, Decimal(7), Decimal("7.00"), Decimal("7E+0"), np.int8(7), np.uint64(7), np.float16(7), np.float32(7),
    np.float64(7), "7", np.str_("7"), b"7",
]  # fmt: skip
WRITTEN_OTHERWISE = ["7.0", "7 ", " 7", "\t7\n", "7.", "007", "+7", "7e0", "70E-1", "0.7e1", b"7.00"]
OTHERS = [
    8,
    70,
    -7,
    0,
    "seven",
    "7 a",
    "7 7",
    "7a",
    "0x7",
    "７",
    "7,0",
    "7.0.0",
    "Alice",
    "alice",
    "Alice ",
    "Ａlice",
    "",
]


def test_a_number_is_one_person_in_every_type() -> None:
    assert {named(one) for one in SEVEN} == {payer(one) for one in SEVEN} == {"7"}


def test_text_that_writes_a_number_otherwise_pays_as_that_number_and_is_remembered_apart() -> None:
    assert {payer(one) for one in WRITTEN_OTHERWISE} == {"7"}
    assert len({named(one) for one in [*WRITTEN_OTHERWISE, 7]}) == len(WRITTEN_OTHERWISE) + 1


def test_all_else_is_compared_letter_by_letter() -> None:
    assert len({payer(one) for one in [*OTHERS, 7]}) == len(OTHERS) + 1
    for one, other in combinations([*OTHERS, 7], 2):
        assert named(one) != named(other)


def test_zeros_at_the_end_are_written_in_one_way() -> None:
    """These are read without decimals, which they must be written as."""
    for number in (10, 100, 120, 1200, 10200, 1000001000, 7 * 10**30, 71 * 10**30):
        assert payer(number) == payer(f" {number}") == payer(f"0{number}") == payer(f"{number}.00"), number
    assert len({payer(number) for number in (1, 10, 100, 11, 110, 101, 1010)}) == 7


def test_numbers_that_are_read_in_less_time_are_those_that_decimals_are() -> None:
    """An exponent takes the long way."""
    for parts in product(("", "+", "-", " +"), ("7", "007", "70", "0", "9" * 64, "9" * 65), ("", ".0", ".", ".00")):
        written = "".join(parts)
        assert payer(written) == payer(f"{written}e0"), written
    others = ["++7", "+", ".", "+.", "7.0.0", "7+", "+7+", "٧.0"]
    assert [*map(payer, others)] == others
    assert [payer(one) for one in ("+007.0", "+.0", "+0.0", " 00 ")] == ["7", "0", "0", "0"]


@pytest.mark.parametrize("size", [15, 16, 17, 27, 28, 29, 39, 60])
def test_long_numbers_stay_apart(size: int) -> None:
    """28 digits is where decimal arithmetic rounds unless it is told not to."""
    number = int("9" * size)
    assert payer(number) == payer(str(number)) == payer(f"0{number}.0") != payer(number - 1)
    assert named(number) != named(number - 1)


def test_zero_has_no_sign() -> None:
    assert {payer(one) for one in (0, -0.0, Decimal("-0.00"), "-0", "0e9", "000")} == {"0"}


def test_an_exponent_that_no_number_has_is_text() -> None:
    assert payer("1e" + "9" * 30) == "1e" + "9" * 30
    assert payer("1e999999999") == payer("10e999999998")
    for power in (62, 63, 64, 65):
        assert len({payer(one) for one in (10**power, f"1e{power}", f"10E{power - 1}", f"{10**power}.0")}) == 1


NOBODY: dict[str, Any] = {
    "a truth value": True,
    "NumPy's": np.bool_(True),
    "a fraction": 7.5,
    "a decimal fraction": Decimal("7.5"),
    "infinity": float("inf"),
    "a decimal infinity": Decimal("-inf"),
    "a decimal without end": Decimal("1E+999999"),
    "a float that stands for two whole numbers": 2.0**53,
    "one of 32 bits that does": np.float32(2**24),
    "one of 16 bits that does": np.float16(2**11),
    "bytes that are not text": b"\xff\xfe",
    "a date": date(2026, 1, 1),
    "a time": datetime(2026, 1, 1),
    "NumPy's time": np.datetime64("2026-01-01"),
    "a duration": timedelta(1),
    "a tuple": (1, 2),
    "a complex number": 7j,
}


@pytest.mark.parametrize("kind", NOBODY)
def test_what_may_be_several_people_or_none_is_refused(kind: str, tmp_path: Path) -> None:
    for read in (named, payer):
        with pytest.raises(InputError, match="for the curator only") as refused:
            read(NOBODY[kind])
        assert "7.5" not in str(refused.value)
    budgets = _budgets(tmp_path)
    with pytest.raises(InputError), budgets.charging() as charge:
        charge([1, NOBODY[kind]], [0, 0])
    assert budgets.spent(1, 0) == 0


def test_floats_of_few_bits_name_people_as_far_as_they_are_exact() -> None:
    for kind, bits in ((np.float16, 11), (np.float32, 24), (np.float64, 53)):
        assert named(kind(2**bits - 1)) == payer(kind(2**bits - 1)) == str(2**bits - 1)
        assert kind(2**bits) == kind(2**bits + 1), "the next one is not"


def test_a_uuid_is_its_text() -> None:
    text = "3f0a9b8e-0000-4000-8000-000000000001"
    assert named(UUID(text)) == payer(UUID(text)) == text


def _budgets(folder: Path) -> PersonBudgets:
    return PersonBudgets(folder / "people.db", secret=SECRET, price="1", reports_a_day=1, new=True)


@pytest.mark.parametrize("second", [*SEVEN, *WRITTEN_OTHERWISE], ids=repr)
def test_another_type_is_no_second_budget(second: Any, tmp_path: Path) -> None:
    budgets = _budgets(tmp_path)
    with budgets.charging() as charge:
        assert charge([7], [0]).tolist() == [True]
    with pytest.raises(CapExceededError), budgets.charging() as charge:
        charge([second], [0])
    with budgets.charging("withhold") as charge:
        assert charge([second, second], [0, 1]).tolist() == [False, True]


def test_many_are_named_as_one_is() -> None:
    """Many ids of one type take shorter ways; each is who it would be alone."""
    texts = [
        *filter(lambda one: isinstance(one, str), [*SEVEN, *WRITTEN_OTHERWISE, *OTHERS]),
        "7e",
        "e7",
        "é",
        "7é",
        "Ⅶ",
        "²",
        "",
        *(f"{sign}{digits}" for sign in ("", "-", "0", " ") for digits in ("7" * 64, "7" * 65, "7" + "0" * 64)),
    ]
    whole = [0, 7, -7, 70, -70, 10**30, 2**53 - 1]
    long = [*whole, 10**64 - 1, 10**64, -(10**64), 10**64 + 1]
    for listed in (
        texts,
        whole,
        long,
        [-each for each in long],
        [*texts, *whole],
        [0.0, -0.0, 7.0, -70.0, 2.0**53 - 1],
    ):
        assert list(payers(in_whole_numbers(listed))) == [payer(one) for one in listed]
    for listed in ([7.0, 7.5], [7.0, float("nan")], [7.0, 2.0**53], [7.0, float("inf")], [7.0, 7]):
        assert in_whole_numbers(listed) is listed


def test_values_that_python_calls_equal_are_told_apart_in_one_batch(tmp_path: Path) -> None:
    """True == 1 in Python, and a set of both holds one of them."""
    with pytest.raises(InputError), _budgets(tmp_path).charging() as charge:
        charge([1, True], [0, 1])
    with _budgets(tmp_path).charging("withhold") as charge:
        assert charge([7, 7.0, "7", "alice", "Alice"], [0] * 5).tolist() == [True, False, False, True, True]


@pytest.mark.parametrize(
    "kind",
    [
        pa.int8(),
        pa.uint64(),
        pa.float32(),
        pa.float64(),
        pa.decimal128(9, 2),
        pa.string(),
        pa.large_string(),
        pa.binary(),
    ],
    ids=str,
)
def test_every_type_of_arrow_names_the_same_person(kind: pa.DataType) -> None:
    held = (
        ["7"] if pa.types.is_string(kind) or pa.types.is_large_string(kind) else [b"7"] if kind == pa.binary() else [7]
    )
    if pa.types.is_decimal(kind):
        held = [Decimal(7)]
    for column in (pa.array(held, kind), pa.array(held, kind).dictionary_encode()):
        assert payer(column.to_pylist()[0]) == named(column.to_pylist()[0]) == "7"


def test_no_two_people_share_a_remembered_report(tmp_path: Path) -> None:
    memo = MemoizedReports(tmp_path / "memo.db", key=SECRET, law="a law", new=True)
    point = np.zeros((1, 2), np.int64)
    drawn = iter(range(1, 100))

    def draw(points: np.ndarray) -> np.ndarray:
        return points + next(drawn)

    first = memo.once([7], point, draw).tolist()
    assert all(memo.once([one], point, draw).tolist() == first for one in SEVEN)
    apart = [memo.once([one], point, draw).tolist() for one in [*WRITTEN_OTHERWISE, *OTHERS]]
    assert len({str(one) for one in [first, *apart]}) == len(apart) + 1


@pytest.mark.parametrize("kind", ["budgets", "memo"])
@pytest.mark.parametrize("before", [{"form": "2"}, {"form": None, "form_of_ids": "2"}])
def test_a_store_of_another_form_is_refused(kind: str, before: dict[str, str | None], tmp_path: Path) -> None:
    def opened() -> Any:
        return (
            _budgets(tmp_path)
            if kind == "budgets"
            else MemoizedReports(tmp_path / "memo.db", key=SECRET, law="a law", new=True)
        )

    made = opened().path
    with closing(sqlite3.connect(made)) as file, file:
        file.execute("DELETE FROM about WHERE key = 'form'")
        file.executemany("INSERT INTO about VALUES (?, ?)", [(k, v) for k, v in before.items() if v is not None])
    held = made.read_bytes()
    with pytest.raises(BudgetConflictError, match=r"another version of Leeward.*name another file"):
        opened()
    assert made.read_bytes() == held, "nothing was written"
