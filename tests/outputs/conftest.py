"""The little town of the tests of releases, and the command of those of locations."""

from tests.perturb.test_location import run as run
from tests.release.conftest import town as town
