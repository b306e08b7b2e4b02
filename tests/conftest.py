"""What all tests share.

The key of content digests is made for the tests, never in the home of whoever runs them; and a digest costs them
a 4096th of its work, but for the tests that are about it (`full_cost`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from leeward.engine import content
from leeward.ledger.secret import VARIABLE


@pytest.fixture(scope="session", autouse=True)
def _key_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("key") / "content.key"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, VARIABLE, str(path))
        yield path


@pytest.fixture(scope="session", autouse=True)
def _cheap_digests() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(content, "_COST", 2)
        yield


@pytest.fixture
def full_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Digests as users have them."""
    monkeypatch.setattr(content, "_COST", 1 << 13)
    content._slow.cache_clear()
