"""The little town of the tests of releases."""

from tests.release.conftest import town as town
