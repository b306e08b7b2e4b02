# SPDX-License-Identifier: Apache-2.0
"""Data to try Leeward on: a synthetic city, and a real census that has long been public."""

from leeward.demo._census import CREDIT, EDUCATION, census, write_census
from leeward.demo._city import synthetic_places, synthetic_visits, write_city

__all__ = ["CREDIT", "EDUCATION", "census", "synthetic_places", "synthetic_visits", "write_census", "write_city"]
