"""Exact counts from tables, through Ibis on DuckDB. The only folder that imports them."""

from leeward.engine.ask import Keys, Opened, open_data, read_keys
from leeward.engine.content import Content
from leeward.engine.look import Look, refuse_doubtful
from leeward.engine.places import PlaceList, read_places
from leeward.engine.visits import REASONS, VisitCounts, VisitTable, open_visits

__all__ = [
    "REASONS",
    "Content",
    "Keys",
    "Look",
    "Opened",
    "PlaceList",
    "VisitCounts",
    "VisitTable",
    "open_data",
    "open_visits",
    "read_keys",
    "read_places",
    "refuse_doubtful",
]
