# SPDX-License-Identifier: Apache-2.0
"""The figures of a release, as plotly figures that notebooks can show and the report embeds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from leeward._buffers import as_numpy, numbers
from leeward._plain import at_most, percent
from leeward._statement import DecidingStatement, DecisionStated, SelectionStatement, VisitorStatement
from leeward.errors import InputError
from leeward.planner._people import those_there
from leeward.query._records import Many
from leeward.query._statistic import Noun
from leeward.report._ground import Ground, Squares, is_lattice, round_length, squares
from leeward.report._words import Readable, of_counted

BLUE, SAND, RED, GREY = "#0072b2", "#e2b860", "#d55e00", "#9a958c"
"""Safe, obscure, dangerous and not asked: distinct in any colour vision (after Okabe and Ito), and by size."""

MARKS: Mapping[str, Mapping[str, Any]] = {
    "not asked": {"color": GREY, "size": 5, "symbol": "circle", "opacity": 0.6},
    "obscure": {"color": SAND, "size": 9, "symbol": "circle", "opacity": 0.9},
    "safe": {"color": BLUE, "size": 5, "symbol": "circle", "opacity": 0.75},
    "dangerous": {"color": RED, "size": 8, "symbol": "diamond"},
}
"""How a place is drawn by what is said of it, from the lowest layer up."""

MOST_POINTS = 20_000
"""Lists longer than this are drawn as squares: SVG points would make the page slow, and WebGL is not everywhere."""

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif"
CLEAR = "rgba(0,0,0,0)"
LOOK: Mapping[str, Any] = {
    "template": "none",
    "font": {"family": FONT, "size": 13, "color": "#333"},
    "paper_bgcolor": CLEAR,
    "plot_bgcolor": CLEAR,
    "autosize": True,
}
"""The layout that all figures share."""
ABOVE: Mapping[str, Any] = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"}
"""A legend beside the drawing would take most of a narrow screen."""

_OF_PLACES = {**LOOK, "margin": {"l": 50, "r": 12, "t": 44, "b": 60}, "modebar": {"bgcolor": CLEAR}}


def drawing() -> go.Figure:
    """Return a figure of numbers, with nothing in it yet."""
    return go.Figure(layout={**LOOK, "margin": {"l": 60, "r": 12, "t": 20, "b": 60}})


def mapped(result: Readable) -> int:
    """Return how many places of the public list have coordinates, and so are on the map."""
    if not {"latitude", "longitude"} <= set(result.places.column_names):
        return 0
    return pc.sum(_located(result.places)).as_py() or 0


def places_map(result: Readable) -> go.Figure:
    """Draw what is said of each place, or the one that is named, on a plane in kilometres with a scale bar and no tiles.

    Places are points; the cells of a grid, and lists of more than `MOST_POINTS` places, are squares. Squares of several
    places are coloured by the share of those asked that are said to be safe (dangerous, where that alone is said), but
    those with a dangerous place, and those where none was asked, stand out.

    Raises:
        InputError: no place of the list has coordinates.
    """
    if not mapped(result):
        raise InputError(
            "A map of places without coordinates",
            "nothing says where they are",
            "Name the latitude and longitude columns of the list of places",
        )
    located, places, ground = _laid_out(result)
    answers = None if isinstance(result.statement, SelectionStatement) else result.answers.filter(located)
    if answers is None:
        traces = _named(ground, result.answers, places)
    elif is_lattice(ground) or len(ground.east) > MOST_POINTS:
        assert isinstance(result.statement, VisitorStatement)
        traces = _squares(ground, answers, places, result.statement.decision.said[0][0])
    else:
        traces = _points(ground, answers, places)
    figure = go.Figure(traces)
    east, north = _degrees(ground.longitude, "E", "W"), _degrees(ground.latitude, "N", "S")
    axis: dict[str, Any] = {"zeroline": False, "showgrid": False, "ticks": "outside", "ticklen": 4, "automargin": True}
    figure.update_layout(_OF_PLACES)
    figure.update_layout(
        xaxis={
            **axis,
            "title": {"text": f"km east of {east}"},
            "range": _span(ground.east, ground),
        },
        yaxis={
            **axis,
            "title": {"text": f"km north of {north}"},
            "range": _span(ground.north, ground, strip=0.07),
            "scaleanchor": "x",
            "scaleratio": 1,
        },
        legend={**ABOVE, "itemsizing": "constant"},
        hovermode="closest",
    )
    if joined(figure):  # beside the scale of shares
        figure.update_layout(legend={"orientation": "v", "x": 1, "xanchor": "right"})
    _scale_bar(figure, ground)
    return figure


def places_over_time(result: Readable) -> dict[str, Any] | None:
    """Return what the map of several windows is drawn from: where each place is, and how what is said of it looks.

    None where squares hold several places: a share that is drawn anew for each window would hide what stands out.
    """
    located, places, ground = _laid_out(result)
    shared = {"row": np.flatnonzero(as_numpy(located)).tolist(), "marks": MARKS}
    if is_lattice(ground) or len(ground.east) > MOST_POINTS:
        cells = squares(ground)
        if not cells.one_each:
            return None
        lines = {"x": cells.east.round(4).tolist(), "y": cells.north.round(4).tolist()}
        sizes = {"across": len(cells.east), "down": len(cells.north)}
        text = _labels(places).tolist() if len(places) <= MOST_POINTS else None
        return {**shared, "cells": cells.index.tolist(), "text": text, **lines, **sizes}
    larger = _larger(len(places))
    marks = {state: {**mark, "size": round(mark["size"] * larger, 1)} for state, mark in MARKS.items()}
    where = {"east": ground.east.round(3).tolist(), "north": ground.north.round(3).tolist()}
    return {**shared, "marks": marks, **where, "text": _labels(places).tolist()}


def _larger(places: int) -> float:
    return min(2.0, max(1.0, math.sqrt(math.sqrt(4_000 / places))))


def joined(figure: go.Figure) -> bool:
    """Whether a map has squares of several places."""
    return bool(figure.data[0].type == "heatmap" and figure.data[0].showscale)


def decision_curve(statement: DecidingStatement) -> go.Figure:
    """Draw the chance that a place with c people is said to be safe, and dangerous, over the true count c.

    Args:
        statement: a privacy statement as in release.json; only ``decision`` is read, and what is counted where.
    """
    noun, many = statement.query.noun, statement.query.many
    return chances(statement.decision, of_whom=axis_of(noun, many, counted=of_counted(statement)), many=many)


def axis_of(noun: Noun, many: Many, *, counted: bool) -> str:
    """Say of whom an axis of true counts is: of all who were there, or of those who are counted there."""
    return "people who were there" if noun == "place" and not counted else those_there(noun, many, counted=counted)


def chances(decision: DecisionStated, *, of_whom: str, many: Many) -> go.Figure:
    """Draw how often each word is said, over the true count; see `decision_curve`."""
    counts = [entry.count for entry in decision.curve]
    first, last, few = min(counts, default=0), max(counts, default=0), len(counts) <= 14
    figure = go.Figure(layout=_OF_PLACES)
    highest = 0.0
    for state, colour, symbol, each in (
        ("safe", BLUE, "circle", [entry.safe for entry in decision.curve]),
        ("dangerous", RED, "diamond", [entry.dangerous for entry in decision.curve]),
    ):
        exact = [chance for chance in each if chance is not None]
        if exact:
            highest = max(highest, *map(float, exact))
            figure.add_traces(_stems(counts, exact, f"said to be {state}", (colour, symbol), few, many))
    # chances that are all small (two-sided notions at many places) get an axis of their own size, or nothing is seen
    top = 1.0 if highest > 0.1 else highest or 1.0
    limit = decision.safe_at_most
    if limit is not None and last > limit:
        never = "never called safe"
        often = f"called safe with at most {at_most(float(Fraction(decision.error_at_most or '0')), 6)}"
        figure.add_vrect(x0=limit + 0.5, x1=last + 0.5, fillcolor=RED, opacity=0.09, line_width=0, layer="below")
        wide = 2 * (last - limit) > last - first  # or the words would run over the edge
        figure.add_annotation(
            x=limit + 0.6 if wide else last + 0.4,
            y=1.13 * top,
            text=never if decision.never_wrong else often,
            xanchor="left" if wide else "right",
            showarrow=False,
        )
    figure.update_layout(
        xaxis={
            "title": {"text": f"{of_whom} (true count)", "standoff": 12},
            "range": [first - 0.5, last + 0.5],
            "dtick": 1 if few else None,
            "zeroline": False,
            "showgrid": False,
            "fixedrange": True,
        },
        yaxis={
            "title": {"text": "chance", "standoff": 12},
            "automargin": True,
            "range": [-0.04 * top, 1.22 * top],
            "tickvals": [0, 0.25, 0.5, 0.75, 1] if top == 1 else None,
            "tickformat": ".0%" if top == 1 else ".1~%",
            "zeroline": True,
            "fixedrange": True,
        },
        legend=ABOVE,
    )
    return figure


def _stems(
    counts: list[int], exact: list[str], name: str, mark: tuple[str, str], few: bool, many: Many
) -> tuple[go.Scatter, go.Scatter]:
    colour, symbol = mark
    chances = [float(chance) for chance in exact]
    written = [percent(chance) for chance in exact]
    short = {"under": "≈ 0 %", "over": "≈ 100 %"}
    stems = go.Scatter(
        x=[x for count in counts for x in (count, count, None)],
        y=[y for chance in chances for y in (0, chance, None)],
        mode="lines",
        line={"color": colour, "width": 2.5 if few else 1},
        hoverinfo="skip",
        showlegend=False,
    )
    heads = go.Scatter(
        x=counts,
        y=chances,
        mode="markers+text" if few else "markers",
        marker={"color": colour, "size": 10 if few else 5, "symbol": symbol},
        text=[short.get(text.split()[0], text) for text in written],
        textposition="top center",
        customdata=exact,
        hovertemplate=f"%{{x}} {many}: %{{customdata}}<extra></extra>",
        name=name,
        cliponaxis=False,
    )
    return stems, heads


def _laid_out(result: Readable) -> tuple[pa.ChunkedArray, pa.Table, Ground]:
    """Return which places of the public list have coordinates, these places, and where they lie."""
    located = _located(result.places)
    places = result.places.filter(located)
    return located, places, Ground.of(*(as_numpy(places[axis]).astype(float) for axis in ("latitude", "longitude")))


def _located(places: pa.Table) -> pa.ChunkedArray:
    both = pc.and_(pc.is_finite(places["latitude"]), pc.is_finite(places["longitude"]))
    return pc.coalesce(both, numbers(np.zeros(len(both), bool)))


def _labels(table: pa.Table) -> NDArray[np.object_]:
    """Name places for the hover box, which reads a few HTML tags: escaped, so that a name stays a name."""
    keys = [escape(str(key)) for key in table["place"].to_pylist()]
    if "name" not in table.column_names:
        return np.array(keys, dtype=object)
    names = table["name"].to_pylist()
    return np.array(
        [f"<b>{escape(str(name))}</b><br>{key}" if name else key for name, key in zip(names, keys, strict=True)],
        dtype=object,
    )


def _points(ground: Ground, answers: pa.Table, places: pa.Table) -> list[go.Scatter]:
    states = _states(answers)
    larger = _larger(len(states))
    said = _said(answers)
    labels = _labels(places)
    traces = []
    for state, mark in MARKS.items():
        here = np.flatnonzero(states == state)
        if len(here):
            text = [f"{labels[i]}<br>{said[i]}" for i in here]
            traces.append(_dots(ground, here, {**mark, "size": round(mark["size"] * larger, 1)}, state, text))
    return traces


def _dots(ground: Ground, which: NDArray[Any], mark: Mapping[str, Any], state: str, text: Sequence[str]) -> go.Scatter:
    return go.Scatter(
        x=ground.east[which].round(3).astype(np.float32),
        y=ground.north[which].round(3).astype(np.float32),
        mode="markers",
        marker=dict(mark),
        name=f"{state} ({len(text):,})",
        text=text,
        hovertemplate="%{text}<extra></extra>",
    )


def _named(ground: Ground, answers: pa.Table, places: pa.Table) -> list[go.Scatter]:
    """Draw the place that is named above the others, and the others if they are not too many."""
    labels = _labels(places)
    here = as_numpy(pc.equal(places["place"], answers["place"][0]))
    marks: dict[str, tuple[Any, Mapping[str, Any]]] = {
        "named": (here, {"color": BLUE, "size": 14, "symbol": "diamond"})
    }
    if len(places) <= MOST_POINTS:
        marks = {"not named": (~here, MARKS["not asked"])} | marks
    return [
        _dots(ground, which, mark, state, [f"{label}<br>{state}" for label in labels[which]])
        for state, (which, mark) in marks.items()
        if which.any()
    ]


def _said(answers: pa.Table) -> list[str]:
    """Say what was answered about each place: the state, the noisy count, or that it was not asked."""
    said: list[str] = answers["state"].to_pylist()
    if "count" in answers.column_names:
        counts = answers["count"].to_pylist()
        said = [
            f"{word}, noisy count {count}" if count is not None else word
            for word, count in zip(said, counts, strict=True)
        ]
    if "answered" in answers.column_names:
        asked = answers["answered"].to_pylist()
        said = [word if yes else "not asked" for word, yes in zip(said, asked, strict=True)]
    return said


def _states(answers: pa.Table) -> NDArray[np.object_]:
    """Return what is said of each place: one of `MARKS`."""
    states = np.array(answers["state"].to_pylist(), dtype=object)
    if "answered" in answers.column_names:
        states[~as_numpy(answers["answered"])] = "not asked"
    return np.asarray(states, object)


def _squares(ground: Ground, answers: pa.Table, places: pa.Table, asked: str) -> list[go.Heatmap | go.Scatter]:
    """Draw places as squares: in the colour of what is said of each, or of several together."""
    cells, states = squares(ground), _states(answers)
    if not cells.one_each:
        return _shares(cells, states, asked)
    there = [state for state in MARKS if (states == state).any()]
    drawn = np.full(len(cells.north) * len(cells.east), np.nan, np.float32)
    drawn[cells.index] = [there.index(state) for state in states]
    steps = [[(i + end) / len(there), MARKS[state]["color"]] for i, state in enumerate(there) for end in (0, 1)]
    heat = _heat(cells, drawn.reshape(len(cells.north), -1), steps, (-0.5, len(there) - 0.5)).update(hoverinfo="skip")
    if len(places) <= MOST_POINTS:
        text = np.full(drawn.size, "", dtype=object)
        text[cells.index] = [f"{label}<br>{word}" for label, word in zip(_labels(places), _said(answers), strict=True)]
        heat.update(text=text.reshape(len(cells.north), -1), hovertemplate="%{text}<extra></extra>", hoverinfo="text")
    return [heat, *(_key(f"{state} ({(states == state).sum():,})", state) for state in there)]


def _shares(cells: Squares, states: NDArray[np.object_], asked: str) -> list[go.Heatmap | go.Scatter]:
    """Draw squares of several places by the share of one word, under what no share may hide: danger, and silence."""
    count = {state: cells.total(states == state) for state in MARKS}
    total = cells.total()
    of = total - count["not asked"]
    share = np.divide(count[asked], of, out=np.where(total > 0, 0.0, np.nan), where=of > 0)
    heat = _heat(cells, share.astype(np.float32), [[0, SAND], [1, MARKS[asked]["color"]]], (0, 1))
    others = {"dangerous": "said to be dangerous", "not asked": "not asked"}
    others = {state: said for state, said in others.items() if state != asked and count[state].any()}
    more = "".join(f"<br>%{{customdata[{2 + i}]}} {said}" for i, said in enumerate(others.values()))
    heat.update(
        showscale=True,
        customdata=np.stack([count[asked], total, *(count[state] for state in others)], axis=-1).astype(np.int32),
        hovertemplate=f"%{{customdata[0]}} of %{{customdata[1]}} places here are said to be {asked}{more}<extra></extra>",
        colorbar={
            "title": {"text": f"share said to be {asked}", "side": "top"},
            "orientation": "h",
            "x": 0,
            "xanchor": "left",
            "y": 1.01,
            "yanchor": "bottom",
            "len": 0.5,
            "thickness": 10,
            "tickformat": ".0%",
            "tickvals": [0, 0.5, 1],
        },
    )
    traces: list[go.Heatmap | go.Scatter] = [heat]
    silent = (total > 0) & (of == 0)
    for state, name, here in (
        ("not asked", "nowhere asked", silent),
        ("dangerous", "dangerous somewhere", count["dangerous"] > 0),
    ):
        if state in others and here.any():
            colour = MARKS[state]["color"]
            over = _heat(cells, np.where(here, 1.0, np.nan).astype(np.float32), [[0, colour], [1, colour]], (0, 1))
            traces += [over.update(hoverinfo="skip"), _key(name, state)]
    return traces


def _heat(cells: Squares, z: NDArray[np.float32], scale: list[list[Any]], ends: tuple[float, float]) -> go.Heatmap:
    return go.Heatmap(
        x=cells.east.round(4),
        y=cells.north.round(4),
        z=z,
        zmin=ends[0],
        zmax=ends[1],
        hoverongaps=False,
        colorscale=scale,
        showscale=False,
    )


def _key(name: str, state: str) -> go.Scatter:
    """Return an entry of the legend alone."""
    return go.Scatter(
        x=[None],
        y=[None],
        mode="markers",
        marker={"symbol": "square", "size": 11, "color": MARKS[state]["color"]},
        name=name,
        hoverinfo="skip",
    )


def _span(axis: NDArray[np.float64], ground: Ground, strip: float = 0) -> list[float]:
    """Return the range of an axis: its places, a margin of 4 % (at least 50 metres), and a strip before them."""
    size = max(ground.width, ground.height, 1.25)
    return [float(axis.min() - (0.04 + strip) * size), float(axis.max() + 0.04 * size)]


def _degrees(angle: float, positive: str, negative: str) -> str:
    return f"{abs(angle):.3f}° {positive if angle >= 0 else negative}"


def _scale_bar(figure: go.Figure, ground: Ground) -> None:
    """Draw the first shape and annotation of the figure: the report's script moves them when the reader zooms."""
    left, right = _span(ground.east, ground)
    length = round_length((right - left) / 4)
    start = left + 0.03 * (right - left)
    figure.add_shape(
        type="line",
        name="scale",
        xref="x",
        yref="paper",
        x0=start,
        x1=start + length,
        y0=0.035,
        y1=0.035,
        line={"width": 4, "color": "#444"},
    )
    figure.add_annotation(
        name="scale",
        xref="x",
        yref="paper",
        x=start + length / 2,
        y=0.045,
        yanchor="bottom",
        showarrow=False,
        bgcolor="rgba(255,255,255,0.8)",
        borderpad=1,
        text=f"{length:g} km" if length >= 1 else f"{length * 1000:g} m",
    )
