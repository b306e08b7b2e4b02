"""Every key of a spec for `leeward release` has an effect: another plan, another answer, or a refusal."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
from tests.spec.outcome import Effect, check, choices_of, keys_of, merged, outcome, words_in

from leeward.notion._named import NAMED
from leeward.spec import Spec
from leeward.spec._notions import GRADED, NUMBER_NOTIONS
from leeward.spec._policies import POLICY_NOTIONS

BUDGET = {"ledger": "budget.db", "dataset": "town", "cap": "1000000"}
LIST = {"table": "places.parquet", "place": "venue"}
VISITORS: dict[str, Any] = {
    "data": {"visits": "visits.parquet", "person": "user", "place": "venue", "time": "at"},
    "places": LIST,
    "window": {"start": "2026-01-01T18:00:00", "end": "2026-01-01T19:00:00"},
    "protect": {"notion": "addition-only", "epsilon": "40", "places_per_person": 1, "if_more": "latest"},
    "decide": {"safe_at_most": 1},
    "publish": {"what": "counts"},
    "budget": BUDGET,
}
STOPPING = merged(
    VISITORS,
    {"protect": {"places_per_person": None, "if_more": None}, "publish": {"mechanism": "sanitized", "what": None}},
)
TICKING = merged(VISITORS, {"data": {"time": "ticks", "time_unit": "s"}})
ZONED = merged(
    VISITORS,
    {
        "data": {"time": "sooner", "timezone": "Asia/Tokyo"},
        "window": {"start": "2026-01-01T18:00:00+09:00", "end": "2026-01-01T19:00:00+09:00"},
    },
)
FAINT = merged(
    VISITORS, {"protect": {"epsilon": "0.06"}, "decide": {"safe_at_most": 0}}
)  # an empty place is safe: 5.8 %
BOX = {"west": 139.7, "south": 35.6, "east": 139.71, "north": 35.605, "metres": 500}
CELLS = merged(
    VISITORS,
    {
        "data": {"place": None, "latitude": "lat", "longitude": "lon"},
        "places": {"table": None, "place": None, "grid": BOX},
    },
)
NUMBERS: dict[str, Any] = {
    "data": {"table": "people.parquet", "person": "user"},
    "query": {"kind": "sum", "column": "age", "lower": "0", "upper": "10"},
    "protect": {"notion": "dp", "epsilon": "400"},
    "budget": {**BUDGET, "dataset": "people"},
}
JOINED = {"data": {"time": "joined"}, "window": {"start": "2026-01-01", "end": "2026-01-03"}}
SEVERAL = merged(NUMBERS, {"data": {"table": "several.parquet"}, "query": {"combine": "sum"}})
NEAR = merged(NUMBERS, {"protect": {"notion": "manhattan", "unit": "1"}})
POLICIES: dict[str, Any] = {
    "data": {"table": "people.parquet", "person": "each row"},
    "query": {"kind": "histogram", "by": {"sex": ["f"]}},
    "protect": {"notion": "osdp", "epsilon": "400", "sensitive": {"sex": ["f"]}, "reading": "any"},
    "budget": {**BUDGET, "dataset": "policies"},
}
UNLISTED: dict[str, Any] = {
    "data": {"table": "people.parquet", "person": "user"},
    "query": {"kind": "unlisted groups", "by": "sex"},
    "protect": {"notion": "addition-only", "epsilon": "400", "delta": "1e-6"},
    "budget": {**BUDGET, "dataset": "unlisted", "cap_delta": "1e-3"},
}
POLICY = [{"outside": {"sex": ["f"]}}]
KEEPING = {"protect": {"notion": "adp", "policies": POLICY, "sensitive": None, "reading": None}}
IN_SIXES = {"query": {"kind": "histogram", "upper": "12", "step": "6"}}
ABOVE: dict[str, Any] = {
    "query": {"kind": "above", "lower": None, "upper": None, "levels": ["1", "4"]},
    "decide": {"safe_at_most": 2, "error_at_most": "0.01"},
}
JOINING = {"protect": {"notion": "blowfish", "edges": [["f", "m"]], "sensitive": None, "reading": None}}

BASES = {
    "visitors": VISITORS, "stopping": STOPPING, "ticking": TICKING, "zoned": ZONED, "faint": FAINT, "cells": CELLS,
    "numbers": NUMBERS, "several": SEVERAL, "near": NEAR,
    "policies": POLICIES, "unlisted": UNLISTED,
}  # fmt: skip

ERR = {"decide": {"error_at_most": "0.01"}}
ROWS = [
    Effect("data.visits", "visitors", {"data": {"visits": "more.parquet"}}, {"count": [2, 2, 0]}),
    Effect(
        "data.visits",
        "visitors",
        {"data": {"visits": ["visits.parquet", "more.parquet"]}},
        {"dropped": {"outside_window": 2}},
    ),
    Effect(
        "data.visits_table",
        "visitors",
        {"data": {"visits_table": "more"}},
        {"count": [2, 2, 0]},
        before={"data": {"visits": "tables.duckdb", "visits_table": "visits"}},
    ),
    Effect("data.table", "numbers", {"data": {"table": "older.parquet"}}, {"value": [20]}),
    Effect("data.person", "visitors", {"data": {"person": "account"}}, {"count": [0, 2, 0]}),
    Effect(
        "data.person", "several", {"data": {"person": "user2"}}, {"value": [14]}, before={"query": {"combine": "max"}}
    ),
    Effect("data.person", "visitors", {"data": {"person": None}}, refused='person = "each row"'),
    Effect("data.person", "visitors", {"data": {"person": "each row"}}, refused="distinct people are counted"),
    Effect("data.person", "numbers", {"data": {"person": None}}, refused='person = "each row"'),
    Effect("data.person", "numbers", {"data": {"person": "each row"}}, {"counted in": "dp/row"}),
    Effect("data.place", "visitors", {"data": {"place": "second"}}, {"count": [0, 0, 3]}),
    Effect("data.time", "visitors", {"data": {"time": "sooner"}}, {"count": [0, 0, 1]}),
    Effect("data.time", "numbers", {"data": {"time": "left"}}, {"value": [1]}, before=JOINED),
    Effect("data.time", "numbers", {"data": {"time": None}}, refused="[data] time is missing", before=JOINED),
    Effect("data.time", "numbers", {"data": {"time": "joined"}}, refused="means nothing without [window]"),
    Effect("data.timezone", "numbers", {"data": {"timezone": "UTC"}}, refused="means nothing without [window]"),
    Effect(
        "data.timezone",
        "numbers",
        {"data": {"timezone": "Asia/Tokyo"}},
        {"windows": [{"start": "2026-01-01T00:00:00", "end": "2026-01-03T00:00:00", "timezone": "Asia/Tokyo"}]},
        before=JOINED,
    ),
    Effect(
        "data.time_unit",
        "numbers",
        {"data": {"time_unit": "ms"}},
        {"value": [0]},
        before=merged(JOINED, {"data": {"time": "tick", "time_unit": "s"}}),
    ),
    Effect("data.latitude", "cells", {"data": {"latitude": "lat2"}}, {"count": [0, 0, 1, 2]}),
    Effect("data.longitude", "cells", {"data": {"longitude": "lon2"}}, {"count": [0, 3, 0, 0]}),
    Effect(
        "data.keep",
        "visitors",
        {"data": {"keep": {"state": ["IN"]}}},
        {
            "count": [1, 1, 0],
            "keep": {"state": ["IN"]},
            "dropped": {"filtered": 1, "outside_window": 1},
        },
    ),
    Effect("data.keep", "numbers", {"data": {"keep": {"sex": ["f"]}}}, {"value": [6], "keep": {"sex": ["f"]}}),
    Effect("data.timezone", "zoned", {"data": {"timezone": "Asia/Shanghai"}}, {"count": [1, 2, 0]}),
    Effect("data.time_unit", "ticking", {"data": {"time_unit": "ms"}}, {"count": [0, 0, 1]}),
    Effect("data.time_unit", "ticking", {"data": {"time_unit": "us"}}, {"count": [0, 0, 0]}),
    Effect("data.time_unit", "ticking", {"data": {"time_unit": None}}, refused="Name `time_unit`"),
    Effect(
        "data.time_format", "visitors", {"data": {"time_format": "dd/mm/yyyy"}}, refused="the column holds no texts"
    ),
    Effect(
        "data.time_format", "numbers", {"data": {"time_format": "dd/mm/yyyy"}}, refused="means nothing without [window]"
    ),
    Effect(
        "data.engine", "visitors", {"data": {"engine": "postgres"}}, refused="the table is in no PostgreSQL database"
    ),
    Effect("data.engine", "numbers", {"data": {"engine": "none"}}, refused="[data] engine: it is not a known choice"),
    Effect("data.spark", "numbers", {"data": {"spark": {"master": "local[1]"}}}, refused="Spark does not count"),
    Effect("data.delimiter", "visitors", {"data": {"delimiter": "tab"}}, refused="it is about files of text"),
    Effect("data.encoding", "numbers", {"data": {"encoding": "latin-1"}}, refused="it is about files of text"),
    Effect(
        "data.decimal", "cells", {"data": {"decimal": ","}}, refused="no column that is read holds numbers as texts"
    ),
    Effect("places.delimiter", "visitors", {"places": {"delimiter": ";"}}, refused="it is about files of text"),
    Effect("places.encoding", "visitors", {"places": {"encoding": "utf-16"}}, refused="it is about files of text"),
    Effect("places.decimal", "visitors", {"places": {"decimal": ","}}, refused="no column that is read holds numbers"),
    Effect("query.kind", "numbers", {"query": {"kind": "mean"}}, {"value": [4]}),
    Effect("query.kind", "numbers", {"query": {"kind": "variance"}}, {"value": [5]}),
    Effect("query.kind", "numbers", {"query": {"kind": "standard deviation"}}, {"value": [2]}),
    Effect("query.kind", "numbers", {"query": {"kind": "median"}}, {"value": [5]}),
    Effect("query.kind", "numbers", {"query": {"kind": "min"}}, {"value": [1]}),
    Effect("query.kind", "numbers", {"query": {"kind": "max"}}, {"value": [7]}),
    Effect("query.kind", "numbers", {"query": {"kind": "histogram", "step": "5"}}, {"count": [2, 2]}),
    Effect(
        "query.kind",
        "numbers",
        {"query": {"kind": "count", **dict.fromkeys(("column", "lower", "upper"))}},
        {"count": [4]},
    ),
    Effect("query.kind", "numbers", {"query": {"kind": "busiest"}}, {"from": [0]}, before=IN_SIXES),
    Effect("query.kind", "numbers", {"query": {"kind": "quietest"}}, {"from": [6]}, before=IN_SIXES),
    Effect("query.kind", "numbers", ABOVE, {"state": ["safe", "obscure"]}),
    Effect("query.levels", "numbers", {"query": {"levels": ["4", "6"]}}, {"state": ["safe", "safe"]}, before=ABOVE),
    Effect("query.levels", "numbers", {"query": {"levels": ["6", "4"]}}, refused="do not ascend", before=ABOVE),
    Effect("query.kind", "numbers", {"query": {"kind": "visitors"}}, refused="[data] visits is missing"),
    Effect("query.column", "numbers", {"query": {"column": "weight"}}, {"value": [12]}),
    Effect("query.lower", "numbers", {"query": {"lower": "2"}}, {"value": [17]}),
    Effect("query.upper", "numbers", {"query": {"upper": "5"}}, {"value": [14]}),
    Effect("query.step", "numbers", {"query": {"step": "2"}}, {"value": [20]}),
    Effect(
        "query.p", "numbers", {"query": {"p": "25"}}, {"value": [3]}, before={"query": {"kind": "percentile", "p": "0"}}
    ),
    Effect(
        "query.p",
        "numbers",
        {"query": {"p": ["25", "100"]}},
        {"value": [3, 7]},
        before={"query": {"kind": "percentile", "p": "0"}},
    ),
    Effect(
        "query.p", "numbers", {"query": {"kind": "percentile", "p": ["50", "50"]}}, refused="several percentiles ascend"
    ),
    Effect(
        "query.people", "numbers", {"query": {"people": 4}}, {"people": 4}, before={"protect": {"notion": "bounded-dp"}}
    ),
    Effect(
        "query.people",
        "numbers",
        {"query": {"people": 5}, "protect": {"notion": "bounded-dp"}},
        refused="5 were declared",
    ),
    Effect("query.grid", "numbers", {"query": {"grid": "3"}}, {"value": [3]}, before={"query": {"kind": "mean"}}),
    Effect("query.by", "numbers", {"query": {"by": {"sex": ["m", "f"]}}}, {"value": [10, 6], "group": ["m", "f"]}),
    Effect(
        "query.by",
        "numbers",
        {"query": {"by": {"sex": ["m", "f"], "weight": [3, 4]}}},
        {"value": [10, 0, 6, 0], "sex": ["m", "m", "f", "f"], "weight": [3, 4, 3, 4]},
    ),
    Effect(
        "query.by",
        "numbers",
        {"query": {"by": {"weight": {"lower": "1", "upper": "5", "step": "2"}}}},
        {"value": [0, 16], "group": ["1 to 3", "3 to 5"], "weight_from": [1, 3]},
    ),
    Effect(
        "query.by", "numbers", {"query": {"by": {"weight": {"lower": "1"}}}}, refused="by = 'weight': upper is missing"
    ),
    Effect(
        "query.by",
        "numbers",
        {"query": {"by": {"weight": {"lower": "1", "upper": "5", "step": 0.5}}}},
        refused="float",
    ),
    Effect("query.by", "numbers", {"query": {"by": {}}}, refused="it names no column"),
    Effect(
        "query.others",
        "numbers",
        {"query": {"others": "else"}},
        {"value": [10, 6], "group": ["m", "else"]},
        before={"query": {"by": {"sex": ["m"]}}},
    ),
    Effect("query.others", "numbers", {"query": {"others": "else"}}, refused="others = 'else' without groups"),
    Effect("query.others", "policies", {"query": {"others": "else"}}, refused="Leave others out", before=JOINING),
    Effect("query.step", "policies", {"query": {"step": "1"}}, refused="step without a column"),
    Effect("query.step", "numbers", {"query": {"step": "2"}}, refused="Levels, and bounds or a step", before=ABOVE),
    Effect(
        "query.mechanism",
        "numbers",
        {"query": {"mechanism": "rank"}},
        {"noise": "rank"},
        before={"query": {"kind": "median", "mechanism": "geometric"}},
    ),
    Effect(
        "query.mechanism",
        "numbers",
        {"query": {"mechanism": "auto"}, "protect": {"epsilon": "1"}},
        {"noise": "rank"},
        before={"query": {"kind": "median", "mechanism": "geometric", "people": None}},
    ),
    Effect(
        "query.mechanism",
        "numbers",
        {"query": {"mechanism": "geometric"}},
        {"noise": "geometric"},
        before={"query": {"kind": "median", "mechanism": "rank"}},
    ),
    Effect("query.mechanism", "numbers", {"query": {"mechanism": "rank"}}, refused="it is for percentiles"),
    Effect("query.combine", "several", {"query": {"combine": "max"}}, {"value": [13]}),
    Effect("query.combine", "several", {"query": {"combine": "min"}}, {"value": [10]}),
    Effect("query.combine", "several", {"query": {"combine": "refuse"}}, refused="more than one row"),
    Effect(
        "places.table",
        "visitors",
        {"places": {"table": "turned.parquet"}},
        {"place": ["v2", "v1", "v0"], "count": [0, 2, 1]},
    ),
    Effect(
        "places.place", "visitors", {"places": {"place": "other"}}, {"place": ["v1", "v0", "x"], "count": [2, 1, 0]}
    ),
    Effect(
        "places.latitude",
        "visitors",
        {"places": {"latitude": "lat", "longitude": "lon"}},
        {"places": [{"place": f"v{i}", "latitude": 35.6 + i, "longitude": 139.7} for i in range(3)]},
    ),
    Effect(
        "places.longitude",
        "visitors",
        {"places": {"longitude": "east"}},
        {"places": [{"place": f"v{i}", "latitude": 35.6 + i, "longitude": 140.7} for i in range(3)]},
        before={"places": {"latitude": "lat", "longitude": "lon"}},
    ),
    Effect("places.name", "visitors", {"places": {"name": "name"}}, {"name": ["A", "B", "C"]}),
    Effect(
        "places.places_table",
        "visitors",
        {"places": {"places_table": "turned"}},
        {"place": ["v2", "v1", "v0"]},
        before={"places": {"table": "tables.duckdb", "places_table": "places"}},
    ),
    *(
        Effect(f"places.{key}", "cells", {"places": {key: word}}, refused=f"{key} is about a table of places")
        for key, word in (
            *(("place", "venue"), ("latitude", "lat"), ("longitude", "lon"), ("name", "name")),
            *(("places_table", "places"), ("delimiter", ";"), ("encoding", "latin-1"), ("decimal", ",")),
        )
    ),
    Effect("places.grid.west", "cells", {"places": {"grid": {**BOX, "west": 139.7045}}}, {"count": [2, 0]}),
    Effect(
        "places.grid.south",
        "cells",
        {"places": {"grid": {**BOX, "south": 35.5999}}},
        {"count": [1, 2, 0, 0]},
        before={"data": {"latitude": "edge"}},
    ),
    Effect("places.grid.east", "cells", {"places": {"grid": {**BOX, "east": 139.7021}}}, {"count": [2, 0]}),
    Effect(
        "places.grid.east", "cells", {"places": {"grid": {**BOX, "east": 139.707}}}, {"count": [2, 0, 0, 0]}
    ),  # its edge is outside
    Effect("places.grid.north", "cells", {"places": {"grid": {**BOX, "north": 35.604}}}, {"count": [1, 2]}),
    Effect("places.grid.metres", "cells", {"places": {"grid": {**BOX, "metres": 1000}}}, {"count": [3]}),
    Effect(
        "places.grid.h3",
        "cells",
        {"places": {"grid": {**{k: v for k, v in BOX.items() if k != "metres"}, "h3": 5}}},
        {"count": [3]},
    ),
    Effect("windows", "visitors", {"window": None, "windows": []}, refused="windows = [] lists none"),
    Effect("window.windows", "visitors", {"window": {"windows": []}}, refused="windows = [] lists none"),
    Effect("window.start", "visitors", {"window": {"start": "2026-01-01T18:35:00"}}, {"count": [0, 1, 0]}),
    Effect("window.end", "visitors", {"window": {"end": "2026-01-01T18:40:00"}}, {"count": [2, 1, 0]}),
    Effect("window.start", "numbers", {"window": {"start": "2026-01-02"}}, {"value": [3]}, before=JOINED),
    Effect("window.end", "numbers", {"window": {"end": "2026-01-05"}}, {"value": [16]}, before=JOINED),
    Effect("window.every", "numbers", {"window": {"every": "1d"}}, {"plans": 2, "value": [1]}, before=JOINED),
    Effect(
        "windows",
        "numbers",
        {"window": None, "windows": [{"start": "2026-01-03", "end": "2026-01-05"}]},
        {"value": [12]},
        before=JOINED,
    ),
    Effect(
        "windows",
        "numbers",
        {"window": None, "windows": [{"start": "2026-01-03", "end": "2026-01-05"}] * 2},
        refused="it is listed twice",
        before=JOINED,
    ),
    Effect(
        "window.start",
        "numbers",
        {"window": {"start": "2026-01-02"}},
        {"state": ["obscure", "safe"]},
        before=merged(
            JOINED,
            {
                "query": {"kind": "histogram", "column": None, "lower": None, "upper": None, "by": {"sex": ["m", "f"]}},
                "decide": {"safe_at_most": 0, "error_at_most": "0.01"},
            },
        ),
    ),
    Effect(
        "window.start",
        "numbers",
        {"window": {"start": "2026-01-02", "end": "2026-01-03"}},
        {"group": ["m"]},
        before=merged(
            JOINED,
            {
                "query": {"kind": "busiest", "column": None, "lower": None, "upper": None, "by": {"sex": ["m", "f"]}},
                "window": {"start": "2026-01-01", "end": "2026-01-02"},
            },
        ),
    ),
    Effect(
        "window.every",
        "visitors",
        {"window": {"every": "25min"}},
        {
            "plans": 3,
            "count": [2, 0, 0],
            "windows": [
                {"start": f"2026-01-01T{a}:00", "end": f"2026-01-01T{b}:00", "timezone": None}
                for a, b in itertools.pairwise(["18:00", "18:25", "18:50", "19:00"])
            ],
        },
    ),
    Effect(
        "window.windows",
        "visitors",
        {"window": {"windows": [{"start": "2026-01-01T19:00", "end": "2026-01-01T20:00"}], "start": None, "end": None}},
        {"count": [0, 0, 1]},
    ),
    Effect(
        "window.windows.start",
        "visitors",
        {"windows": [{"start": "2026-01-01T18:15", "end": "2026-01-01T19:00"}]},
        {"windows": [{"start": "2026-01-01T18:15:00", "end": "2026-01-01T19:00:00", "timezone": None}]},
        before={"window": None, "windows": [{"start": "2026-01-01T18:00", "end": "2026-01-01T19:00"}]},
    ),
    Effect(
        "window.windows.end",
        "visitors",
        {"windows": [{"start": "2026-01-01T18:00", "end": "2026-01-01T18:40"}]},
        {"count": [2, 1, 0]},
        before={"window": None, "windows": [{"start": "2026-01-01T18:00", "end": "2026-01-01T19:00"}]},
    ),
    Effect(
        "windows",
        "visitors",
        {"window": None, "windows": [{"start": "2026-01-01T19:00", "end": "2026-01-01T20:00"}]},
        {"count": [0, 0, 1]},
    ),
    Effect(
        "windows.start",
        "visitors",
        {"windows": [{"start": "2026-01-01T18:25", "end": "2026-01-01T19:00"}]},
        {"count": [0, 2, 0]},
        before={"window": None, "windows": [{"start": "2026-01-01T18:00", "end": "2026-01-01T19:00"}]},
    ),
    Effect(
        "windows.end",
        "visitors",
        {"windows": [{"start": "2026-01-01T18:00", "end": "2026-01-01T20:00"}]},
        {"count": [1, 2, 1]},
        before={"window": None, "windows": [{"start": "2026-01-01T18:00", "end": "2026-01-01T19:00"}]},
    ),
    *(
        Effect("protect.notion", "visitors", {"protect": {"notion": name}, **ERR}, {"notion": f'{kind}("40")'})
        for name, kind in (
            ("removal-only", "RemovalOnly"),
            ("dp", "UnboundedDP"),
            ("bounded-dp", "BoundedDP"),
            ("add-remove-replace-dp", "ReplaceDP"),
        )
    ),
    Effect("protect.notion", "stopping", {"protect": {"notion": "presence"}}, {"notion": 'Presence("40")'}),
    *(
        Effect("protect.notion", "numbers", {"protect": {"notion": name}}, {"notion": f'{kind}("400")'})
        for name, kind in (
            ("addition-only", "AdditionOnly"),
            ("removal-only", "RemovalOnly"),
            ("bounded-dp", "BoundedDP"),
            ("hamming", "ReplaceDP"),
            ("add-remove-replace-dp", "ReplaceDP"),
        )
    ),
    Effect(
        "protect.notion",
        "numbers",
        {"protect": {"notion": "hamming"}, "query": {"people": 4}},
        {"notion": 'BoundedDP("400")'},
    ),
    Effect(
        "protect.notion",
        "near",
        {"protect": {"notion": "maximum"}, "query": {"kind": "median"}},
        {"notion": 'Maximum("400", ValueGrid("0", "10", "1"), unit="1")'},
    ),
    Effect(
        "protect.notion",
        "numbers",
        {"protect": {"notion": "normalised-manhattan"}},
        {"notion": 'NormalisedManhattan("400", ValueGrid("0", "10", "1"))'},
    ),
    Effect("protect.epsilon", "visitors", {"protect": {"epsilon": "41"}}, {"price": "41"}),
    Effect(
        "protect.presence",
        "visitors",
        {"protect": {"presence": "41"}},
        {"notion": 'Graded(presence="41", absence="90")'},
        before={
            "protect": {
                "notion": "graded",
                "presence": "40",
                "absence": "90",
                "epsilon": None,
                "if_more": "refuse",
                "places_per_person": 2,
            },
            **ERR,
        },
    ),
    Effect(
        "protect.absence",
        "visitors",
        {"protect": {"absence": "91"}},
        {"notion": 'GradedFacts(presence="40", absence="91")'},
        before={
            "protect": {
                "notion": "graded-facts",
                "presence": "40",
                "absence": "90",
                "epsilon": None,
                "if_more": "refuse",
                "places_per_person": 2,
            },
            **ERR,
        },
    ),
    Effect(
        "protect.unit",
        "near",
        {"protect": {"unit": "5 years"}},
        {"notion": 'Manhattan("400", ValueGrid("0", "10", "1"), unit="5 years")'},
    ),
    Effect("protect.notion", "policies", KEEPING, {"notion": "ADP(\"400\", policies=[not (sex in {'f'})])"}),
    Effect("protect.notion", "policies", JOINING, {"notion": 'Blowfish("400")'}),
    Effect(
        "protect.policies",
        "policies",
        {"protect": {"policies": [*POLICY, {"within": {"sex": ["f"]}}]}},
        refused="no step of the notion changes it",
        before=KEEPING,
    ),
    Effect(
        "protect.policies.outside",
        "policies",
        {"protect": {"policies": [{"outside": {"age": [5]}}]}},
        {"rates": [("400", "400")]},
        before=KEEPING,
    ),
    Effect(
        "protect.policies.within",
        "policies",
        {"protect": {"policies": [{"within": {"sex": ["f"]}}]}},
        {"rates": [("inf", "400")]},
        before=KEEPING,
    ),
    Effect(
        "protect.absent_too",
        "policies",
        {"protect": {"absent_too": True}},
        {"protects": "everything about a row except which of the policies “not (sex in {'f'})” hold for it"},
        before=KEEPING,
    ),
    Effect("protect.sensitive", "policies", {"protect": {"sensitive": {"age": [5]}}}, {"rates": [("400", "400")]}),
    Effect(
        "protect.reading",
        "policies",
        {"protect": {"reading": "non-sensitive"}},
        {"alternative": "any record that is not sensitive"},
    ),
    Effect(
        "protect.edges",
        "policies",
        {"protect": {"edges": [["f", "m"], ["m", "x"]]}},
        {"alternative": "a record joined to it by an edge: 'f' – 'm', 'm' – 'x'"},
        before=JOINING,
    ),
    Effect(
        "protect.partition",
        "policies",
        {"protect": {"edges": None, "partition": [["f", "m", "x"]]}},
        {"alternative": "a record joined to it by an edge: 'f' – 'm', 'f' – 'x', 'm' – 'x'"},
        before=JOINING,
    ),
    Effect("protect.places_per_person", "visitors", {"protect": {"places_per_person": 2}}, {"count": [2, 2, 0]}),
    Effect(
        "protect.places_per_person",
        "visitors",
        {"protect": {"places_per_person": None}},
        refused="without places_per_person",
    ),
    Effect(
        "protect.if_more", "visitors", {"protect": {"if_more": "earliest"}}, {"count": [2, 1, 0], "if_more": "earliest"}
    ),
    Effect("protect.if_more", "visitors", {"protect": {"if_more": "refuse"}}, refused="1 person was at more places"),
    Effect("decide.safe_at_most", "visitors", {"decide": {"safe_at_most": 2}}, {"state": ["safe", "safe", "safe"]}),
    Effect("decide.safe_at_most", "stopping", {"decide": {"safe_at_most": 2}}, {"state": ["safe", "safe", "safe"]}),
    Effect(
        "decide.dangerous_at_least",
        "visitors",
        {"decide": {"dangerous_at_least": 2, "error_at_most": "0.01"}},
        {"state": ["safe", "dangerous", "safe"]},
    ),
    Effect(
        "decide.error_at_most",
        "visitors",
        {"decide": {"error_at_most": "1e-30"}},
        {"state": ["obscure", "obscure", "safe"]},
        before={"protect": {"notion": "dp"}, **ERR},
    ),
    Effect("decide.error_at_most", "visitors", ERR, refused="never wrong"),
    Effect(
        "query.accept_useless",
        "faint",
        {"query": {"accept_useless": False}},
        refused="below useful_from = 0.06",
        before={"query": {"accept_useless": True}, "decide": {"useful_from": "0.06"}},
    ),
    Effect(
        "query.accept_useless",
        "numbers",
        {"query": {"accept_useless": False}},
        refused="its whole public range is 10",
        before={
            "query": {"kind": "median", "mechanism": "geometric", "accept_useless": True},
            "protect": {"epsilon": "1"},
        },
    ),
    Effect("decide.useful_from", "faint", {"decide": {"useful_from": "0.06"}}, refused="below useful_from = 0.06"),
    Effect(
        "decide.about",
        "visitors",
        {"decide": {"about": "everyone"}},
        {"count": [2, 3, 1], "left_out": [1, 1, 1], "state": ["obscure", "obscure", "safe"], "noise": "everyone"},
    ),
    Effect(
        "decide.useful_from",
        "visitors",
        {"decide": {"useful_from": "0.5"}},
        refused="without safe_at_most",
        before={"protect": {"notion": "removal-only"}, "decide": {"safe_at_most": None, "dangerous_at_least": 2}},
    ),
    Effect("decide.about", "stopping", {"decide": {"about": "world"}}, refused="counted"),
    Effect("decide.about", "numbers", {"decide": {"about": "everyone"}}, refused="has no [decide]"),
    Effect(
        "decide.left_out",
        "visitors",
        {"decide": {"left_out": [1, 0]}},
        {"count": [2, 2, 0], "left_out": [0, 0, 0]},
        before={"decide": {"about": "everyone"}},
    ),
    Effect("decide.left_out", "visitors", {"decide": {"left_out": -1}}, refused="left_out"),
    Effect("decide.left_out", "stopping", {"decide": {"left_out": 1}}, refused="where nobody is left out"),
    Effect("publish.what", "visitors", {"publish": {"what": "decisions"}}, {"columns": ["place", "state"]}),
    Effect("publish.mechanism", "visitors", {"publish": {"mechanism": "sanitized"}}, {"count": [None, 2, None]}),
    Effect(
        "publish.mechanism",
        "visitors",
        {"publish": {"mechanism": "adaptive"}},
        {"count": [None, 2, None], "look": [None, 2, None]},
    ),
    Effect(
        "publish.mechanism",
        "visitors",
        {"publish": {"mechanism": "geometric"}},
        {"count": [1, 2, 0]},
        before={"publish": {"mechanism": "sanitized"}},
    ),
    Effect(
        "publish.stop_after",
        "stopping",
        {"publish": {"stop_after": 2}},
        {"count": [2, 2, None], "price": "80", "answered": [True, True, False]},
    ),
    Effect("budget.ledger", "visitors", {"budget": {"ledger": "other.db"}}, {"ledger": "other.db"}),
    Effect("budget.dataset", "visitors", {"budget": {"dataset": "other"}}, {"dataset": "other"}),
    Effect("budget.cap", "visitors", {"budget": {"dataset": "poor", "cap": "39"}}, refused="39 is left"),
    Effect("budget.cap", "visitors", {"budget": {"dataset": "capped", "cap": "50"}}, {"cap": "50"}),
    Effect("budget.version", "visitors", {"budget": {"version": "2"}}, {"version": "2"}),
    Effect("budget.cap_delta", "unlisted", {"budget": {"dataset": "poor", "cap_delta": None}}, refused="and 0 is left"),
    Effect("budget.cap_delta", "unlisted", {"budget": {"dataset": "capped", "cap_delta": "1/9"}}, {"cap on δ": "1/9"}),
    Effect("query.kind", "unlisted", {"query": {"kind": "histogram"}}, refused="[protect] delta means nothing"),
    Effect("query.by", "unlisted", {"query": {"by": "weight"}}, {"group": [3], "count": [4]}),
    Effect("query.by", "unlisted", {"query": {"by": {"sex": ["f"]}}}, refused="without a list"),
    Effect("query.by", "numbers", {"query": {"by": "sex"}}, refused='kind = "unlisted groups"'),
    Effect("query.most_groups", "unlisted", {"query": {"most_groups": 1}}, {"group": ["f"], "count": [2]}),
    Effect("query.most_groups", "numbers", {"query": {"most_groups": 1}}, refused="most_groups means nothing"),
    Effect("protect.delta", "unlisted", {"protect": {"delta": "1e-9"}}, {"delta": "1/1000000000"}),
    Effect("protect.delta", "unlisted", {"protect": {"delta": None}}, refused="without delta"),
    Effect("protect.delta", "visitors", {"protect": {"delta": "1e-9"}}, refused="delta means nothing"),
    Effect("protect.groups_per_person", "unlisted", {"protect": {"groups_per_person": 2}}, {"a person": 2}),
    Effect(
        "protect.groups_per_person", "numbers", {"protect": {"groups_per_person": 2}}, refused="means nothing for a sum"
    ),
    Effect("protect.if_more", "unlisted", {"protect": {"if_more": "first"}}, {"if_more": "first"}),
    Effect("protect.if_more", "visitors", {"protect": {"if_more": "first"}}, refused="if_more = 'first'"),
    Effect(
        "budget.version",
        "visitors",
        {"data": {"visits": "more.parquet"}},
        refused="changed under version",
        before={"budget": {"dataset": "versions"}},
    ),
    Effect(
        "budget.notion",
        "stopping",
        {"budget": {"notion": "presence", "dataset": "kept"}, "protect": {"notion": "presence"}},
        {"counted in": "presence/person"},
    ),
    Effect("budget.notion", "stopping", {"budget": {"notion": "removal-only"}}, refused="counted in"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four people at three places, and four numbers."""
    made = tmp_path_factory.mktemp("spec")
    visits = pd.DataFrame(
        [
            ("u1", "v0", "18:10", "IN", 0, 0),
            ("u2", "v0", "18:20", "IN", 0, 0),
            ("u3", "v1", "18:30", "BY", 1, 0),
            ("u1", "v1", "18:40", "IN", 1, 0),
            ("u4", "v2", "19:10", "IN", 1, 0),
        ],
        columns=["user", "venue", "at", "state", "column", "row"],
    )
    visits["at"] = pd.to_datetime("2026-01-01T" + visits["at"]).astype("datetime64[us]")
    visits["sooner"] = visits["at"] - pd.Timedelta("50min")
    visits["account"] = visits["user"].replace("u2", "u1")
    visits["second"] = "v2"
    visits["ticks"] = visits["at"].astype("int64") // 10**6
    visits.loc[visits["user"] == "u4", "ticks"] = pd.Timestamp("2026-01-01T18:30").value // 10**6
    visits["lat"], visits["lon"] = 35.601, 139.702 + visits["column"] * 0.005
    visits["lat2"], visits["lon2"] = visits["lat"] + 0.0037, 139.707
    visits["edge"] = 35.5999
    visits.to_parquet(made / "visits.parquet")
    more = pd.concat([visits, visits.iloc[:1].assign(user="u5")])
    more.to_parquet(made / "more.parquet")
    listed = pd.DataFrame({"venue": ["v0", "v1", "v2"], "other": ["v1", "v0", "x"], "name": ["A", "B", "C"]})
    listed = listed.assign(lat=[35.6, 36.6, 37.6], lon=139.7, east=140.7)
    listed.to_parquet(made / "places.parquet")
    listed.iloc[::-1].to_parquet(made / "turned.parquet")
    people = pd.DataFrame({"user": list("abcd"), "age": [1, 3, 5, 7], "weight": 3, "sex": list("fmfm")})
    people["joined"] = pd.to_datetime([f"2026-01-0{day}" for day in (1, 2, 3, 4)]).astype("datetime64[us]")
    people["left"] = people["joined"] + pd.Timedelta("1D")
    people["tick"] = people["joined"].astype("int64") // 10**6
    people.to_parquet(made / "people.parquet")
    people.assign(age=people["age"] + 1).to_parquet(made / "older.parquet")
    several = pd.DataFrame({"user": list("aabc"), "age": [4, 1, 2, 7], "user2": list("abcd")})
    several.to_parquet(made / "several.parquet")
    with duckdb.connect(str(made / "tables.duckdb")) as file:
        for table in ("visits", "more", "places", "turned"):
            file.execute(f"CREATE TABLE {table} AS FROM '{made / table}.parquet'")
    return made


@pytest.fixture
def own(folder: Path, tmp_path: Path) -> Path:
    """The data, with a ledger of the test's own."""
    for path in folder.iterdir():
        (tmp_path / path.name).symlink_to(path)
    return tmp_path


@pytest.fixture(scope="module")
def before(folder: Path) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """What a spec comes to; each is carried out once, and charged to a ledger of its own."""
    known: dict[str, dict[str, Any]] = {}

    def carried(given: Mapping[str, Any]) -> dict[str, Any]:
        text = json.dumps(given, sort_keys=True)
        if text not in known:
            known[text] = outcome(merged(given, {"budget": {"ledger": f"before-{len(known)}.db"}}), folder)
        return known[text]

    return carried


@pytest.mark.sweep
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_key_has_its_effect(row: Effect, own: Path, before: Callable[[Mapping[str, Any]], dict[str, Any]]) -> None:
    check(row, BASES[row.base], own, before)


def test_every_key_has_a_row() -> None:
    assert {row.key for row in ROWS} == set(keys_of(Spec))


def carried(row: Effect) -> dict[str, Any]:
    """The spec of a row that ends in an answer."""
    known = merged(BASES[row.base], row.before)
    return known if row.refused else merged(known, row.change)


def test_every_choice_has_a_row() -> None:
    """Each word that a key may be stands in some spec that ends in an answer, or is what the key is where it is left out."""
    there = {word for row in ROWS for word in words_in(carried(row))}
    assert sorted(set(choices_of(Spec)) - there - LEFT_OUT - ELSEWHERE) == []


LEFT_OUT = {
    ("query.kind", "visitors"),
    ("decide.about", "counted"),
    ("query.combine", "refuse"),
    ("publish.mechanism", "auto"),
    ("data.engine", "duckdb"),
}
"""What these keys are in the bases, which do not have them."""

ELSEWHERE = {("data.engine", "postgres"), ("data.engine", "spark")}
"""What needs a database, or Spark: their releases are in tests/engines, test_inside_postgres.py and test_inside_spark.py."""


def test_every_notion_of_a_spec_has_a_row() -> None:
    rows = [row for row in ROWS if row.base != "policies"]
    asked = [(row.base in {"numbers", "several", "near"}, carried(row)["protect"]["notion"]) for row in rows]
    assert {notion for is_number, notion in asked if not is_number} == {*NAMED, *GRADED}
    assert {notion for is_number, notion in asked if is_number} == set(NUMBER_NOTIONS)
    assert {carried(row)["protect"]["notion"] for row in ROWS if row.base == "policies"} == set(POLICY_NOTIONS)
