"""The little town of the tests of releases, and the command of those of locations."""

from tests.local.test_location import run as run
from tests.session.conftest import town as town
