# SPDX-License-Identifier: Apache-2.0
"""Budgets of millions of people, per person and day: how many reports each may still make.

The ledger of releases keeps one account a dataset and a chain over its entries; here every person is an account, and one row
a person and day is all there is. Every report of one job costs the same, so a budget is a whole number of reports. Who is
one person is said in `leeward.ledger._identity`; which day a report belongs to is for the caller to say, and a store counts
by one rule of days for ever. There is no chain and no mark: a restored copy forgets what was spent since. Keep it like a
ledger.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral
from typing import Any, Final, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from leeward._plain import counted
from leeward.errors import CapExceededError, InputError, LedgerError, check_choice
from leeward.exact._real import whole
from leeward.ledger._identity import payer
from leeward.ledger._people_store import PeopleStore, facts_kept

Over = Literal["refuse", "withhold"]
"""What happens to reports that are not paid for."""

DAYS: Final = "as the caller numbers them"
"""The rule of days where the caller gives numbers and says nothing of them."""


class Charge(Protocol):
    """Charge some reports; see `PersonBudgets.charging`."""

    def __call__(
        self,
        people: Sequence[Any],
        days: Sequence[int],
        rule: str = DAYS,
        *,
        reports: Sequence[bytes] | None = None,
        known: Iterable[bytes] = (),
        prices: Sequence[int] | None = None,
    ) -> NDArray[np.bool_]:
        """Return which reports are paid for, given one person and one day a report (days since 1970).

        Args:
            people: ids.
            days: whole numbers of days; of any library, of any sign.
            rule: which day a report belongs to, in words. One store never counts by two rules: one moment would have two
                days, and two budgets.
            reports: what each report is, where one may be repeated: once it is paid for, by whichever day comes first that
                can, it is free in the rest of the transaction.
            known: those that are free from the start.
            prices: the number of the price of each report, where a store has several.
        """
        ...


_AT_ONCE: Final = 1 << 16


class PersonBudgets(PeopleStore):
    """Budgets per person and day, as a number of reports.

    Args:
        path: the SQLite file.
        secret: for the keyed hash of people's names; at least 16 bytes.
        price: what one report costs, in words that must not change: ``"log(2)/200 a metre"``.
        reports_a_day: how many reports of one person in one day are paid for.
        new: whether the file may be made where there is none, or an empty one: then everybody has a whole budget.

    Raises:
        InputError: if fewer than 1 report is allowed.
        LedgerError: the file cannot be used, or is not there and may not be made.
        BudgetConflictError: it was made for another price, bound or secret.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, secret: bytes, price: str, reports_a_day: int, new: bool = False
    ) -> None:
        self.reports_a_day = reports_a_day = whole(reports_a_day, "reports_a_day", says="it says how many are paid for")
        super().__init__(path, "budgets", {"price": price, "reports_a_day": str(reports_a_day)}, secret, new=new)

    @contextmanager
    def charging(self, over: Over = "refuse") -> Iterator[Charge]:
        """Charge reports, batch by batch, all in one transaction: durable when it ends, undone if anything fails.

        Args:
            over: what happens to reports beyond the bound: ``"refuse"`` them all, or ``"withhold"`` these, in their order.

        Yields:
            A function from people and days to which reports are paid for.

        Raises:
            BudgetConflictError: the store counts days by another rule.
            CapExceededError: somebody asks for more than is left, and ``over`` is ``"refuse"``. For the curator only.
        """
        check_choice("over", over, get_args(Over), "it is not an option")
        with self.writing() as connection:
            self._open_accounts(connection)
            free: set[bytes] = set()
            refused: list[CapExceededError] = []

            def charge(
                people: Sequence[Any],
                days: Sequence[int],
                rule: str = DAYS,
                *,
                reports: Sequence[bytes] | None = None,
                known: Iterable[bytes] = (),
                prices: Sequence[int] | None = None,
            ) -> NDArray[np.bool_]:
                if len(people):  # else no day is counted, and the rule of none is nobody's
                    self._count_by(connection, rule)
                free.update(known)
                numbers = [_day(each) for each in days]
                beside = [each for each in (reports, prices) if each is not None]
                if len({len(people), len(days), *map(len, beside)}) > 1:
                    raise InputError("People, days and reports of different lengths", "each report has one", "Give all")
                at = self._priced(prices, len(people))
                paid = [np.zeros(0, bool)]
                try:
                    for i in range(0, len(people), _AT_ONCE):  # a million at once is slower than in parts
                        part = slice(i, i + _AT_ONCE)
                        if reports is None and prices is None:
                            charged = self._alike(connection, people[part], numbers[part])
                        else:
                            which = None if reports is None else reports[part]
                            charged = self._each(connection, people[part], numbers[part], at[part], which, free)
                        paid.append(self._write(connection, *charged, over))
                except CapExceededError as error:
                    refused.append(error)
                    raise
                return np.concatenate(paid)

            yield charge
            if refused:  # caught inside: what came before it must not stand either
                raise refused[0]

    def spent(self, person: Any, day: int) -> int:
        """Return how many reports of a person are paid for on a day, whatever they cost."""
        with self.writing() as connection:
            self._open_accounts(connection)
            return sum(self._counts(connection, person, day))

    def _counts(self, connection: Connection, person: Any, day: int) -> list[int]:
        """Return how many reports of each price a person has paid for on a day."""
        (accounts,) = self._accounts([person])
        keys = [(account, _day(day)) for account in accounts]
        held = self._read(connection, keys)
        return [held.get(key, 0) for key in keys]

    def _open_accounts(self, connection: Connection) -> None:
        """Make ready for a charge; here nothing is to be done."""

    def _priced(self, _prices: Sequence[int] | None, reports: int) -> Sequence[int]:
        """Return the number of the price of each report among those of the store; here all cost the same."""
        return [0] * reports

    def _accounts(self, people: Iterable[Any]) -> list[tuple[bytes, ...]]:
        """Return what the reports of each person are counted under: one account for each price."""
        return list(zip(self.digests_of("person", map(payer, people))))

    def _pays(self, counts: Sequence[int], _price: int) -> bool:
        """Whether a day's budget pays for one more report of a price, beside so many of each."""
        return counts[0] < self.reports_a_day

    def _too_many(self) -> CapExceededError:
        return CapExceededError(
            f"Somebody has more than {counted(self.reports_a_day, 'report')} in a day (this is for the curator only)",
            "their budget does not pay for it; nothing was charged",
            'Thin the table, choose over = "withhold", or have a larger budget from the start',
        )

    def _count_by(self, connection: Connection, rule: str) -> None:
        """Count days by a rule, or refuse another than before."""
        known = connection.execute(select(facts_kept.c.value).where(facts_kept.c.key == "days")).scalar_one_or_none()
        if known is None:
            connection.execute(facts_kept.insert(), [{"key": "days", "value": rule}])
        else:
            self._compare("days", known, rule)

    def _alike(
        self, connection: Connection, people: Sequence[Any], days: Sequence[int]
    ) -> tuple[NDArray[np.bool_], list[tuple[bytes, int, int]]]:
        """Return which of some reports are paid for, where all cost the same and none is free, and what is spent then."""
        rows, accounts = self._payers(people)
        listed = sorted({account for (account,) in accounts})  # in the file's order: faster
        number = {account: i for i, account in enumerate(listed)}
        at = np.array([number[account] for (account,) in accounts], np.int64)[rows]
        known, day = np.unique(np.array(days, np.int64), return_inverse=True)
        each, key, asked = np.unique(at * len(known) + day, return_inverse=True, return_counts=True)
        keys = [(listed[code // len(known)], int(known[code % len(known)])) for code in each.tolist()]
        before = self._read(connection, keys)
        held = np.array([before.get(of, 0) for of in keys], np.int64)
        left = np.maximum(min(self.reports_a_day, 2**62) - held, 0)  # more than are ever counted
        order = np.argsort(key, kind="stable")
        turn = np.empty(len(rows), np.int64)  # the how manieth of its person and day each report is, from 0
        turn[order] = np.arange(len(rows)) - np.repeat(np.cumsum(asked) - asked, asked)
        after = (held + np.minimum(asked, left)).tolist()
        grown = [(*of, now) for of, now, then in zip(keys, after, held.tolist(), strict=True) if now > then]
        return turn < left[key], grown

    def _each(
        self,
        connection: Connection,
        people: Sequence[Any],
        days: Sequence[int],
        prices: Sequence[int],
        reports: Sequence[bytes] | None,
        free: set[bytes],
    ) -> tuple[NDArray[np.bool_], list[tuple[bytes, int, int]]]:
        """Return which of some reports are paid for, one after another, and what is spent then."""
        rows, accounts = self._payers(people)
        keys = [(accounts[row], day) for row, day in zip(rows.tolist(), days, strict=True)]
        asked = sorted({(account, day) for each, day in set(keys) for account in each})  # in the file's order: faster
        before = self._read(connection, asked)
        spent = {(each, day): [before.get((account, day), 0) for account in each] for each, day in set(keys)}
        paid = []
        for row, key in enumerate(keys):
            again = reports is not None and reports[row] in free
            paid.append(again or self._pays(spent[key], prices[row]))
            if paid[-1] and not again:
                spent[key][prices[row]] += 1
                if reports is not None:
                    free.add(reports[row])
        now = {(account, day): n for (each, day), held in spent.items() for account, n in zip(each, held, strict=True)}
        return np.array(paid, bool), [(*key, now[key]) for key in asked if now[key] > before.get(key, 0)]

    def _payers(self, people: Sequence[Any]) -> tuple[NDArray[np.int64], list[tuple[bytes, ...]]]:
        """Return the accounts of each person once, and which of them each report is charged to."""
        if {*map(type, people)} <= {int, str}:  # each equals only itself, and all name somebody
            once = dict.fromkeys(people)
            if len(once) == len(people):
                return np.arange(len(people)), self._accounts(once)
        number = dict[Any, int]()  # by type too: what equals may be written otherwise, and one type may name nobody
        try:
            rows = [number.setdefault(each, len(number)) for each in zip(map(type, people), people, strict=True)]
            who = [person for _, person in number]
        except TypeError:  # a list, say
            who = [None]
        if any(map(_is_nobody, who)):
            raise InputError(
                "A report without a person (this is for the curator only)", "nobody pays for it", "Remove such rows"
            )
        return np.array(rows, np.int64), self._accounts(who)

    def _write(
        self, connection: Connection, paid: NDArray[np.bool_], spent: list[tuple[bytes, int, int]], over: Over
    ) -> NDArray[np.bool_]:
        """Write what is spent, and return which reports are paid for; refuse them all if one is not, and it is asked."""
        if over == "refuse" and not paid.all():
            raise self._too_many()
        if spent:
            connection.exec_driver_sql("INSERT OR REPLACE INTO spent VALUES (?, ?, ?)", spent)
        return paid

    def _read(self, connection: Connection, keys: list[tuple[bytes, int]]) -> dict[tuple[bytes, int], int]:
        """Return what is spent under each key that has any."""
        if connection.exec_driver_sql("SELECT NOT EXISTS (SELECT 1 FROM spent)").scalar_one():
            return {}
        connection.exec_driver_sql("CREATE TEMP TABLE IF NOT EXISTS wanted (person BLOB, day INTEGER)")
        connection.exec_driver_sql("DELETE FROM wanted")
        if keys:
            connection.exec_driver_sql("INSERT INTO wanted VALUES (?, ?)", keys)
        held = connection.exec_driver_sql(
            "SELECT person, day, reports FROM wanted CROSS JOIN spent USING (person, day)"
        )
        found = {(person, day): reports for person, day, reports in held}
        # SQLite keeps text in any column
        if any(type(reports) is not int or reports < 0 for reports in found.values()):
            raise LedgerError(
                f"What is spent in {self.path} is not a number of reports",
                "it was changed or damaged",
                "Restore the file",
            )
        return found


def _is_nobody(person: Any) -> bool:
    """Whether it is None, NaN or another value that stands for a missing one: these do not equal themselves."""
    try:
        return person is None or bool(person != person)
    except (TypeError, ValueError):  # of pandas' NA nobody knows
        return True


def _day(given: object) -> int:
    """Return a number of a day as Python's own: SQLite keeps the bytes of another library's, and never finds them again."""
    if type(given) is not int and (isinstance(given, bool) or not isinstance(given, Integral)):
        raise InputError(
            f"A day that is a {type(given).__name__} (this is for the curator only)",
            "a budget is kept for each whole day, and parts of one would each have their own",
            "Give days as whole numbers",
        )
    day = int(given)
    if not -(2**63) <= day < 2**63:
        raise InputError("A day beyond 64 bits (this is for the curator only)", "no calendar has it", "Correct it")
    return day
