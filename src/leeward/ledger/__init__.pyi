# SPDX-License-Identifier: Apache-2.0
from ._analysts import Analyst, Share
from ._ledger import Ledger
from ._memoized_reports import MemoizedReports
from ._people_store import read_secret
from ._person_budgets import PersonBudgets
from ._records import Account, Answer, Entry
from ._request import DrawnAnswer, Request, Reserved
from ._reservation import STAGES, Reservation

__all__ = [
    "STAGES",
    "Account",
    "Analyst",
    "Answer",
    "DrawnAnswer",
    "Entry",
    "Ledger",
    "MemoizedReports",
    "PersonBudgets",
    "Request",
    "Reservation",
    "Reserved",
    "Share",
    "read_secret",
]
