"""Golden ledgers: files written once, by the first version, which every later version must read for ever.

``python -m tests.ledger.golden`` writes those that are not there, and never one anew: where one cannot be read any more the
test fails, and that is its whole point. A ledger of another schema gets files of its own beside these.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from tests.ledger.single import reserve
from tests.ledger.worker import asked

import leeward as lw
from leeward.ledger import Analyst, Ledger, MemoizedReports, PersonBudgets
from leeward.ledger._secret import VARIABLE
from leeward.query import records, statistic

FOLDER = Path(__file__).parent / "golden"
"""What was written, but for tables and said.json as nobody but the tests would keep it: keys and secrets beside ledgers."""

TABLES = {
    "visits.csv": "user,venue,at\n" + "".join(f"p{i},{'ab'[i % 2]},2026-01-01T{18 + i % 3}:30:00\n" for i in range(12)),
    "places.csv": "venue\na\nb\nc\n",
    "ages.csv": "user,age\n" + "".join(f"p{i},{20 + 7 * i % 50}\n" for i in range(12)),
}

SECRET = b"a secret of golden files"
PEOPLE: dict[str, Any] = {"secret": SECRET, "price": "log(2)/200 a metre", "reports_a_day": 3}
MEMO: dict[str, Any] = {"key": SECRET, "law": "planar, log(2)/200 a metre"}
IDS = ["ann", 7, "7.0", 2.0**40, "Ärger"]
POINTS = np.array([[0, 0], [-3, 5], [2**40, 1], [7, 7], [7, -7]])


def window(hour: int) -> lw.query.CountVisitors:
    """Return who was where in an hour."""
    visits = lw.visits("visits.csv", person="user", place="venue", time="at")
    start, end = (f"2026-01-01T{hour + i}:00" for i in range(2))
    return lw.count_visitors(visits, lw.places("places.csv", place="venue"), start=start, end=end, places_per_person=1)


def plan_of_counts() -> Any:
    """Return the plan of the first answer."""
    return lw.plan(window(18), lw.AdditionOnly("1/3"), lw.Decide(safe_at_most=2), what="counts")


def answers(ledger: str = "answers.ledger") -> dict[str, Any]:
    """Ask, in the folder of the tables, what the golden ledger has answers for; return them, and what is spent.

    ``answers-1.ledger`` and ``answers-2.ledger`` have digests of content in forms 1 and 2, from before 0.1.0: they are
    read, and what content they were charged for is unknown.
    """
    total = statistic(records("ages.csv", person="user"), "sum", column="age", lower=0, upper=100, step=1)
    rounds = [
        lw.plan(window(hour), lw.Presence("1"), lw.Decide(safe_at_most=3), mechanism="sanitized", stop_after=4)
        for hour in (18, 19)
    ]
    released = [
        lw.release(plan_of_counts(), lw.Budget(ledger, "town", cap="5")),
        lw.release(lw.plan(total, lw.UnboundedDP("1")), lw.Budget(ledger, "ages", cap="5", new=True)),
        *lw.monitor(rounds, lw.Budget(ledger, "hours", cap="5", new=True)).releases,
    ]
    return {
        "answers": [[one.answers.to_pylist(), one.statement.entry] for one in released],
        "spent": {each.dataset: str(each.spent) for each in Ledger(ledger).show()},
    }


def deltas(ledger: str = "deltas.ledger") -> dict[str, Any]:
    """Ask, in the folder of the tables, what the golden ledger with δ has an answer for; return it, and its history."""
    groups = lw.unlisted_groups(records("visits.csv", person="user"), "venue", most_groups=3)
    plan = lw.plan(groups, lw.AdditionOnly("3"), delta="1/100")
    first = None if Path(ledger).exists() else "1/10"  # it was changed since
    released = lw.release(plan, lw.Budget(ledger, "groups", cap="5", cap_delta=first))
    happened = [[e.number, e.kind, str(e.cost), str(e.cost_delta), str(e.cap_delta)] for e in Ledger(ledger).history()]
    return {"answers": [released.answers.to_pylist(), released.statement.entry], "history": happened}


def analysts(ledger: str = "analysts.ledger") -> dict[str, Any]:
    """Return what analysts spent of the golden ledger that has them, and its history."""
    opened = Ledger(ledger, create=False)
    return {
        "shares": [[each.dataset, each.analyst, str(each.spent)] for each in opened.shares()],
        "history": [[e.number, e.id, e.kind, str(e.cost), e.key] for e in opened.history()],
    }


def events(ledger: str = "events.ledger") -> list[list[Any]]:
    """Return the history of the golden ledger that has an entry of every kind but ``moved`` and ``asked-by``."""
    return [
        [e.number, e.id, e.time.isoformat(), e.dataset, e.version, e.kind, str(e.cost), e.cap and str(e.cap), e.key]
        for e in Ledger(ledger, create=False).history()
    ]


def people(store: str = "hashed.budgets") -> dict[str, Any]:
    """Return what is spent by each person on two days, and what each was told.

    ``people.budgets`` and ``blocks.budgets`` are of versions before 0.1.0 that hashed ids otherwise.
    """
    budgets = PersonBudgets(store, **PEOPLE)

    def draw(points: Any) -> Any:
        return points + 1 if not Path("said.json").exists() else points * 0

    told = MemoizedReports("people.memo", **MEMO, new=not Path("said.json").exists()).once(IDS, POINTS, draw)
    return {"spent": [[budgets.spent(person, day) for day in (0, 20000)] for person in IDS], "told": told.tolist()}


def said() -> dict[str, Any]:
    """Return all that golden ledgers say."""
    return {**answers(), "events": events(), "people": people()}


def write() -> None:
    """Write golden ledgers into the working directory."""
    for name, text in TABLES.items():
        Path(name).write_text(text, "utf-8")
    ledger = Ledger("events.ledger")
    with reserve(ledger, asked("stored")) as held:
        held.store(b"\x00answer\xff", Fraction(1, 7))
    with suppress(ZeroDivisionError), reserve(ledger, asked("withdrawn")):
        raise ZeroDivisionError
    if (child := os.fork()) == 0:
        with reserve(Ledger("events.ledger"), asked("taken over")):
            os._exit(0)
    os.waitpid(child, 0)
    with reserve(ledger, asked("taken over")) as held:
        held.store(b"")
    shutil.copy("events.ledger", "copy")
    ledger.set_cap("city", Fraction(7, 2))
    shutil.move("copy", "events.ledger")
    Ledger.accept_restored("events.ledger")
    ledger.set_cap("city", Fraction(3))
    first = os.environ[VARIABLE]
    os.environ[VARIABLE] = str(FOLDER / "other.key")
    ledger.new_key()
    os.environ[VARIABLE] = first
    write_budgets()


def write_budgets() -> None:
    """Write the golden store of budgets."""
    with PersonBudgets("hashed.budgets", **PEOPLE, new=True).charging() as charge:
        charge(IDS, [20000] * len(IDS))
        charge(IDS[:2], [0, 0])


def write_deltas() -> None:
    """Write the golden ledger that has amounts with a δ: given, given back, and under a cap that was changed."""
    deltas()
    ledger = Ledger("deltas.ledger")
    with (
        suppress(ZeroDivisionError),
        reserve(ledger, asked("withdrawn", cap_delta=Fraction(1, 9), delta=Fraction(1, 9))),
    ):
        raise ZeroDivisionError
    ledger.set_cap("groups", delta=Fraction(1, 7))


def write_analysts() -> None:
    """Write the golden ledger in which two analysts asked: one question was given back, and one cost less."""
    ledger, ann, bob = Ledger("analysts.ledger"), Analyst("ann", Fraction(1, 2)), Analyst("Ärger", Fraction(2))
    with reserve(ledger, asked("first", analyst=ann)) as held:
        held.store(b"\x00answer\xff")
    with suppress(ZeroDivisionError), reserve(ledger, asked("withdrawn", analyst=bob)):
        raise ZeroDivisionError
    with reserve(ledger, asked("cheaper", analyst=bob)) as held:
        held.store(b"", Fraction(1, 7))


def main() -> None:
    """Write golden ledgers and what they say, where there are none."""
    FOLDER.mkdir(exist_ok=True)
    os.chdir(FOLDER)
    os.environ[VARIABLE] = str(FOLDER / "content.key")
    if (FOLDER / "said.json").exists():
        if not (FOLDER / "answers.ledger").exists():
            found = json.dumps(json.loads(Path("said.json").read_text("utf-8")) | answers(), indent=1)
            Path("said.json").write_text(found + "\n", "utf-8")
        if not (FOLDER / "hashed.budgets").exists():
            write_budgets()
        if not (FOLDER / "said-deltas.json").exists():
            write_deltas()
            found = json.dumps(deltas(), indent=1)
            Path("said-deltas.json").write_text(found + "\n", "utf-8")
        if not (FOLDER / "said-analysts.json").exists():
            write_analysts()
            found = json.dumps(analysts(), indent=1)
            Path("said-analysts.json").write_text(found + "\n", "utf-8")
        return
    write()
    found = json.dumps(said(), indent=1)
    Path("said.json").write_text(found + "\n", "utf-8")


if __name__ == "__main__":
    importlib.import_module("tests.ledger.golden").main()
