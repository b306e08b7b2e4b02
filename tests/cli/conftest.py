"""The little town of the tests of releases."""

from tests.session.conftest import town as town
