"""No repr, pickle, copy, notebook, log, exception, ledger or folder of any public object holds a value of the data.

A session makes every public object that is made from a table, out of tables full of canaries; then all of them, and whatever
they lead to, are printed, pickled and copied, and every file that was written is searched. What goes out on purpose (the
perturbed table with its other columns) is left aside, by name.
"""

from __future__ import annotations

import importlib
import inspect
import io
import logging
import pickle
import pkgutil
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.asking import statistic_by
from tests.flat_series import flat_series
from tests.ledger.single import peek
from tests.private_files import write_private
from tests.shown import canaries
from tests.shown.canaries import AT, LATITUDE, LONGITUDE, NUMBER, OTHER, PERSON, PLACE

import leeward as lw
from leeward._private import Private
from leeward.cli import LeewardError
from leeward.engine import open_data, read_keys
from leeward.errors import RefusedError
from leeward.ledger import DrawnAnswer, Ledger, MemoizedReports, PersonBudgets, Request
from leeward.local import check_job
from leeward.local._levels import LevelsOfPeople
from leeward.local.location._clamped import Clamped
from leeward.local.location._formats import open_positions
from leeward.local.location._own_reports import OwnReports
from leeward.local.location._paid_rows import PaidRows
from leeward.local.location._rows_seen import RowsSeen
from leeward.local.location._tracks import TrackPlace, Tracks, TracksOfPeople
from leeward.local.series._attack_table import Held, seen_readings
from leeward.local.series._files import ReadingsFile
from leeward.local.series._readings import Columns, read_readings
from leeward.local.series._repeats import Remembered, Repeat
from leeward.local.series._routes import routes
from leeward.planner import answer_report
from leeward.query import Source
from leeward.query._left_out import MostLeftOut
from leeward.session._check import check_planned
from leeward.session._dry_run import dry_run
from leeward.session._question import question as question_of
from leeward.session._release import release_planned
from leeward.session._result import CuratorNotes, saving
from leeward.session._session import Session, answer
from leeward.session._together import together
from leeward.spec import check_spec
from leeward.tables._detected import detected
from leeward.tables._files import File
from leeward.tables._frames import frame_of
from leeward.tables._held import held_columns
from leeward.tables._preview import preview
from leeward.tables._rows import open_rows

SPEC: dict[str, Any] = {
    "data": {"visits": "visits.parquet", "person": "person", "place": "place", "time": "at"},
    "places": {"table": "places.parquet", "place": "place", "name": "name"},
    "window": {"start": "2031-07-19T13:00", "end": "2031-07-19T14:00"},
    "protect": {"notion": "addition-only", "epsilon": "1", "places_per_person": 1, "if_more": "latest"},
    "decide": {"safe_at_most": 2},
    "budget": {"ledger": "sqlite:///spec.db", "dataset": "town", "cap": "9"},
}
BOX = (139.3, 35.3, 140.2, 36.1)


@dataclass
class LongSession:
    """What a long session holds at its end, what it wrote on purpose, and what was logged and warned of."""

    folder: Path
    names: dict[str, Any] = field(default_factory=dict)
    on_purpose: set[Path] = field(default_factory=set)
    said: io.StringIO = field(default_factory=io.StringIO)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> LongSession:
    made = LongSession(tmp_path_factory.mktemp("session"))
    (made.folder / "temp").mkdir()
    handler = logging.StreamHandler(made.said)
    root, level = logging.getLogger(), logging.getLogger().level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        patch.setattr("tempfile.tempdir", str(made.folder / "temp"))
        patch.chdir(made.folder)
        _visitors(made)
        _numbers(made)
        _files(made)
        _locations(made)
        _series(made)
    root.removeHandler(handler)
    root.setLevel(level)
    made.said.write("\n".join(str(one.message) for one in warned))
    return made


def _visitors(made: LongSession) -> None:
    held, folder = made.names, made.folder
    places = lw.places(canaries.listed(), place="place", name="name")
    window = {"start": AT.floor("h").to_pydatetime(), "end": AT.ceil("h").to_pydatetime()}
    for name, source in canaries.sources(folder).items():
        visits = lw.visits(source, person="person", place="place", time="at")
        query = lw.count_visitors(visits, places, **window, places_per_person=1, if_more="latest")
        budget = lw.Budget(f"sqlite:///{folder / 'budget.db'}", dataset=name, cap="50", new=True)
        plan = lw.plan(query, lw.AdditionOnly("1"), lw.Decide(safe_at_most=2))
        result = lw.release(lw.plan(query, lw.AdditionOnly("1"), lw.Decide(safe_at_most=2), what="counts"), budget)
        held |= {
            f"visits of {name}": visits,
            f"query of {name}": query,
            f"plan of {name}": plan,
            f"result of {name}": result,
        }
        result.save(folder / f"release of {name}")
        result.to_csv(folder / f"{name}.answers.csv")
        result.to_parquet(folder / f"{name}.answers.parquet")
    on_grid = lw.grid(west=139.7, south=35.6, east=139.8, north=35.7, metres=1000)
    on_map = lw.visits(
        canaries.visits(), person="person", time="at", latitude="lat", longitude="lon", keep={"other": [OTHER[:3]]}
    )
    cells = lw.count_visitors(on_map, on_grid, **window)
    watched = lw.plan(query, lw.AdditionOnly("1"), lw.Decide(safe_at_most=2), mechanism="sanitized", stop_after=2)
    looking = lw.plan(query, lw.AdditionOnly("1"), lw.Decide(safe_at_most=2), mechanism="adaptive", stop_after=2)
    of_all = lw.plan(query, lw.AdditionOnly("1"), lw.Decide(safe_at_most=2, about="everyone"))
    compared = lw.compare(query, lw.AdditionOnly("1"), lw.Decide(safe_at_most=2))
    several = lw.compare(
        query,
        lw.AdditionOnly("1"),
        lw.Decide(safe_at_most=2),
        scenario=lw.planner.Scenario(counts={0: 2, 3: 1}, releases=2),
    )
    naming = lw.plan(lw.select(query), lw.AdditionOnly("1"))
    beside = lw.planner.Scenario(counts={0: 2, 3: 1}, places=3)
    names = lw.compare(lw.select(query), lw.AdditionOnly("1"), scenario=beside)
    keys = read_keys(query)
    with open_data(query, keys) as table, Session(query, budget) as session:
        counted = table.count(query)
        (priced,) = session.price([plan])
        (paid,) = answer([(session, priced)])
        held["counts"] = session.count(priced)
        held["content"], held["look"] = table.content(bytes(32)), table.look(query)
        held["survey"], held["checked"] = table.survey(query), check_planned([plan], budget)
        held["coarse"] = table.coarse([query.window])
        held |= {
            "table": table,
            "bound": table._bound,
            "counted": counted,
            "session": session,
            "priced": priced,
            "paid": paid,
            "keys": keys,
        }
        held["printed inside"] = canaries.printed(table) + canaries.printed(table._bound)
    ledger = Ledger(budget.ledger)
    request = Request(
        dataset=budget.dataset,
        version="k",
        key="k",
        cost=Fraction(1),
        cap=None,
        notion="addition-only/person",
        content=held["content"],
    )
    with ledger.reserve([request]) as claim:
        claim.store([DrawnAnswer(b"answer")])
    held |= {
        "claim": claim,
        "reserved": claim.releases[0],
        "drawn": DrawnAnswer(b"answer"),
        "request": request,
        "answer": peek(ledger, budget.dataset, "k", "k"),
        "places": places,
        "cells": cells,
        "cells planned": lw.plan(cells, lw.AdditionOnly("1"), lw.Decide(safe_at_most=2)),
        "cells read": read_keys(cells),
        "compared": compared,
        "recommended": lw.recommend(compared),
        "plan report": lw.planner.plan_report(several),
        "watch": lw.monitor([watched], replace(budget, dataset="watched")),
        "several": release_planned([plan], budget),
        "named": lw.release(naming, replace(budget, dataset="named")),
        "naming": (naming, naming.listing(3).accuracy(), names, lw.planner.name_report(names)),
        "looked at": lw.release(looking, replace(budget, dataset="looked-at")),
        "of everyone": lw.release(of_all, replace(budget, dataset="of-everyone")),
        "left out": MostLeftOut(query),
        "budget": budget,
        "ledger": ledger,
        "account": ledger.show(),
        "history": ledger.history(),
        "window": query.window,
        "questions": [
            question_of(one, keys.digest())
            for one in (
                plan,
                watched,
                looking,
                of_all,
                naming,
                lw.plan(cells, lw.AdditionOnly("1"), lw.Decide(safe_at_most=2)),
            )
        ],
        "figure": repr(plan) + str(compared) + repr(naming) + str(names),
    }
    with saving(folder / "two releases", ["one", "two"]) as save:
        save([result, result])


def _numbers(made: LongSession) -> None:
    held, folder = made.names, made.folder
    budget = lw.Budget(f"sqlite:///{folder / 'numbers.db'}", dataset="numbers", cap="500", new=True)
    for combine in ("refuse", "sum"):
        records = lw.records(canaries.visits(), person="person", combine=combine)
        bounds = {"column": "number", "lower": 0, "upper": 10}
        asked = {kind: statistic_by(records, kind, **bounds) for kind in ("sum", "mean", "median", "min", "max")}
        asked["percentile"] = statistic_by(records, "percentile", p="90", **bounds)
        asked["groups"] = lw.statistic(records, "histogram", by={"place": ["market", "pool"]})
        for kind, question in asked.items():
            planned = lw.plan(question, lw.UnboundedDP("1"))
            done = lw.release(
                lw.plan(question, lw.UnboundedDP("1")),
                replace(budget, version=combine),
                if_doubtful="publish",  # the bounds lie far from the canary
                accept_useless=True,
            )
            held |= {
                f"{kind} {combine}": question,
                f"{kind} {combine} planned": planned,
                f"{kind} {combine} accuracy": planned.accuracy(),
                f"{kind} {combine} key": question_of(planned, ""),
                f"{kind} {combine} done": done,
            }
            done.save(folder / f"{kind} {combine}")
    compared = lw.compare(asked["mean"], lw.UnboundedDP("1"))
    held |= {"answers compared": compared, "answers told": answer_report(compared)}
    held["dry run"] = dry_run([lw.plan(asked["sum"], lw.UnboundedDP("1"))], budget)
    timed = lw.records(canaries.visits(), person="person", combine="sum", time="at")
    day = statistic_by(timed, "sum", **bounds, start=AT.floor("D").to_pydatetime(), end=AT.ceil("D").to_pydatetime())
    within = lw.plan(day, lw.UnboundedDP("1"))
    held |= {"timed": timed, "day": day, "day planned": within, "day key": question_of(within, "")}
    held["day released"] = lw.release(
        within, replace(budget, version="day"), if_doubtful="publish", accept_useless=True
    )
    with open_data(asked["sum"], read_keys(asked["sum"])) as table:
        held |= {"numbers": table, "look at numbers": table.look(asked["sum"]), "beyond": table.beyond(asked["sum"])}
        held |= {"tally": table.count(asked["sum"]), "groups read": read_keys(asked["groups"])}
    _unlisted(made)


def _unlisted(made: LongSession) -> None:
    """Groups that nobody has listed, of which none has enough people to be shown; but for one run in 10^10."""
    held, folder = made.names, made.folder
    table = lw.records(canaries.visits(4), person="person", time="at")
    asked = lw.unlisted_groups(table, "place", groups_per_person=2, if_more="first")
    planned = lw.plan(asked, lw.AdditionOnly("1"), delta="1e-12")
    assert float(planned.accuracy().odds[1].chance) < 1e-11  # of a group of two, the most here
    budget = lw.Budget(f"sqlite:///{folder / 'unlisted.db'}", dataset="unlisted", cap="5", cap_delta="1e-5")
    done = lw.release(planned, budget)
    assert done.answers.num_rows == 0
    done.save(folder / "unlisted")
    held |= {"unlisted": asked, "unlisted planned": planned, "unlisted accuracy": planned.accuracy()}
    held |= {
        "unlisted key": question_of(planned, ""),
        "unlisted done": done,
        "unlisted look": lw.check(planned, budget),
    }
    with open_data(asked, read_keys(asked)) as opened:
        held |= {"unlisted table": opened, "unlisted keys": read_keys(asked)}
        held |= {"unlisted counts": opened.exactly(asked, "groups"), "unlisted seen": opened.look(asked)}
    with together({"one": [planned]}, budget) as several:
        held["together"] = several


def _files(made: LongSession) -> None:
    folder = made.folder
    found = made.names["detected"] = detected(str(folder / "visits.csv"))
    made.names["preview"] = preview(str(folder / "visits.csv"), found)
    canaries.visits().to_parquet(folder / "visits.parquet")
    canaries.listed().drop(columns="note").to_parquet(folder / "places.parquet")
    made.names["held"] = held_columns("parquet", File.of(folder / "visits.parquet"), None, ["person", "place"])
    spec = check_spec(SPEC, folder=folder)
    made.names |= {"spec": spec, "spec's plans": spec.plans(), "spec's budget": spec.ledger()}
    made.names["spec's release"] = release_planned(spec.plans(), spec.ledger())


def _locations(made: LongSession) -> None:
    import geopandas

    held, folder, frame = made.names, made.folder, canaries.visits()
    geo = lw.PlanarLaplace(box=BOX, within="200 m", factor=2)
    best, over = geo.best_over([35.65, 35.7], [139.7, 139.8])
    held |= {"geo": geo, "remapped": geo.to_places([35.65, 35.7], [139.7, 139.8]), "best": best, "best over": over}
    held |= {"h3": geo.to_h3(7), "stated": geo.statement()}
    points = geopandas.GeoDataFrame(
        frame[["person", "at"]], geometry=geopandas.points_from_xy(frame.lon, frame.lat), crs=4326
    )
    for table, columns in (
        (frame, {"latitude": "lat", "longitude": "lon"}),
        (pa.Table.from_pandas(frame), {"latitude": "lat", "longitude": "lon"}),
        (points, {}),
    ):
        geo.perturb(table, **columns)
    write_private(folder / "people.key", bytes(range(32)))
    for kind in ("parquet", "csv", "geojson"):
        if kind == "geojson":
            points.assign(at=points["at"].astype(str)).to_file(folder / "positions.geojson", driver="GeoJSON")
        given: dict[str, Any] = {
            "perturb": {"kind": "location"},
            "data": {
                "table": f"positions.{kind}" if kind == "geojson" else f"visits.{kind}",
                "person": "person",
                "time": "at",
            },
            "box": dict(zip(("west", "south", "east", "north"), BOX, strict=True)),
            "protect": {"within": "200 m", "factor": "2"},
            "budget": {"store": "people.db", "secret": "people.key", "reports_a_day": 9},
            "repeat": {"store": f"memo-{kind}.db", "secret": "people.key"},
            "output": {"map": True},
        }
        if kind != "geojson":
            given["data"] |= {"latitude": "lat", "longitude": "lon"}
        job = check_job(given, folder=folder)
        out = folder / f"reports.{kind}"
        held |= {
            f"job {kind}": job,
            f"opens {kind}": job.opens(),
            f"written {kind}": (written := job.run(out, lambda *_: None, new=True)),
        }
        held[f"printed {kind}"] = written.public()
        made.on_purpose.add(out)
        columns = (None, None) if kind == "geojson" else ("lat", "lon")
        file = open_positions(folder / given["data"]["table"], *columns)
        held |= {f"file {kind}": file, "paid rows": (paid := PaidRows()), "clamped": (clamped := Clamped(job.geo.box))}
        clamped.take(np.array([35.6]), np.array([139.7]))
        protect: dict[str, Any] = {"within": "200 m", "factor": "2", "level": "tier"}
        protect["levels"] = {"usual": {}, "careful": {"within": "1 km"}}
        shared = {"store": f"own-{kind}.db", "secret": "people.key", "a_day": {"within": "10 m", "factor": "9"}}
        other = check_job({**given, "protect": protect, "budget": shared}, folder=folder)
        held |= {f"stated levels {kind}": other.statement(), f"budgets of levels {kind}": other._budgets(new=True)}
        held |= {
            f"job of levels {kind}": other,
            "one level": (alike := LevelsOfPeople("tier", ["usual"], "where they are")),
        }
        north, east, extra = next(iter(file.positions(["person"])))
        paid.append(np.isfinite(north), north, east, extra)
        alike.check(["usual"] * len(north), extra[0])
    points.assign(at=points["at"].astype(str)).to_file(folder / "positions.geojsonl", driver="GeoJSONSeq")
    held["file by lines"] = open_positions(folder / "positions.geojsonl", None, None)
    secret = bytes(range(32))
    _tracks(made, geo)
    held["memo"] = MemoizedReports(folder / "memo.db", key=secret, law="l", new=True)
    held["people"] = PersonBudgets(folder / "own.db", secret=secret, price="1", reports_a_day=3, new=True)


def _tracks(made: LongSession, geo: lw.PlanarLaplace) -> None:
    held, folder = made.names, made.folder
    limit = {"within": "200 m", "factor": "64"}
    given: dict[str, Any] = {
        "perturb": {"kind": "location"},
        "data": {"table": "visits.parquet", "latitude": "lat", "longitude": "lon", "person": "person", "time": "at"},
        "box": dict(zip(("west", "south", "east", "north"), BOX, strict=True)),
        "protect": {"within": "200 m", "factor": "2"},
        "track": {"near": "1 km", "in_all": limit},
    }
    job, out = check_job(given, folder=folder), folder / "tracks.parquet"
    held |= {"track job": job, "track section": job.spec.track, "written tracks": job.run(out, lambda *_: None)}
    held["stated tracks"] = job.statement()
    tracks = Tracks(geo, near="1 km", in_all=limit)
    (north, east, _) = next(iter(open_positions(folder / "visits.parquet", "lat", "lon").positions(["person"])))
    place = tracks.report(TrackPlace(), float(north[0]), float(east[0]), 0)
    held |= {"tracks": tracks, "track place": place, "tracks of people": TracksOfPeople(tracks)}
    own = OwnReports(geo, folder / "own.state", every="10 min", reports_a_day=1, new=True)
    held |= {"own reports": own, "own report": own.report(float(north[0]), float(east[0]))}
    held["told"] = told = RowsSeen(geo, tracks, None)
    told.add(["ann"], None, [1.0], None)
    made.on_purpose.add(out)


def _series(made: LongSession) -> None:
    held, folder, frame = made.names, made.folder, canaries.readings()
    clock = {"start": "2031-07-19", "end": "2031-07-20", "every": "1 h"}
    grid = {"lower": "0 kW", "upper": "8 kW", "step": "1 W"}
    series = flat_series(values="kW", within="100 W", factor=2, window=6, **clock, **grid)
    series.perturb(frame, time="time", value="kw", meter="meter")
    columns = Columns("time", "kw", "meter")
    readings = read_readings(pa.Table.from_pandas(frame), columns, series.grid, series.schedule, "refuse")
    totals = lw.Totals(series, "day")
    billing = lw.Billing("1", bills=2)
    held |= {"series": series, "readings": readings, "totals": totals, "billing": billing, "schedule": series.schedule}
    frame.to_parquet(folder / "readings.parquet")
    for what in ("readings", "totals", "tree"):
        given: dict[str, Any] = {
            "perturb": {"kind": "series"},
            "data": {"table": "readings.parquet", "meter": "meter", "time": "time", "value": "kw", "unit": "kW"},
            "time": clock,
            "values": grid,
            "protect": {"within": "100 W", "factor": "2", "window": 6},
            "publish": {"what": what},
            "attacker": {"adds": ["1 kW"], "first": "2031-07-19T03:00"},
        }
        job = check_job(given, folder=folder)
        out = folder / f"{what}.out.parquet"
        held |= {f"job {what}": job, f"written {what}": job.run(out, lambda *_: None)}
        held[f"stated {what}"] = job.statement()
        made.on_purpose.add(out)
    asked = {"usual": series.closeness}
    levels = lw.local.series.SeriesLevels(asked, series.grid, series.schedule)
    levels.perturb(frame.assign(tier="usual"), time="time", value="kw", meter="meter", level="tier")
    frame.assign(tier="usual").to_parquet(folder / "tiers.parquet")
    for what in ("readings", "totals"):
        protect = {"within": "100 W", "factor": "2", "window": 6, "level": "tier"}
        protect["levels"] = {"usual": {}, "careful": {"within": "1 kW"}}
        data = {"table": "tiers.parquet", "meter": "meter", "time": "time", "value": "kw", "unit": "kW"}
        given = {"perturb": {"kind": "series"}, "data": data, "time": clock, "values": grid, "protect": protect}
        job, out = check_job({**given, "publish": {"what": what}}, folder=folder), folder / f"{what}.own.parquet"
        held |= {f"job of levels of {what}": job, f"written at levels, {what}": job.run(out, lambda *_: None)}
        held |= {f"columns of {what}": job.spec.data.columns, f"stores of {what}": job.stores}
        held[f"stated levels of {what}"] = job.statement()
        made.on_purpose.add(out)
    held["levels of meters"] = levels
    held["appliance"] = attack = lw.local.series.Appliance(series, adds=["1 kW"], first="2031-07-19T03:00")
    held["guesses"] = attack.chances(100)
    one = readings.meter * 0
    held["attacked"] = seen = Held(readings, readings.meter, readings.meters, "meter", "meter", one, one, 0)
    held["attacked file"] = seen_readings(
        folder / "readings.out.parquet", "kw", seen, series.grid, series.schedule.slots
    )
    held["tree"] = tree = lw.local.series.TotalsTree(totals, ("hour", "day"))
    held |= {
        "tree's noise": tree.mechanism,
        "tree's parts": tree.consistency,
        "tree's errors": tree.errors(),
        "routes": routes(tree),
    }
    held["stated bills"] = billing.statement()
    held["settled"] = billing.settle([[NUMBER, NUMBER]], billing.bill([[NUMBER, NUMBER]]))
    store = MemoizedReports(folder / "told.db", key=bytes(16), law="1", new=True)
    held["remembered readings"] = again = Remembered(store, readings, series.schedule)
    with store.drawing() as once:
        again.shown(once, readings, series.draw)
    held["repeat of readings"] = Repeat(store="told.db", secret="told.key")
    held["readings' file"] = ReadingsFile(folder / "readings.parquet")
    held["rows of text"] = open_rows(folder / "visits.csv")
    held |= {"a frame": frame_of(frame), "an arrow frame": frame_of(pa.Table.from_pandas(frame))}


# ---- what is looked at


@pytest.mark.sweep
def test_nothing_prints_a_value(session: LongSession) -> None:
    wrong = {
        way: found
        for way, one in canaries.reachable(session.names)
        if (found := canaries.found_in(canaries.printed(one)))
    }
    assert wrong == {}
    assert canaries.found_in(session.names["printed inside"]) == []


def test_nothing_carries_a_value_away(session: LongSession) -> None:
    wrong = {
        way: found
        for way, one in canaries.reachable(session.names)
        if (found := canaries.found_in(canaries.carried(one)))
    }
    assert wrong == {}


def test_no_file_that_was_written_holds_a_value(session: LongSession) -> None:
    names = (
        "visits.parquet",
        "visits.csv",
        "visits.xlsx",
        "visits.geojson",
        "visits.duckdb",
        "positions.geojson",
        "positions.geojsonl",
        "readings.parquet",
        "tiers.parquet",
    )
    given = {session.folder / name for name in names}
    assert canaries.files_with_canaries(session.folder, given | session.on_purpose) == {}
    assert list((session.folder / "temp").iterdir()) == []
    # the search can fail: it finds the canaries in what was given
    assert len(canaries.files_with_canaries(session.folder, set())) >= len(given)


def test_no_log_and_no_warning_holds_a_value(session: LongSession) -> None:
    said = session.said.getvalue()
    assert "published as they are" in said
    assert canaries.found_in(said) == []


def modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(lw.__path__, "leeward."):
        if not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


MEET_DATA = {"query", "tables", "engine", "session", "local", "spec", "planner"}
"""Rooms whose objects are made from tables, or from what is. (What the ledger holds is in its file, which is searched.)"""

NEED_NO_TABLE = {
    # they need a server, or Spark: tests/engine/test_in_postgres and tests/engines/test_inside_spark look at these
    *("engine.InPostgres", "engine.InSpark", "engine.Kind"),
    *("engine.Asked", "engine.Sums"),  # hashes, and never their key: tests/engine/test_engine_digest
    *("local.PositionsSeen", "local.OpenedTable", "local.SparkTable"),  # so too: tests/local/test_perturb_in_spark
    # of several questions at once, private and without a dict: tests/engine/test_shared_sources looks at these
    *("engine.OwnColumns", "engine.Sources"),
    "tables.Length",  # private, and only numbers
    "tables.TimeFormat",  # how times are written, as a spec says
    "tables.Writer",  # of text, which is handed on at once
    # what is written in a spec, or follows from it alone
    *("local.Budget", "local.PublicPlaces", "local.SeriesChoice", "local.SeriesBudget", "local.AttackerView"),
    # a look at a published file, private and without a dict: tests/local/test_attacked looks at these
    *("local.Attack", "local.Attacked"),
    # what an attacker sees of made-up people
    *("local.Attacker", "local.AttackerPart", "local.AttackerSees"),
    *("local.SeenOverPlaces", "local.SeenPlanar", "local.SeenTracks"),
    # public places, and what distances between them count as
    *("local.Elastic", "local.ExponentialOverPlaces", "local.Felt", "local.KnownPlaces", "local.PlaceRegion"),
    *("local.DisplacedPlaces", "local.FeltPart", "local.RegionPolicy", "local.Regions"),
    "session.Frame",  # sentences of a statement
    "session.Opens",  # the name of a budget
    *("spec.GridBox", "spec.Span", "spec.Stated"),
    # questions about, and facts of, universes of records
    *("query.Groups", "query.Kind"),  # what a question asks, in words; a column in their place is refused
    *("query.CountWhere", "query.Domain", "query.Effect", "query.Histogram", "query.Linear"),
    *("query.PoissonSampling", "query.SumOf", "query.Variance"),
    # names of files; laws, losses and chances
    *(
        "local.BayesRemap",
        "local.Compared",
        "local.Moved",
        "planner.Chances",
        *("planner.Far", "planner.Reach"),  # how far one person moves sums, and how far their noise goes
        "planner.GivenUp",  # of a plan report: one that gives nothing up was made from a table
    ),
}
"""Public classes of these rooms that are made without a table."""


def test_every_public_class_of_the_rooms_that_meet_data_was_in_the_session(session: LongSession) -> None:
    met = {base for _, one in canaries.reachable(session.names) for base in type(one).__mro__}
    missing = set()
    for module in modules():
        room = module.__name__.split(".")[1]
        for name, kind in vars(module).items():
            if (
                room not in MEET_DATA
                or not inspect.isclass(kind)
                or name.startswith("_")
                or kind.__module__ != module.__name__
            ):
                continue
            if kind not in met and not inspect.isabstract(kind) and not getattr(kind, "_is_protocol", False):
                missing.add(f"{room}.{name}")
    assert missing == NEED_NO_TABLE, "make it in the session; or say that no table leads to it"


def test_private_objects_are_not_pickled(session: LongSession) -> None:
    private = [one for _, one in canaries.reachable(session.names) if isinstance(one, Private)]
    assert {type(one).__name__ for one in private} >= {
        "CuratorNotes",
        "VisitCounts",
        "Readings",
        "PaidAnswer",
        "InDuckDB",
    }
    for one in private:
        assert not hasattr(one, "__dict__"), type(one)
        with pytest.raises(RefusedError, match="A pickle of a"):
            pickle.dumps(one)


# ---- a release and its notes


def test_a_release_that_travels_leaves_the_curators_notes_behind(session: LongSession) -> None:
    result = session.names["result of a DataFrame"]
    notes = result.curator
    assert notes.dropped is not None
    assert notes.dropped["unknown_place"] == 10
    assert "not counted: 10 rows at no place of the public list" in str(notes)
    assert repr(notes) == "<CuratorNotes: for the curator only>"
    back = pickle.loads(pickle.dumps(result))
    assert (back.answers, back.places, back.statement) == (result.answers, result.places, result.statement)
    assert back == result
    assert set(asdict(result)) == {"answers", "places", "statement", "_list_is_ours"}
    with pytest.raises(RefusedError, match="The curator's notes"):
        _ = back.curator
    with pytest.raises(RefusedError, match="facts about"):
        pickle.dumps(notes)


def test_the_facts_of_the_curator_are_nowhere_in_what_travels(tmp_path: Path) -> None:
    frame = canaries.visits(40)
    query = lw.count_visitors(
        lw.visits(pd.concat([frame] * 1234), person="person", place="place", time="at"),
        lw.places(canaries.listed(), place="place"),
        start=AT.floor("h").to_pydatetime(),
        end=AT.ceil("h").to_pydatetime(),
        places_per_person=1,
        if_more="latest",
    )
    budget = lw.Budget(f"sqlite:///{tmp_path / 'budget.db'}", dataset="town", cap="5", new=True)
    result = lw.release(lw.plan(query, lw.AdditionOnly("1"), lw.Decide(safe_at_most=2)), budget)
    assert result.curator.dropped is not None
    fact = result.curator.dropped["unknown_place"]
    assert fact == 12340
    travels = pickle.dumps(result) + repr(asdict(result)).encode() + canaries.printed(result).encode()
    result.save(tmp_path / "out")
    travels += b"".join(path.read_bytes() for path in (tmp_path / "out").iterdir() if path.suffix != ".parquet")
    travels = travels.replace(result.statement.entry.encode(), b"")  # random, and might hold any five digits
    for form in (str(fact).encode(), f"{fact:,}".encode(), pickle.dumps(fact)[2:-1]):
        assert form not in travels


# ---- sources


@pytest.mark.filterwarnings("ignore:.*future.infer_string")
def test_a_source_names_files_and_kinds_only(tmp_path: Path) -> None:
    shown = {
        name: repr(lw.visits(one, person="p", place="q", time="t")) for name, one in canaries.sources(tmp_path).items()
    }
    assert "source=<a DataFrame in memory>" in shown["a DataFrame"]
    assert "source=<a Table in memory>" in shown["an Arrow table"]
    assert "visits.csv" in shown["CSV"]
    assert "and 7 more]" in repr(Source([f"{i}.csv" for i in range(10)]))
    assert repr(Source([pd.DataFrame({"a": [OTHER]})])) == "<a list in memory>"


def test_a_question_about_a_file_is_pickled_and_one_about_a_table_is_refused(tmp_path: Path) -> None:
    about_file = lw.visits(tmp_path / "v.parquet", person="p", place="q", time="t")
    assert pickle.loads(pickle.dumps(about_file)).source.held() == str(tmp_path / "v.parquet")
    about_table = lw.visits(canaries.visits(), person="person", place="place", time="at")
    with pytest.raises(RefusedError, match="rows of a private table"):
        pickle.dumps(about_table)


# ---- errors


def _bad_tables() -> dict[str, Callable[[Path], Any]]:
    """What goes wrong only when rows are looked at, each with canaries in the row that is wrong."""
    frame, box = canaries.visits(), {"box": BOX, "within": "200 m", "factor": 2}

    def visits(table: Any, **columns: Any) -> Any:
        asked = lw.visits(table, **{"person": "person", "place": "place", "time": "at", **columns})
        public = lw.places(canaries.listed(), place="place")
        window = {"start": "2031-07-19T13:00", "end": "2031-07-19T14:00"}
        query = lw.count_visitors(asked, public, **window, places_per_person=1)
        budget = lw.Budget("sqlite:///errors.db", dataset="town", cap="5", new=True)
        return lw.release(lw.plan(query, lw.AdditionOnly("1"), lw.Decide(safe_at_most=2)), budget)

    def number(table: Any, **more: Any) -> Any:
        asked = statistic_by(lw.records(table, person="person"), "sum", column="number", lower=0, upper=9, **more)
        budget = lw.Budget("sqlite:///errors.db", dataset="numbers", cap="5", new=True)
        return lw.release(lw.plan(asked, lw.UnboundedDP("1")), budget)

    def written(folder: Path, name: str, text: str) -> str:
        (folder / name).write_text(text, "utf-8")
        return str(folder / name)

    def series(table: Any) -> Any:
        made = flat_series(
            values="kW", within="100 W", factor=2, start="2031-07-19", end="2031-07-20", every="1 h",
            lower="0 kW", upper="8 kW", step="1 W",
        )  # fmt: skip
        return made.perturb(table, time="time", value="kw", meter="meter")

    header, row = ",".join(frame.columns), f"{PERSON},{PLACE},{AT.isoformat()},{NUMBER},{LATITUDE},{LONGITUDE},{OTHER}"
    at = {"latitude": "lat", "longitude": "lon"}
    feature = {
        "type": "Feature",
        "properties": {"who": PERSON},
        "geometry": {"type": "Point", "coordinates": [OTHER, PLACE]},
    }
    import json

    return {
        "times that are none": lambda _: visits(frame.assign(at=OTHER)),
        "times of several types": lambda _: visits(frame.assign(at=[OTHER, NUMBER, AT, None] * 10)),
        "places of several types": lambda _: visits(frame.assign(place=[PLACE, NUMBER] * 20)),
        "people in lists": lambda _: visits(frame.assign(person=[[PERSON]] * 40)),
        "people in dicts": lambda _: visits(frame.assign(person=[{PERSON: 1}] * 40)),
        "people at several places": lambda _: visits(frame.assign(person=PERSON)),
        "numbers in texts": lambda _: number(frame.assign(number=[OTHER, NUMBER] * 20)),
        "people twice": lambda _: number(frame.assign(person=PERSON)),
        "groups of another type": lambda _: number(frame, by="other", groups=[1, 2]),
        "a ragged CSV": lambda f: visits(written(f, "r.csv", f"{header}\n{row}\n{row},{OTHER}\n")),
        "an unclosed quote": lambda f: visits(written(f, "q.csv", f'{header}\n{row}\n"{row}\n')),
        "texts for times": lambda f: visits(written(f, "t.csv", f"{header}\n{row.replace(AT.isoformat(), OTHER)}\n")),
        "words for degrees": lambda _: lw.PlanarLaplace(**box).perturb(frame.assign(lat=OTHER), **at),
        "words among degrees": lambda _: lw.PlanarLaplace(**box).perturb(frame.assign(lat=[LATITUDE, OTHER] * 20), **at),
        "outside the box": lambda _: lw.PlanarLaplace(**{**box, "box": (0, 0, 1, 1)}).perturb(frame, **at),
        "one point outside": lambda _: lw.PlanarLaplace(**{**box, "box": (0, 0, 1, 1)}).perturb_one(LATITUDE, LONGITUDE),
        "points of words": lambda _: lw.PlanarLaplace(**box).perturb_points([OTHER], [PLACE]),
        "a point of words": lambda _: lw.PlanarLaplace(**box).perturb_one(OTHER, PLACE),  # type: ignore[arg-type]
        "a day of words": lambda f: _perturbed(f, frame.assign(at=OTHER)),
        "people in lists, perturbed": lambda f: _perturbed(f, frame.assign(person=[[PERSON]] * 40)),
        "too many reports": lambda f: _perturbed(f, frame.assign(person=PERSON)),
        "features of words": lambda f: _geojson(f, json.dumps({"type": "FeatureCollection", "features": [feature]})),
        "broken JSON": lambda f: _geojson(f, f'{{"features": [{{"who": "{PERSON}"}}, {OTHER}]}}'),
        "readings of words": lambda _: series(canaries.readings().assign(kw=OTHER)),
        "readings of several types": lambda _: series(canaries.readings().assign(kw=[OTHER, NUMBER] * 12)),
        "times of words": lambda _: series(canaries.readings().assign(time=OTHER)),
        "times off the clock": lambda _: series(canaries.readings().assign(time=AT)),
        "a reading twice": lambda _: series(pd.concat([canaries.readings()] * 2)),
        "meters of several types": lambda _: series(canaries.readings().assign(meter=[PERSON, NUMBER] * 12)),
    }  # fmt: skip


def _perturbed(folder: Path, frame: pd.DataFrame) -> Any:
    frame.to_parquet(folder / "bad.parquet")
    write_private(folder / "people.key", bytes(range(32)))
    given: dict[str, Any] = {
        "perturb": {"kind": "location"},
        "data": {"table": "bad.parquet", "person": "person", "time": "at", "latitude": "lat", "longitude": "lon"},
        "box": dict(zip(("west", "south", "east", "north"), BOX, strict=True)),
        "protect": {"within": "200 m", "factor": "2"},
        "budget": {"store": "people.db", "secret": "people.key", "reports_a_day": 3},
    }
    return check_job(given, folder=folder).run(folder / "o.parquet", lambda *_: None, new=True)


def _geojson(folder: Path, text: str) -> Any:
    (folder / "bad.geojson").write_text(text)
    given: dict[str, Any] = {
        "perturb": {"kind": "location"},
        "data": {"table": "bad.geojson"},
        "box": dict(zip(("west", "south", "east", "north"), BOX, strict=True)),
        "protect": {"within": "200 m", "factor": "2"},
    }
    return check_job(given, folder=folder).run(folder / "o.geojson", lambda *_: None)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", [*_bad_tables()])
def test_an_error_about_rows_holds_none_of_them(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LeewardError) as refused:
        _bad_tables()[case](tmp_path)
    assert canaries.found_in(canaries.everything_said(refused.value)) == []
    assert canaries.found_in(pickle.dumps(refused.value)) == []
    given = {tmp_path / name for name in ("r.csv", "q.csv", "t.csv", "bad.parquet", "bad.geojson")}
    assert canaries.files_with_canaries(tmp_path, given) == {}


def test_the_walk_can_fail(tmp_path: Path) -> None:
    @dataclass
    class Leaky:
        frame: pd.DataFrame

    Leaky.__module__ = "leeward.leaky"
    leaky = Leaky(canaries.visits())
    found = dict(canaries.reachable({"it": [leaky]}))
    assert set(found) == {"it[0]"}
    assert canaries.found_in(canaries.printed(leaky))
    wrapped = ValueError("hidden")
    wrapped.__context__ = ValueError(OTHER)
    assert OTHER in canaries.found_in(canaries.everything_said(wrapped))
    assert canaries.found_in(pickle.dumps(np.array([NUMBER])))
    assert isinstance(CuratorNotes(None, None, "0"), Private)
