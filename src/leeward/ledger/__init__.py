"""The budget: reserve, then release. Every spend is durable before data is looked at, every answer before it is shown.

Files, in reading order: ``records`` (what a ledger tells), ``schema`` (its tables), ``chain`` (hashes over entries),
``secret`` (the key of content digests, which no ledger holds), ``content`` (what is recognised by them),
``beside`` (names and modes of the small files beside a ledger), ``mark`` (its high-water mark), ``hold`` (who is at work),
``sqlite`` (transactions), ``account`` (balances and refusals), ``claim`` (one reservation), ``book`` (the ledger itself).
Beside it, for reports of single people: ``people`` (budgets per person and day) and ``memo`` (the same answer for the same
question).
"""

from leeward.ledger._ledger import Ledger
from leeward.ledger._memoized_reports import MemoizedReports
from leeward.ledger._person_budgets import PersonBudgets, read_secret
from leeward.ledger._records import Account, Answer, Entry
from leeward.ledger._reservation import STAGES, Reservation

__all__ = [
    "STAGES",
    "Account",
    "Answer",
    "Entry",
    "Ledger",
    "MemoizedReports",
    "PersonBudgets",
    "Reservation",
    "read_secret",
]
