"""The figures show every located place in the state that was published, and the curve that the statement gives."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.report.conftest import stated

from leeward.errors import InputError
from leeward.report import decision_curve, mapped, places_map


def traces(figure: Any) -> dict[str, Any]:
    return {trace.name: trace for trace in figure.data if trace.name}


def test_each_state_is_one_layer_and_safe_places_lie_above(make_release: Callable[..., Any]) -> None:
    states = ["safe", "obscure", "safe", "dangerous"]
    figure = places_map(make_release(states, latitude=[35, 35.1, 35.3, 35.2], longitude=[139, 139.5, 139.2, 139.4]))
    assert [trace.name for trace in figure.data] == ["obscure (1)", "safe (2)", "dangerous (1)"]
    assert len({trace.marker.color for trace in figure.data}) == 3
    safe = traces(figure)["safe (2)"]
    assert len(safe.x) == 2
    assert safe.y[1] - safe.y[0] == pytest.approx(0.3 * 111.195, rel=1e-4)


def test_a_kilometre_is_as_long_upwards_as_sideways(make_release: Callable[..., Any]) -> None:
    layout = places_map(make_release(["safe", "safe"], latitude=[35, 35.1], longitude=[139, 139.5])).layout
    assert (layout.yaxis.scaleanchor, layout.yaxis.scaleratio) == ("x", 1)


def test_the_scale_bar_is_as_long_as_it_says(make_release: Callable[..., Any]) -> None:
    layout = places_map(make_release(["safe", "safe"], latitude=[35, 35.1], longitude=[139, 139.5])).layout
    bar, label = layout.shapes[0], layout.annotations[0]
    assert label.text == "10 km"
    assert bar.x1 - bar.x0 == pytest.approx(10)
    near = places_map(make_release(["safe", "safe"], latitude=[35, 35.01], longitude=[139, 139.005])).layout
    assert near.annotations[0].text == "100 m"
    assert near.shapes[0].x1 - near.shapes[0].x0 == pytest.approx(0.1)


def test_hover_shows_name_key_and_state_and_never_runs_a_name(make_release: Callable[..., Any]) -> None:
    result = make_release(
        ["safe", "obscure", "obscure"],
        name=["<b>Café</b>", None, "Shop"],
        latitude=[35, 35.1, 35.3],
        longitude=[139, 139.1, 139.4],
        count=[None, 4, None],
        answered=[True, True, False],
    )
    shown = traces(places_map(result))
    assert shown["safe (1)"].text == ("<b>&lt;b&gt;Café&lt;/b&gt;</b><br>p0<br>safe",)
    assert shown["obscure (1)"].text == ("p1<br>obscure, noisy count 4",)
    assert shown["not asked (1)"].text == ("<b>Shop</b><br>p2<br>not asked",)


def test_places_without_coordinates_are_not_drawn(make_release: Callable[..., Any]) -> None:
    result = make_release(
        ["safe", "safe", "obscure", "safe"], latitude=[35, None, 35.2, float("nan")], longitude=[139, 139, 139.1, 139]
    )
    assert mapped(result) == 2
    assert sorted(traces(places_map(result))) == ["obscure (1)", "safe (1)"]


@pytest.mark.parametrize("coordinates", [{}, {"latitude": [None, None], "longitude": [None, None]}])
def test_without_coordinates_there_is_no_map(coordinates: dict[str, Any], make_release: Callable[..., Any]) -> None:
    result = make_release(["safe", "obscure"], **coordinates)
    assert mapped(result) == 0
    with pytest.raises(InputError, match="latitude and longitude"):
        places_map(result)


def test_the_cells_of_a_grid_are_drawn_as_cells(make_release: Callable[..., Any]) -> None:
    north, east = np.mgrid[:4, :6]
    states = ["safe"] * 20 + ["obscure"] * 4
    figure = places_map(make_release(states, latitude=35 + north.ravel() / 100, longitude=139 + east.ravel() / 100))
    heat = figure.data[0]
    assert heat.type == "heatmap"
    assert np.asarray(heat.z).ravel().tolist() == [1.0] * 20 + [0.0] * 4
    assert np.asarray(heat.text).ravel()[[0, 23]].tolist() == ["p0<br>safe", "p23<br>obscure"]
    assert {"safe (20)", "obscure (4)"} <= set(traces(figure))


def test_long_lists_are_drawn_as_shares(make_release: Callable[..., Any]) -> None:
    rng = np.random.default_rng(7)
    states = np.where(rng.random(30_000) < 0.75, "safe", "obscure").tolist()
    figure = places_map(
        make_release(states, latitude=rng.normal(35, 0.1, 30_000), longitude=rng.normal(139, 0.1, 30_000))
    )
    heat = figure.data[0]
    safe, total = np.asarray(heat.customdata).reshape(-1, 2).sum(axis=0)
    assert (safe, total) == (states.count("safe"), 30_000)
    share = np.asarray(heat.z)
    assert np.nanmin(share) == 0
    assert np.nanmax(share) == 1
    assert np.isnan(share).any()
    assert len(json.loads(figure.to_json())["data"]) == 1


def test_the_curve_is_the_statement_s(make_statement: Callable[..., dict[str, Any]]) -> None:
    figure = decision_curve(stated(make_statement(5)))
    shown = traces(figure)
    assert list(shown["said to be safe"].x) == [0, 1, 2, 3, 4, 5, 6]
    assert list(shown["said to be safe"].y) == pytest.approx([0.9502, 0.8647, 0.6321, 0, 0, 0, 0])
    assert "said to be dangerous" not in shown
    assert figure.layout.annotations[0].text == "never called safe"
    assert figure.layout.shapes[0].x0 == 2.5


def test_both_decisions_are_drawn(make_statement: Callable[..., dict[str, Any]]) -> None:
    curve = [{"count": c, "safe": f"{0.9 ** (c + 1):.4g}", "dangerous": f"{0.1 * c:.4g}"} for c in range(7)]
    made = make_statement(5)
    made["decision"] |= {"curve": curve, "dangerous_at_least": 4, "dangerous_never_wrong": False}
    shown = traces(decision_curve(stated(made)))
    assert list(shown["said to be dangerous"].y) == pytest.approx([0.1 * c for c in range(7)])
    assert shown["said to be safe"].y[0] == pytest.approx(0.9)


def test_the_curve_of_a_notion_that_errs_says_how_often_and_is_not_flat(
    make_statement: Callable[..., dict[str, Any]],
) -> None:
    curve = [{"count": c, "safe": f"{0.002 / 3**c:.6g}"} for c in range(5)]
    changed = {
        "safe_at_most": 2,
        "threshold": -5,
        "never_wrong": False,
        "error_at_most": "1/10000",
        "error_at_most_over_all_places": "1/2000",
    }
    figure = decision_curve(stated(make_statement(5, decision={**changed, "curve": curve})))
    assert figure.layout.annotations[0].text == "called safe with at most 0.0001"
    assert figure.layout.yaxis.range[1] < 0.01
    assert traces(figure)["said to be safe"].text[0] == "0.20 %"


def test_long_curves_carry_no_labels_and_short_ones_no_unsafe_side(
    make_statement: Callable[..., dict[str, Any]],
) -> None:
    made = make_statement(5)
    made["decision"] |= {"safe_at_most": 40, "curve": [{"count": c, "safe": "0.5"} for c in range(41)]}
    figure = decision_curve(stated(made))
    assert traces(figure)["said to be safe"].mode == "markers"
    assert not figure.layout.annotations
