"""Attack: a view of PostgreSQL that sums up floats, while another session is in the middle of the same table.

PostgreSQL has a scan of a big table begin where another one is, so that both read a page once. Floats are then summed up in
another order, and the last digit of a sum is another one: content that changed, to a ledger, although no row did.
"""

from __future__ import annotations

from typing import Any

import psycopg
from tests.engines.conftest import session as session

from leeward.engine._bind import bind
from leeward.engine._content import recognised

KEY = b"0123456789abcdef" * 2


def test_a_view_is_the_same_table_where_others_read_it(session: tuple[psycopg.Connection[Any], str]) -> None:
    connection, address = session
    connection.execute(
        "CREATE TABLE readings AS SELECT 'c' || (i % 50) AS customer, (i * 7919::bigint % 100003) / 10007.0::float8 AS kwh"
        " FROM generate_series(1, 200000) t(i)"
    )  # twice the quarter of its buffers from which on the server of the tests does so
    connection.execute("CREATE VIEW each AS SELECT customer, sum(kwh) AS kwh FROM readings GROUP BY customer")
    seen = set()
    with psycopg.connect(address) as other, other.cursor("half") as scan:
        scan.execute("SELECT * FROM readings")
        for _ in range(3):
            scan.fetchmany(60_000)
            with bind(address, {"person": "customer", "column": "kwh"}, "each") as bound:
                seen.add(recognised(bound, KEY, []).digest)
    assert len(seen) == 1
