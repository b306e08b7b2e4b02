"""What a statement says of the cells of a grid that the box cuts."""

import pyarrow as pa
import pytest

import leeward as lw
from leeward.session import privacy_statement

BOX = {"west": 139.6, "south": 35.6, "east": 139.65, "north": 35.63}


@pytest.mark.parametrize(
    ("size", "said"),
    [
        ({"metres": 500}, "(squares of 500 m, of which only what lies in the box counts)"),
        ({"h3": 8}, "(H3 cells of resolution 8, each of them whole, also where it reaches beyond the box)"),
    ],
)
def test_the_question_says_how_far_cells_reach(size, said):
    rows = pa.table({"who": [1], "lat": [35.61], "lon": [139.61], "at": pa.array([0], pa.timestamp("s"))})
    seen = lw.visits(rows, person="who", latitude="lat", longitude="lon", time="at")
    span = {"start": "1970-01-01", "end": "1970-01-02"}
    query = lw.count_visitors(seen, lw.grid(**BOX, **size), places_per_person=1, if_more="latest", **span)
    plan = lw.plan(query, lw.AdditionOnly("3"), lw.Decide(safe_at_most=2))
    text = privacy_statement(plan, places=12, dataset="town", version="1").query.text
    assert text.startswith(
        f"How many distinct people were at each of 12 public places {said} from 1970-01-01 00:00 up to,"
    )
