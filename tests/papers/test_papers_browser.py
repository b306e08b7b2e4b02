"""A real browser, with no network, draws every figure of the papers and is asked for nothing."""

from __future__ import annotations

import pytest
from tests.report.pages import Visit, visit

from leeward.papers import Recomputed, write


@pytest.fixture(scope="module")
def seen(found: Recomputed, tmp_path_factory: pytest.TempPathFactory) -> Visit:
    scratch = tmp_path_factory.mktemp("papers")
    return visit(write(found, scratch), scratch / "browser")


def classes(seen: Visit, name: str) -> int:
    return sum(name in element.attributes.get("class", "").split() for element in seen.page.elements)


@pytest.mark.sweep
def test_every_figure_is_drawn(found: Recomputed, seen: Visit) -> None:
    drawings = [figure.drawing for figure in found.figures if figure.drawing is not None]
    assert classes(seen, "js-plotly-plot") == len(drawings) > 12
    panels = sum(sum(key.startswith("xaxis") for key in drawing.to_dict()["layout"]) for drawing in drawings)
    assert classes(seen, "cartesianlayer") == len(drawings)
    assert classes(seen, "xy") + sum(classes(seen, f"x{n}y{m}") for n in range(2, 7) for m in range(2, 8)) >= panels - 3


@pytest.mark.sweep
def test_maps_are_pictures_and_curves_have_lines(found: Recomputed, seen: Visit) -> None:
    maps = sum(figure.key.startswith(("adp-figure-2", "adp-figure-3")) for figure in found.figures)
    pictures = [e for e in seen.page.all("image") if e.attributes.get("xlink:href", "").startswith("data:image/png")]
    assert len(pictures) == 4 * maps
    wanted = sum(
        len(trace.x) > 0
        for f in found.figures
        if f.drawing is not None
        for trace in f.drawing.select_traces({"mode": "lines"})
    )
    assert classes(seen, "js-line") >= wanted > 60


def test_the_page_has_no_complaints_and_no_wishes(seen: Visit) -> None:
    assert seen.console == []
    assert seen.requests == []
