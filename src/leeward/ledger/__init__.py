# SPDX-License-Identifier: Apache-2.0
"""The budget: reserve, then release. Every spend is durable before its answer is counted, every answer before it is shown.

Files, in reading order: ``_records`` (what a ledger tells), ``_schema`` (its tables), ``_chain`` (hashes over entries),
``_secret`` (the key of content digests, which no ledger holds), ``_content`` (what is recognised by them), ``_beside``
(names and modes of the small files beside a ledger), ``_high_water_mark``, ``_lock`` (who is at work), ``_store`` (what a
place for ledgers must do), ``_file`` (the file of a ledger in SQLite), ``_sqlite`` and ``_postgresql`` (the two places that
there are), ``_balance`` (where an account stands, and refusals), ``_account`` (what entries say of it), ``_analysts`` (caps
inside that of a data set), ``_reservation`` (from reserving to the answer), ``_move`` (from the one place to the other),
``_ledger`` (the ledger itself). Beside it, for reports of single people: ``_people_store`` (a file about people),
``_person_budgets``, ``_level_budgets`` and ``_memoized_reports`` (one answer for one question).

Names are listed in ``__init__.pyi`` and loaded when first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
