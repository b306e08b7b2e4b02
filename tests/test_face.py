"""The Python face as a whole: one session, from a question to its answer and from a definition to its proof."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

import leeward as lw


def test_the_main_job(tmp_path: Path) -> None:
    at = pd.Timestamp("2012-04-04T19:30")
    rows = [(f"u{i}", "park", at) for i in range(9)] + [("u1", "shop", at + pd.Timedelta(minutes=5))]
    pd.DataFrame(rows, columns=["user", "venue", "jst"]).to_parquet(tmp_path / "visits.parquet")
    spots = [("park", 35.67, 139.75), ("shop", 35.68, 139.76), ("moor", 35.69, 139.77)]
    pd.DataFrame(spots, columns=["venue", "lat", "lon"]).to_parquet(tmp_path / "places.parquet")

    visits = lw.visits(tmp_path / "visits.parquet", person="user", place="venue", time="jst")
    places = lw.places(tmp_path / "places.parquet", place="venue", latitude="lat", longitude="lon")
    hour = {"start": "2012-04-04T19:00", "end": "2012-04-04T20:00"}
    query = lw.count_visitors(visits, places, **hour, places_per_person=1, if_more="latest")
    plan = lw.plan(query, lw.AdditionOnly("20"), lw.Decide(safe_at_most=2))
    assert "safe: at most 2 people, counted after the bound on places per person, never wrong" in str(plan)

    budget = lw.Budget(f"sqlite:///{tmp_path / 'budget.db'}", dataset="tokyo-checkins", cap="50")
    result = lw.release(lw.plan(query, lw.AdditionOnly("20"), lw.Decide(safe_at_most=2)), budget)
    states = dict(result.to_pandas()[["place", "state"]].itertuples(index=False))
    assert states == {"park": "obscure", "shop": "safe", "moor": "safe"}  # but for a chance of 1e-17
    assert result.statement.price == "20"
    assert {"safe (2)", "obscure (1)"} <= {trace.name for trace in result.map().data}
    assert {path.name for path in result.save(tmp_path / "out").iterdir()} >= {"answers.parquet", "report.html"}


def test_notions_are_directed_distances() -> None:
    adp = lw.ADP("1", policies=[~lw.has("a"), ~lw.has("b")])
    assert lw.AdditionOnly("1/2") + lw.AdditionOnly("1/2") == lw.AdditionOnly("1")
    assert lw.both_hold(lw.AdditionOnly("1"), lw.RemovalOnly("1")) == lw.UnboundedDP("1")
    assert (lw.BoundedDP("1").price_in(adp), adp.price_in(lw.BoundedDP("1"))) == (1, lw.inf)
    assert lw.notion.Graded(presence="1", absence="4").record(frozenset("a"), frozenset()) == 1


def test_mechanisms_come_with_proofs() -> None:
    line = lw.Line(rise=lw.inf, fall="1")
    agm = lw.Geometric(line, lower=0, upper=100)
    counts = np.array([0, 3, 100])
    assert (agm.release(counts) >= counts).all()
    assert agm.pmf(3)[3] == 1 - lw.exact.exp(-1)
    assert agm.expected_error() == 1 / (lw.exact.exp(1) - 1)
    assert agm.sanitizer(at_most=2).curve()[2] == 1 - lw.exact.exp(-1)
    proved = lw.verify(agm, line)
    assert proved
    assert proved.tight
    assert not lw.verify(agm, line.reverse())
    small = lw.Geometric(line, lower=0, upper=5)
    assert lw.analysis.remap(small, prior="uniform", loss="absolute").loss <= lw.analysis.expected_loss(small)
    optimum = lw.optimal(range(6), line)
    assert optimum.verdict
    assert optimum.bound <= float(lw.analysis.expected_loss(small))
    assert lw.risk(small, prior="uniform", about=lambda count: count >= 1).at_most(lw.exact.exp(5))
    found = lw.verification.audit(small.release, 1, 0, samples=200)
    assert found.lower_bound < 1.5  # one draw: the truth is 1, and the bound errs once in a thousand


def test_points_in_the_plane() -> None:
    tokyo = lw.Box(west=139.6, south=35.5, east=139.9, north=35.8)
    geo = lw.PlanarLaplace(within="200 m", factor=2, box=tokyo)
    latitude, longitude = geo.perturb_one(35.68, 139.77)
    assert tokyo.south <= latitude <= tokyo.north
    assert tokyo.west <= longitude <= tokyo.east


OF_RECORDS = {"records", "before", "after", "tables", "points", "x", "y", "per_person", "about", "other"}
"""Arguments that are records, tables of them, or distances between them: these are of whatever type a notion's user has."""


def said_of(name: str, found: object) -> Iterator[tuple[str, str, str]]:
    """Each argument of a function, or of the constructor and the public methods of a class: where, its name and its type."""
    if inspect.isclass(found):
        for kind in found.__mro__:
            if kind.__module__.startswith("leeward"):
                for method, held in vars(kind).items():
                    if method in {"__init__", "__call__"} or not method.startswith("_"):
                        yield from said_of(f"{name}.{method}", getattr(held, "fget", getattr(held, "__func__", held)))
    elif inspect.isfunction(found):
        for argument, said in inspect.unwrap(found).__annotations__.items():
            yield name, argument, str(said)


def test_a_signature_of_the_face_says_what_may_be_given_and_what_is_returned() -> None:
    said = [one for name in lw.__all__ for one in said_of(name, getattr(lw, name))]
    assert len(said) > 300
    untold = {(where, argument) for where, argument, kind in said if re.search(r"\bAny\b", kind)}
    distances = {(where, argument) for where, argument in untold if where.endswith((".on", ".reverse"))}
    assert {pair for pair in untold - distances if pair[1] not in OF_RECORDS} == set()
