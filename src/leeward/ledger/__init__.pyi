# SPDX-License-Identifier: Apache-2.0
from ._analysts import Analyst, Share
from ._ledger import Ledger
from ._memoized_reports import MemoizedReports
from ._people_store import read_secret
from ._person_budgets import PersonBudgets
from ._records import Account, Answer, Entry
from ._reservation import STAGES, Request, Reservation

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
