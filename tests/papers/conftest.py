"""The quick set, computed once a worker."""

from __future__ import annotations

import pytest

from leeward.papers import Recomputed, recompute


@pytest.fixture(scope="session")
def found() -> Recomputed:
    return recompute()
