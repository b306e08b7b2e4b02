"""A schema of a database for the tests of this folder, and the little town of the tests of releases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from tests.postgres import Server
from tests.session.conftest import town as town


@pytest.fixture
def session(postgres: Server, postgres_database: str) -> Iterator[tuple[psycopg.Connection[Any], str]]:
    """A session with an empty schema, and the address of the database."""
    address = postgres.address(postgres_database)
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS public CASCADE")
        connection.execute("CREATE SCHEMA public")
        yield connection, address
