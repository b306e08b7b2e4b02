# SPDX-License-Identifier: Apache-2.0
from ._analysts import Analyst as Analyst
from ._analysts import Share as Share
from ._ledger import Ledger as Ledger
from ._memoized_reports import MemoizedReports as MemoizedReports
from ._people_store import read_secret as read_secret
from ._person_budgets import PersonBudgets as PersonBudgets
from ._records import Account as Account
from ._records import Answer as Answer
from ._records import Entry as Entry
from ._request import DrawnAnswer as DrawnAnswer
from ._request import Request as Request
from ._request import Reserved as Reserved
from ._reservation import STAGES as STAGES
from ._reservation import Reservation as Reservation
