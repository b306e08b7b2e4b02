# SPDX-License-Identifier: Apache-2.0
"""The budget: reserve, then release. Every spend is durable before data is looked at, every answer before it is shown.

Files, in reading order: ``_records`` (what a ledger tells), ``_schema`` (its tables), ``_chain`` (hashes over entries),
``_secret`` (the key of content digests, which no ledger holds), ``_content`` (what is recognised by them), ``_beside``
(names and modes of the small files beside a ledger), ``_high_water_mark``, ``_lock`` (who is at work), ``_store`` (what a
place for ledgers must do), ``_sqlite`` and ``_postgresql`` (the two there are), ``_balance`` (accounts and refusals),
``_analysts`` (caps inside that of a data set), ``_reservation`` (from reserving to the answer), ``_move`` (from the one
place to the other), ``_ledger`` (the ledger itself). Beside it, for reports of single people: ``_people_store`` (a
file about people), ``_person_budgets``, ``_level_budgets`` and ``_memoized_reports`` (one answer for one question).
"""

from leeward.ledger._analysts import Analyst, Share
from leeward.ledger._ledger import Ledger
from leeward.ledger._memoized_reports import MemoizedReports
from leeward.ledger._people_store import read_secret
from leeward.ledger._person_budgets import PersonBudgets
from leeward.ledger._records import Account, Answer, Entry
from leeward.ledger._reservation import STAGES, Request, Reservation

__all__ = [
    "STAGES",
    "Account",
    "Analyst",
    "Answer",
    "Entry",
    "Ledger",
    "MemoizedReports",
    "PersonBudgets",
    "Request",
    "Reservation",
    "Share",
    "read_secret",
]
