"""What the desk tells of budgets: of each data set its own, what is left of it, and what became of each charge."""

from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from tests.desk.conftest import Seat
from tests.desk.test_desk_path import OPEN, text_of
from tests.desk.walk import ANSWERS, done, walked

from leeward.desk._releases import in_words
from leeward.ledger import Entry


def test_the_history_tells_each_charge_once_with_what_became_of_it(seat: Seat) -> None:
    """A budget is opened and its cap raised; one answer, one charge that is taken back, and one that broke off."""
    now, half = datetime(2026, 3, 14, 19, 5, tzinfo=UTC), Fraction(1, 2)
    told: list[tuple[str, Any, Any]] = [
        *[("", "opened", 0), ("a", "reserved", 1), ("a", "released", 0)],
        *[("b", "reserved", 2), ("b", "asked-by", 0), ("b", "withdrawn", -2), ("c", "reserved", half)],
        *[("", "set-cap", 0), ("d", "reserved", 1), ("d", "released", -half)],
    ]
    history = [
        Entry(at, name, now, "town", "1", kind, Fraction(cost), Fraction(4), "ann" if kind == "asked-by" else "")
        for at, (name, kind, cost) in enumerate(told, 1)
    ]
    shown = in_words(history, {})
    assert [(one["what"].partition(":")[0], one["cost"], one["analyst"]) for one in shown] == [
        ("The budget was opened", 0, None),
        ("An answer", 1, None),
        ("A charge was taken back", 0, "ann"),
        ("A charge without an answer", half, None),
        ("The cap was changed", 0, None),
        ("An answer", half, None),
    ]
    name = walked(seat)
    done(seat, seat.post(f"/drafts/{name}/release", OPEN))
    page = text_of(seat.get("/history"))
    assert page.index("places are said to be safe") < page.index("The budget was opened"), "the newest first"


def test_a_draft_that_others_left_too_little_for_cannot_be_released(seat: Seat) -> None:
    name, other = walked(seat), walked(seat, strength={"epsilon": "7/2"})
    assert "0.5 left of 4" in text_of(done(seat, seat.post(f"/drafts/{other}/release", OPEN)))
    page = text_of(seat.get(f"/drafts/{name}/release"))
    assert "A release at a price of 1: 1/2 is left of the budget." in page
    assert "Release for" not in page


def test_each_data_set_is_told_of_its_own_budget(seat: Seat) -> None:
    name = walked(seat)
    assert "3 left of 4" in text_of(done(seat, seat.post(f"/drafts/{name}/release", OPEN)))
    other = {"dataset": "a village", "cap": "9", "epsilon": "2"}
    (seat.folder / "visits.csv").rename(seat.folder / "more.csv")
    lines = (seat.folder / "more.csv").read_text("utf-8").splitlines()
    (seat.folder / "visits.csv").write_text("\n".join(lines[:-3]), "utf-8")
    second = walked(seat, strength=other)
    assert "7 left of 9" in text_of(done(seat, seat.post(f"/drafts/{second}/release", OPEN)))
    assert "3 left of 4" in text_of(seat.get("/releases/visits-1"))


def test_what_the_budget_does_not_pay_for_is_said_before_anything_is_kept(seat: Seat) -> None:
    name = walked(seat, strength={"cap": "1"})
    done(seat, seat.post(f"/drafts/{name}/release", OPEN))
    assert "Too dear. A release at a price of 1/2: 0 is left" in text_of(
        seat.get(f"/drafts/{name}/strength?epsilon=1/2")
    )
    dear = seat.post(f"/drafts/{name}/strength", ANSWERS["strength"] | {"epsilon": "1/2", "cap": "1"})
    assert dear.status_code == 422
    assert text_of(dear).count("0 is left of the budget") == 1
    assert seat.post(f"/drafts/{name}/strength", ANSWERS["strength"] | {"cap": "1"}).status_code == 303  # it is stored
    assert "a stored answer: it is free" in text_of(seat.get(f"/drafts/{name}/release"))
