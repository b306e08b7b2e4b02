"""Exact counts from tables, through Ibis on DuckDB. The only folder that imports them."""

from leeward.engine.places import PlaceList, read_places
from leeward.engine.visits import REASONS, VisitCounts, VisitTable, open_visits

__all__ = ["REASONS", "PlaceList", "VisitCounts", "VisitTable", "open_visits", "read_places"]
