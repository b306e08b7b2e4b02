"""One reading, one window, one day: what a statement says of them is a sentence, and never "1 readings"."""

from __future__ import annotations

import itertools
import re

import pytest
from tests.flat_series import flat_series

from leeward._plain import counted, likely, share_of, tabled_percent
from leeward.errors import RefusedError
from leeward.local.location._attacked import Attacked
from leeward.local.location._attacker import AttackerView
from leeward.local.series import Totals
from leeward.local.series._quantities import in_digits
from leeward.local.series._statement import facts, statement

SEVERAL = "readings|windows|days|meters|steps|totals"
WRONG = re.compile(rf"(?<![\d.,])1 ({SEVERAL})\b|one ({SEVERAL})\b|all readings of one reading|all 1 ")
SHAPES = [
    ("1 h", "2026-01-01T00:00", "2026-01-01T01:00", 1),
    ("1 h", "2026-01-01", "2026-01-02", 1),
    ("1 h", "2026-01-01", "2026-01-02", 24),
    ("1 d", "2026-01-01", "2026-01-02", 1),
    ("1 d", "2026-01-01", "2026-01-03", 1),
    ("1 d", "2026-01-01", "2026-01-03", 2),
]


@pytest.mark.parametrize("between", ["maximum", "manhattan", "hamming"])
@pytest.mark.parametrize(("every", "start", "end", "window"), SHAPES)
def test_one_is_one(between: str, every: str, start: str, end: str, window: int) -> None:
    told = []
    for noise, smooth, per in itertools.product((None, "independent"), (1, 3), (None, "day", "period")):
        made = flat_series(
            between=between,
            epsilon="1",
            values="W",
            step="1 W",
            lower="0 W",
            upper="100 W",
            **({} if between == "hamming" else {"unit": "10 W"}),
            start=start,
            end=end,
            every=every,
            window=window,
            noise=noise,
            smooth=smooth,
        )
        try:
            found = statement(made, None if per is None else Totals(made, per))
        except RefusedError:
            continue
        told += [text for _, text in facts(found)]
    assert told
    assert not [text for text in told if WRONG.search(text)]


def test_things_are_counted_in_words() -> None:
    assert [counted(n, "row") for n in (0, 1, 2, 1200)] == ["0 rows", "1 row", "2 rows", "1,200 rows"]
    assert counted(2, "entry", "entries") == "2 entries"
    assert WRONG.search(f"{counted(1, 'readings')} of the period"), "the pattern finds what it is for"


def test_what_is_hardly_certain_is_not_said_to_be() -> None:
    chances = (1e-9, 0.0004, 0.0006, 0.5, 0.9994, 0.999997, 1.0)
    said = ["under 0.1%", "under 0.1%", "0.1%", "50.0%", "99.9%", "over 99.9%", "over 99.9%"]
    assert [likely(chance) for chance in chances] == said, "1.0 is what rounding makes of it"
    assert [share_of(one) for one in (0, 1e-9, 0.5, 0.999997, 1)] == ["0%", "under 0.1%", "50.0%", "over 99.9%", "100%"]
    assert [tabled_percent(one) for one in (0, 1e-9, 0.999997, 1)] == ["0.0%", "<0.1%", "99.9%", "100.0%"]
    assert (
        str(AttackerView(1, 0.999997, 0.0, 0.3, 0.0))
        == "1 report: right over 99% of the time, under 1 m off on average"
    )
    after = str(Attacked("one row", 1, 0.999997, 1.0, 0.3, 0.0))
    assert (
        "for over 99.9% likely and guesses it 100% of the time; he expects to be under 1 m off, and is 0 m off" in after
    )


def test_large_numbers_have_no_exponent() -> None:
    assert [in_digits(one) for one in (20752.3, 169_649.0, 9.8765, 0.00012346, 0.0)] == [
        "20,750",
        "169,600",
        "9.877",
        "0.0001235",
        "0",
    ]
