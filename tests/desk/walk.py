"""The whole path of the desk, form by form."""

from __future__ import annotations

from typing import Any

from tests.desk.conftest import Seat

ANSWERS: dict[str, dict[str, str]] = {
    "visits": {"person": "user", "place": "venue", "time": "when"},
    "places": {"file": "places.csv", "place": "venue", "name": "name", "latitude": "lat", "longitude": "lon"},
    "window": {"start": "2026-03-14T19:00", "end": "2026-03-14T20:00"},
    "promise": {"never": "safe", "people": "25"},
    "strength": {"epsilon": "1", "cap": "4", "dataset": "town"},
}
"""What is answered at each step."""


def walked(seat: Seat, upto: str = "strength", **changed: dict[str, str]) -> str:
    """Answer the steps of a fresh draft, up to one, and return its name; answers may be given otherwise."""
    name = seat.drafted()
    for step, answers in ANSWERS.items():
        answer = seat.post(f"/drafts/{name}/{step}", answers | changed.get(step, {}))
        assert answer.status_code == 303, answer.text
        if step == upto:
            break
    return name


def done(seat: Seat, answer: Any) -> Any:
    """Wait for the job that a form began, and return the page that it leads to."""
    assert answer.status_code == 303, answer.text
    place = answer.headers["location"]
    job = seat.desk.jobs.get(int(place.rpartition("/")[2]))
    assert job is not None
    job.wait(60)
    shown = seat.get(place)
    return seat.get(shown.headers["location"]) if shown.status_code == 303 else shown
