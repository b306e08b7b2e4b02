"""The figures show every located place in the state that was published, and the curve that the statement gives."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.report.conftest import stated

from leeward.errors import InputError
from leeward.report import decision_curve, mapped, places_map
from leeward.report._figures import BLUE, GREY, MARKS, RED, SAND


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


@pytest.mark.parametrize("there", [s for n in range(1, 5) for s in itertools.combinations(MARKS, n)], ids="+".join)
def test_each_square_has_the_colour_of_what_is_said_of_it(
    there: tuple[str, ...], make_release: Callable[..., Any]
) -> None:
    """For all words that may occur together: the legend names them all, and no square has the colour of another word."""
    north, east = np.mgrid[:4, :6]
    said = [there[i % len(there)] for i in range(24)]
    figure = places_map(
        make_release(
            ["obscure" if word == "not asked" else word for word in said],
            answered=[word != "not asked" for word in said],
            latitude=35 + north.ravel() / 100,
            longitude=139 + east.ravel() / 100,
        )
    )
    heat = figure.data[0]
    scale = [(float(at), colour) for at, colour in heat.colorscale]
    at = (np.asarray(heat.z).ravel() - heat.zmin) / (heat.zmax - heat.zmin)
    steps = [(one[0], other[0], {one[1], other[1]}) for one, other in zip(scale[::2], scale[1::2], strict=True)]
    inside = [set().union(*(colours for low, high, colours in steps if low < x < high)) for x in at]
    assert inside == [{MARKS[word]["color"]} for word in said]
    assert {name: trace.marker.color for name, trace in traces(figure).items()} == {
        f"{word} ({said.count(word)})": MARKS[word]["color"] for word in there
    }


@pytest.mark.parametrize("word", ["safe", "dangerous"])
def test_no_share_hides_a_danger_or_a_silence(word: str, make_release: Callable[..., Any]) -> None:
    """One lattice of 420 × 420, two of its lines to a square: one danger makes a square stand out, and so does no answer."""
    north, east = (axis.ravel() for axis in np.mgrid[:420, :420])
    states = np.where((north // 2 + east // 2) % 2 == 0, "obscure", word).astype(object)
    states[(north == 0) & (east == 0)] = "dangerous"
    asked = (north > 1) | (east != 5)
    silent = (north // 2 == 1) & (east // 2 == 1)
    there = (north // 2 != 3) | (east // 2 != 3)  # where no place is, nobody is silent
    north, east, states, answered = (each[there] for each in (north, east, states, asked & ~silent))
    result = make_release(
        list(states), answered=list(answered), latitude=35 + north / 1000, longitude=139 + east / 1000
    )
    result.told["decision"] |= {"safe_at_most": None, "never_wrong": None} if word == "dangerous" else {}
    result.told["decision"] |= {"dangerous_at_least": 9, "dangerous_never_wrong": False}
    heat, *others = places_map(result).data
    assert heat.colorbar.title.text == f"share said to be {word}"
    assert [colour for _, colour in heat.colorscale] == [SAND, BLUE if word == "safe" else RED]
    drawn = {
        t.colorscale[0][1]: np.argwhere(~np.isnan(np.asarray(t.z))).tolist() for t in others if t.type == "heatmap"
    }
    assert drawn == {GREY: [[1, 1]]} | ({RED: [[0, 0]]} if word == "safe" else {})
    names = ["nowhere asked", "dangerous somewhere"]
    assert [t.name for t in others if t.name] == names[: 1 + (word == "safe")]
    assert np.asarray(heat.z)[0, 2] == 0
    assert np.asarray(heat.customdata)[0, 2].tolist()[:2] == [0, 4]


def test_the_curve_is_the_statement_s(make_statement: Callable[..., dict[str, Any]]) -> None:
    figure = decision_curve(stated(make_statement(5)))
    shown = traces(figure)
    assert list(shown["said to be safe"].x) == [0, 1, 2, 3, 4, 5, 6]
    assert list(shown["said to be safe"].y) == pytest.approx([0.9502, 0.8647, 0.6321, 0, 0, 0, 0])
    assert "said to be dangerous" not in shown
    assert figure.layout.annotations[0].text == "never called safe"
    assert figure.layout.shapes[0].x0 == 2.5


@pytest.mark.parametrize(("limit", "anchor"), [(0, "left"), (2, "left"), (4, "right"), (5, "right")])
def test_the_words_on_the_unsafe_side_do_not_run_over_the_edge(
    make_statement: Callable[..., dict[str, Any]], limit: int, anchor: str
) -> None:
    """Where that side is narrow they ended beyond the picture."""
    made = make_statement(5)
    made["decision"]["safe_at_most"] = limit
    (words,) = decision_curve(stated(made)).layout.annotations
    assert (words.xanchor, words.x) == (anchor, limit + 0.6 if anchor == "left" else 6.4)


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
