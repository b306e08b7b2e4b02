"""A masked value is missing: nothing that lies under a mask is counted, perturbed or published.

The tables have a row for every public function that takes an array; a new one without a row fails.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.flat_series import flat_series

import leeward as lw
from leeward import inf
from leeward.errors import DataError, InputError
from leeward.local.location import PlanarLaplace
from leeward.local.series import Appliance, Billing, ReadingGrid
from leeward.mechanism import (
    AdaptiveSanitized,
    Everyone,
    FiniteMechanism,
    Geometric,
    NoisyMax,
    NormMechanism,
    RandomizedResponse,
    RankSelection,
    Sanitized,
    SparseVector,
    SubsampledCount,
)
from leeward.mechanism._geometric import integers
from leeward.mechanism._one_sided_components import centred
from leeward.mechanism._planar import PlanarMechanism
from leeward.mechanism._sanitized import row_of_counts, whole_thresholds
from leeward.mechanism._series import SeriesMechanism
from leeward.mechanism._subsampled import sampled_rows, thin
from leeward.mechanism._tree import TreeMechanism
from leeward.noise import FirstAccepted, SystemBits, add_saturating, uniform_below
from leeward.query._sampling import PoissonSampling

LINE, UP = lw.Line("1", "1"), lw.Line(inf, "1")
GEO = PlanarLaplace(box=(139.5, 35.5, 140.0, 35.9), within="200 m", factor=2)
WATTS = ReadingGrid("kW", lower="0 kW", upper="8 kW", step="1 W")
COUNTS, YES, NORTH, EAST = np.array([5, 6]), np.array([True, False]), np.array([35.6, 35.7]), np.array([139.7, 139.8])
BILLS = Billing("1", unit="1", step=1, bills=2)
KETTLE = Appliance(
    flat_series(
        values="kW", lower="0 kW", upper="8 kW", step="1 W", between="manhattan", epsilon="1", unit="1 kW",
        start="2026-03-01", end="2026-03-02", every="12 h",
    ),
    adds=["2 kW"],
    first="2026-03-01T12:00",
)  # fmt: skip
PLANE = PlanarMechanism(lw.distance.Plane("1"), step=1)
ONCE = SubsampledCount("1")
TREE = TreeMechanism("manhattan", "1", levels=((1, 2), (2,)), spans=(2,))

CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "Geometric.noisy": (Geometric(LINE).noisy, {"truth": COUNTS}),
    "Geometric.clamp": (Geometric(LINE, lower=0).clamp, {"noisy": COUNTS}),
    "Geometric.release": (Geometric(LINE).release, {"truth": COUNTS}),
    "Geometric.stored": (Geometric(LINE).stored, {"truth": COUNTS, "bits": SystemBits()}),
    "Sanitized.stored": (Sanitized(UP, at_most=2, stop_after=1).stored, {"counts": COUNTS, "bits": SystemBits()}),
    "Everyone.noisy": (Everyone(UP, "1").noisy, {"truth": COUNTS}),
    "Everyone.at_most": (Everyone(UP, "1").at_most, {"noisy": COUNTS}),
    "Everyone.release": (Everyone(UP, "1").release, {"truth": COUNTS}),
    "Everyone.stored": (Everyone(UP, "1").stored, {"truth": COUNTS, "bits": SystemBits()}),
    "integers": (integers, {"values": COUNTS}),
    "NoisyMax.release": (NoisyMax("1").release, {"counts": COUNTS}),
    "RankSelection.losses": (RankSelection("1").losses, {"counts": COUNTS}),
    "RankSelection.release": (RankSelection("1").release, {"counts": COUNTS}),
    "RankSelection.release_sparse": (
        RankSelection("1").release_sparse, {"positions": COUNTS, "counts": COUNTS, "points": 9},
    ),
    "RankSelection.runs": (RankSelection("1").runs, {"positions": COUNTS, "counts": COUNTS, "points": 9}),
    "FirstAccepted.draw": (FirstAccepted("1").draw, {"losses": COUNTS, "sizes": COUNTS, "bits": SystemBits()}),
    "FirstAccepted.pmf": (FirstAccepted("1").pmf, {"losses": COUNTS, "sizes": COUNTS}),
    "NormMechanism.noisy": (NormMechanism(LINE, size=2).noisy, {"truth": COUNTS}),
    "NormMechanism.release": (NormMechanism(LINE, size=2).release, {"truth": COUNTS}),
    "RandomizedResponse.release": (RandomizedResponse("2/3", "1/3").release, {"answers": YES}),
    "RandomizedResponse.estimate": (RandomizedResponse("2/3", "1/3").estimate, {"said": YES}),
    "Sanitized.release": (Sanitized(UP, at_most=2, stop_after=1).release, {"counts": COUNTS}),
    "Sanitized.expected_answered": (Sanitized(UP, at_most=2, stop_after=1).expected_answered, {"counts": COUNTS}),
    "AdaptiveSanitized.release": (AdaptiveSanitized(UP, at_most=2, budget="2").release, {"counts": COUNTS}),
    "AdaptiveSanitized.stored": (
        AdaptiveSanitized(UP, at_most=2, budget="2").stored, {"counts": COUNTS, "bits": SystemBits()},
    ),
    "row_of_counts": (row_of_counts, {"counts": COUNTS, "thresholds": np.array(2)}),
    "SparseVector.release": (SparseVector("1", at_most=2, stop_after=1).release, {"counts": COUNTS}),
    "SeriesMechanism.release": (SeriesMechanism("maximum", "1", window=2, width=8).release, {"windows": COUNTS}),
    "TreeMechanism.totals": (TREE.totals, {"narrowest": COUNTS}),
    "TreeMechanism.release": (TREE.release, {"narrowest": COUNTS}),
    "thin": (thin, {"counts": COUNTS, "sampling": PoissonSampling("1/2"), "bits": SystemBits()}),
    "sampled_rows": (sampled_rows, {"person": COUNTS, "sampling": PoissonSampling("1/2"), "bits": SystemBits()}),
    "SubsampledCount.release": (ONCE.release, {"counts": COUNTS}),
    "SubsampledCount.release_visits": (ONCE.release_visits, {"person": COUNTS, "place": np.array([0, 1]), "places": 2}),
    "SubsampledCount.unbiased": (ONCE.unbiased, {"released": COUNTS}),
    "centred": (centred, {"noisy": COUNTS, "law": Geometric(UP).law}),
    "Appliance.log_odds": (KETTLE.log_odds, {"published": NORTH, "quiet": NORTH}),
    "Billing.bill": (BILLS.bill, {"amounts": COUNTS}),
    "Billing.settle": (BILLS.settle, {"amounts": COUNTS[None], "billed": COUNTS[None] + 1}),
    "PlanarLaplace.perturb_points": (GEO.perturb_points, {"latitude": NORTH, "longitude": EAST}),
    "PlanarLaplace.to_places": (GEO.to_places, {"latitude": NORTH, "longitude": EAST, "weights": NORTH}),
    "PlanarLaplace.best_over": (GEO.best_over, {"latitude": NORTH, "longitude": EAST, "weights": NORTH}),
    "PlanarLaplace.attacker": (GEO.attacker, {"latitude": NORTH, "longitude": EAST, "weights": NORTH}),
    # what takes an array by another name
    "Box.holds": (GEO.box.holds, {"latitude": NORTH, "longitude": EAST}),
    "Box.nearest": (GEO.box.nearest, {"latitude": NORTH, "longitude": EAST}),
    "DirectedGeometric.pmf_array": (Geometric(LINE).law.pmf_array, {"k": COUNTS}),
    "uniform_below": (uniform_below, {"limits": COUNTS, "size": 2, "bits": SystemBits()}),
    "PlanarLaplace.to_grid": (GEO.to_grid, {"latitude": NORTH, "longitude": EAST}),
    "PlanarLaplace.present": (GEO.present, {"latitude": NORTH, "longitude": EAST}),
    "PlanarLaplace.draw": (GEO.draw, {"points": np.array([[0, 0], [1, 1]])}),
    "PlanarMechanism.snap": (PLANE.snap, {"positions": np.array([[0.5, 0.5]])}),
    "PlanarMechanism.noisy": (PLANE.noisy, {"points": np.array([[0, 0], [1, 1]])}),
    "FiniteMechanism.from_floats": (
        FiniteMechanism.from_floats, {"inputs": [0, 1], "outputs": [0, 1], "matrix": np.full((2, 2), 0.5)},
    ),
    "ReadingGrid.steps": (WATTS.steps, {"values": NORTH}),
    "whole_thresholds": (whole_thresholds, {"at_most": COUNTS}),
    "add_saturating": (add_saturating, {"counts": COUNTS, "noise": COUNTS}),
}  # fmt: skip

ELSEWHERE = {
    "given_array": "it refuses them",
    "clipped": "within, on what was taken by given_array",
    "_checked": "FirstAccepted.draw",
    "_row": "RankSelection.runs",
    "_degrees": "PlanarLaplace.perturb_points",
    "Monitor.answer": "it draws by Sanitized.release",
    "BestOverPlaces.of": "PlanarLaplace.best_over",
    "compare_over_places": "on places that were laid out",
    "PriorPlaces.of": "PlanarLaplace.to_places",
    "PlanarLaplace.exponential_over": "PlanarLaplace.best_over",
    "Tracks.attacker": "PlanarLaplace.attacker",
    "columns_of": "PlanarLaplace.perturb_points",
    "PositionNoise.perturb_points": "a protocol",
}


def taking_arrays() -> set[str]:
    found = set()
    for path in Path(lw.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            inside = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
            for one in getattr(node, "body", []) if isinstance(node, ast.ClassDef | ast.Module) else []:
                if isinstance(one, ast.FunctionDef):
                    told = [ast.unparse(each.annotation or one) for each in [*one.args.args, *one.args.kwonlyargs]]
                    if any("ArrayLike" in text.partition(chr(10))[0] for text in told):
                        found.add(inside + one.name)
    return found


@pytest.mark.sweep
def test_every_function_that_takes_an_array_has_a_row() -> None:
    assert taking_arrays() - set(CALLS) - set(ELSEWHERE) == set()
    assert set(ELSEWHERE) <= taking_arrays()


ARRAYS = [
    (name, key) for name, (_, given) in CALLS.items() for key, held in given.items() if isinstance(held, np.ndarray)
]


@pytest.mark.parametrize(("name", "key"), [pair for pair in ARRAYS if pair != ("row_of_counts", "thresholds")])
def test_what_is_masked_is_refused(name: str, key: str) -> None:
    function, given = CALLS[name]
    function(**given)
    held = given[key]
    whole = np.ma.array(held, mask=np.ones(held.shape, bool))
    part = np.ma.array(held, mask=np.arange(held.size).reshape(held.shape) == 0)
    for masked in (whole, part, [whole, whole], (part, part), [np.ma.masked, np.ma.masked], np.ma.masked):
        with pytest.raises(DataError, match="some values are masked"):
            function(**{**given, key: masked})
    function(**{**given, key: np.ma.array(held)})


def test_one_position_that_is_masked() -> None:
    with pytest.raises(DataError, match="some values are masked"):
        GEO.perturb_one(np.ma.masked, 139.7)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "held", [["35.6", "35.7"], [b"35.6", b"35.7"], [True, False], [35.6, "35.7"], [date(2026, 1, 1)] * 2]
)
def test_what_only_looks_like_a_degree_is_no_position(held: list[Any]) -> None:
    for kind in (None, object):
        for given in ((np.array(held, kind), NORTH), (NORTH, np.array(held, kind))):
            with pytest.raises(InputError, match="degrees as numbers"):
                GEO.perturb_points(*given)
