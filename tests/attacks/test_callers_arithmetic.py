"""A program that set how its own decimals, floats or Arb balls are worked with gets the figures that any other gets."""

from __future__ import annotations

import decimal
from collections.abc import Callable
from contextlib import AbstractContextManager
from decimal import Decimal
from pathlib import Path
from typing import Any

import flint
import numpy as np
import pytest

import leeward as lw
from leeward import _plain
from leeward.analysis import expected_loss
from leeward.desk._risk import risks
from leeward.desk._views import amount
from leeward.exact import exact, exp, log, sqrt
from leeward.ledger._identity import payer
from leeward.local._levels import name_of_level
from leeward.local.series._quantities import plain
from leeward.noise import SystemBits
from leeward.noise._bernoulli import flip_minus
from leeward.noise._planar import Enclosure
from leeward.report._words import missed
from leeward.session._statement._unlisted import _upwards
from leeward.tables._geojson import _is_written_float

SIGNALS: list[Any] = [decimal.Inexact, decimal.Rounded, decimal.FloatOperation, decimal.Subnormal, decimal.Clamped]
CALLERS: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "two digits": lambda: decimal.localcontext(decimal.Context(2, decimal.ROUND_UP, -9, 9)),
    "traps": lambda: decimal.localcontext(decimal.Context(28, traps=SIGNALS)),
    "a small e": lambda: decimal.localcontext(decimal.Context(28, capitals=0)),
    "four bits": lambda: flint.ctx.workprec(4),
    "two thousand bits": lambda: flint.ctx.workprec(2000),
    "floats that raise": lambda: np.errstate(all="raise"),
}
BOUNDED = lw.Geometric(lw.Line("2", "2"), lower=0, upper=4)
FIGURES: dict[str, Callable[[], object]] = {
    "a bound": lambda: [_plain.at_most(error) for error in (0.0123456, 123.456, 9.9999e-7, 0.1)],
    "percents": lambda: [_plain.percent(chance) for chance in ("0.123456", "0.999999999999", "1e-9", "0.3679")],
    "a complement": lambda: [missed(chance) for chance in ("0.999999999999", "0.951234", "0.5")],
    "a chance upwards": lambda: _upwards(exp(-14), 6),
    "beliefs": lambda: risks("1/3"),
    "amounts": lambda: [amount(exact(text).rational) for text in ("1/3", "123.456", "7/8", "1000")],
    "a quantity": lambda: [plain(exact(text).rational or exact(0).rational) for text in ("123.456", "1/8", "2/3")],  # type: ignore[arg-type]
    "payers": lambda: [payer(one) for one in ("1e70", "12345e60", "1.50", Decimal(1234567890123), 7.0, "4e-3")],
    "levels": lambda: [name_of_level(one) for one in (Decimal(12345), Decimal("1.5"), 3.0, np.float32(2.5), np.inf)],
    "a condition": lambda: str(lw.where("x", one_of=[Decimal("0.125"), 0.5, 3])),
    "a text of a float": lambda: [
        _is_written_float(text, float(text)) for text in ("139.70000000000002", "35.123456789012345678", "0.1000000000")
    ],
    "an enclosure": lambda: [exact("1/3").bounds(), exp("-1/7").bounds(), float(exp(-3)), float(log(5))],
    "a mean loss": lambda: float(expected_loss(BOUNDED, loss=lambda x, z: sqrt(2 * abs(x - z)))),
    "a coin": lambda: flip_minus(np.array([800.0, 0.0]), lambda i: exp(-800 if i == 0 else 0), SystemBits()).tolist(),
    "a proof": lambda: str(lw.verify(BOUNDED.on(range(5)), lw.Line("2", "2").on(range(5)))),
    "a float near": lambda: float(Enclosure(lambda precision: exp(-2).arb(precision))),
}


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("figure", FIGURES)
def test_a_figure_is_the_same_in_every_program(figure: str, caller: str) -> None:
    expected = FIGURES[figure]()
    with CALLERS[caller]():
        found = FIGURES[figure]()
    assert found == expected


@pytest.mark.parametrize("caller", CALLERS)
def test_a_mean_is_planned_released_and_shown_alike_in_every_program(caller: str, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("id,x\n" + "".join(f"p{i},{i % 70}.25\n" for i in range(200)))

    def published() -> tuple[Any, list[str]]:
        people = lw.records(tmp_path / "people.csv", person="id")
        mean = lw.statistic(people, lw.query.Kind("mean", grid="1/100"), column="x", lower=0, upper=70)
        plan = lw.plan(mean, lw.UnboundedDP("40"))
        result = lw.release(plan, lw.Budget(tmp_path / "budget.db", dataset="people", cap="40"))
        result.save(tmp_path / "out")
        return result.answers, [
            (tmp_path / "out" / name).read_text("utf-8") for name in ("release.json", "report.html")
        ]

    with CALLERS[caller]():
        odd = published()
    assert odd == published()
