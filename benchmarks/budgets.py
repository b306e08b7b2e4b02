"""Measure what it takes to charge a million people's budgets, each for one report: processor time, in one transaction.

    python benchmarks/budgets.py --people 1000000

The first charge makes every account; the second finds all of them again.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.table import Table

from history import show
from leeward.ledger import PersonBudgets

IDS: dict[str, Callable[[int], Any]] = {
    "whole numbers": int,
    "floats": float,
    "texts of digits": str,
    "texts of digits after zeros": "{:09d}".format,
    "texts": "user-{:07d}".format,
}


def charged(people: list[Any]) -> list[float]:
    """Return the seconds of processor time of two charges into a new store."""
    with tempfile.TemporaryDirectory() as folder:
        store = PersonBudgets(Path(folder) / "people.db", secret=bytes(32), price="1", reports_a_day=2, new=True)
        taken = []
        for _ in range(2):
            start = time.process_time()
            with store.charging() as charge:
                charge(people, [20_000] * len(people))
            taken.append(time.process_time() - start)
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    table = Table(title=f"{given.people:,} budgets charged; processor time, median of {given.repeats}")
    for column in ("ids", "new store, s", "found again, s"):
        table.add_column(column, justify="left" if column == "ids" else "right")
    for name, made in IDS.items():
        people = [made(number) for number in range(given.people)]
        taken = [charged(people) for _ in range(given.repeats)]
        table.add_row(name, *(f"{statistics.median(each):.2f}" for each in zip(*taken, strict=True)))
    show("budgets", table)


if __name__ == "__main__":
    main()
