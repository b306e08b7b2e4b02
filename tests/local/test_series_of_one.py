"""One reading, one window, one day: what a statement says of them is a sentence, and never "1 readings"."""

from __future__ import annotations

import itertools
import re

import pytest
from tests.flat_series import flat_series

from leeward._plain import counted
from leeward.errors import RefusedError
from leeward.local.series import Totals
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
