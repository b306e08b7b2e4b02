"""What all tests share: timings never decide one, and the key of content digests is made for the tests, never in a home."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import psycopg
import pytest
from tests import postgres as running
from tests.sweeping import thin

from leeward.ledger._secret import VARIABLE

hypothesis.settings.register_profile("untimed", hypothesis.settings.default, deadline=None)
hypothesis.settings.load_profile("untimed")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    thin(items)


@pytest.fixture(scope="session", autouse=True)
def _key_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("key") / "content.key"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, VARIABLE, str(path))
        yield path


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> running.Server:
    """The server of this run, started by the first who asks. Where there are workers, our parent is the run."""
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        return running.server(base.parent, os.getppid())
    return running.server(base, os.getpid())


@pytest.fixture(scope="session")
def postgres_database(postgres: running.Server) -> str:
    """The name of a database of this worker's own."""
    name = os.environ.get("PYTEST_XDIST_WORKER", "main")
    with psycopg.connect(postgres.address("postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return name
