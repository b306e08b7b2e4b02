"""What is written for catalogues: each file holds what its schema asks for, and nothing that the statement does not say."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml  # type: ignore[import-untyped]
from tests.session.conftest import Town

import leeward as lw
from leeward._statement import NOT_YET
from leeward.report._formats import _no_less, registry
from leeward.session._statement import privacy_statement

REGISTRY: Mapping[str, tuple[set[str], set[str]]] = {
    "basic": (
        {"name", "data_curators", "description", "intended_use", "data_product_type", "data_product_region"}
        | {"publication_date"},
        {"data_product_sector"},
    ),
    "dp_variant": (set(), {"variant_name", "data_domain", "unprotected_quantities"}),
    "privacy_loss": (
        set(),
        {"privacy_unit", "privacy_unit_details", "privacy_parameters", "privacy_parameters_details"},
    ),
    "deployment_model": (
        set(),
        {"model_name", "model_name_details", "actors", "release_type", "release_type_details", "data_source_type"}
        | {"data_source_type_details", "access_type", "access_type_details"},
    ),
    "accounting": (set(), {"post_processing", "composition"}),
    "implementation": (set(), {"preprocessing_and_hyperparameter_tuning", "mechanisms", "justification"}),
    "administrative": ({"registry_authors"}, {"sources", "notes"}),
}
"""The parts of an entry in OpenDP's registry of deployments, with the keys that each must and may have."""

VARIANTS = {"Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"}


def faults(entry: Mapping[str, Any]) -> list[str]:
    """What the registry would refuse of an entry."""
    found = [] if set(entry) == {"url_slug", "status", "tier", "deployment"} else ["the keys at the top"]
    parts = entry["deployment"]
    for name, part in parts.items():
        must, may = REGISTRY.get(name, (set(), set()))
        if not must <= set(part) <= must | may:
            found.append(name)
    parameters = parts["privacy_loss"]["privacy_parameters"]
    found += [
        key for key, value in parameters.items() if key not in ("epsilon", "delta", "rho") or type(value) is not float
    ]
    if parts["dp_variant"]["variant_name"] not in VARIANTS:
        found.append("variant")
    texts = (value for part in parts.values() for key, value in part.items() if key != "privacy_parameters")
    return found + [
        "a value" for value in texts if not isinstance(value, str) and not (isinstance(value, list) and all(value))
    ]


WINDOWS = ("end = 2026-01-01T19:00:00", 'end = 2026-01-01T20:00:00\nevery = "1h"')


@pytest.mark.parametrize("windows", [1, 2])
def test_a_release_is_described_for_catalogues(windows: int, town: Town) -> None:
    spec = town.spec(*[WINDOWS] * (windows - 1))
    ask = ["--if-doubtful", "publish", "--formats", "croissant, opendp-registry"]
    code, _, err = town.run("release", spec, "--out", town.out, *ask)
    assert code == 0, err
    entry = json.loads((town.out / "opendp-registry.yaml").read_text())
    assert faults(entry) == []
    assert re.search(r"[a-z0-9]\. Leeward \d", entry["deployment"]["implementation"]["mechanisms"])
    loss, variant = (entry["deployment"][part] for part in ("privacy_loss", "dp_variant"))
    assert variant["variant_name"] == "Custom", "addition-only has no common name, so its relation is told"
    assert "≤ e^ε" in loss["privacy_unit_details"]
    assert loss["privacy_parameters"] == {"epsilon": float(windows)}

    told = json.loads((town.out / "croissant.json").read_text())
    (file,), (records,) = told["distribution"], told["recordSet"]
    assert file["sha256"] == hashlib.sha256((town.out / "answers.parquet").read_bytes()).hexdigest()
    schema = pq.read_schema(town.out / "answers.parquet")
    assert [field["source"]["extract"]["column"] for field in records["field"]] == schema.names
    kinds = {field["name"]: field["dataType"] for field in records["field"]}
    assert (kinds["state"], kinds["count"]) == ("sc:Text", "sc:Integer")
    assert {kind for name, kind in kinds.items() if name in ("latitude", "longitude")} <= {"sc:Float"}
    stated = json.loads((town.out / "release.json").read_text())
    notion = (stated["windows"][0] if windows > 1 else stated)["notion"]
    assert notion["does_not_protect"]
    assert variant["unprotected_quantities"].startswith(notion["does_not_protect"])
    assert entry["deployment"]["deployment_model"]["release_type"] == (
        "One release" if windows == 1 else "Many releases"
    )
    assert told["dpv:hasTechnicalMeasure"] == {"@id": "dpv:DifferentialPrivacy"}

    broken = json.loads(json.dumps(entry))
    broken["deployment"]["privacy_loss"]["privacy_parameters"]["epsilon"] = "1"
    del broken["deployment"]["administrative"]["registry_authors"]
    assert faults(broken) == ["administrative", "epsilon"]


UNLISTED = """
[data]
table = "visits.parquet"
person = "user"
time = "at"
[query]
kind = "unlisted groups"
by = "venue"
most_groups = 9
[window]
start = 2026-01-01T18:00:00
end = 2026-01-01T20:00:00
every = "1h"
[protect]
notion = "addition-only"
epsilon = "1"
delta = "1/1000"
groups_per_person = 3
[budget]
ledger = "sqlite:///unlisted.db"
dataset = "town"
cap = "9"
cap_delta = "1/10"
"""


def test_what_is_told_of_several_windows_is_their_prices_together(town: Town) -> None:
    """A sanitized release that may stop twice costs more than its ε says, and each window adds its δ."""
    ask = ["--if-doubtful", "publish", "--formats", "opendp-registry"]
    stops = ('what = "counts"', 'mechanism = "sanitized"\nstop_after = 2')
    (town.folder / "unlisted.toml").write_text(UNLISTED)
    absent = "that a person is not in the data may be concluded with certainty"
    held = "Nobody is in more than 3 groups: that was checked on the data, and is not protected"
    for spec, spent, unprotected in (
        (town.spec(WINDOWS, stops), {"epsilon": 4.0}, f"{absent}; the keys of the answers are public"),
        (town.folder / "unlisted.toml", {"epsilon": 2.0, "delta": 0.002}, f"{absent}; {held}"),
    ):
        out = town.folder / f"out-{spec.stem}"
        code, _, err = town.run("release", spec, "--out", out, *ask)
        assert code == 0, err
        told = json.loads((out / "opendp-registry.yaml").read_text())["deployment"]
        assert told["privacy_loss"]["privacy_parameters"] == spent
        assert told["dp_variant"]["unprotected_quantities"] == unprotected


class Said:
    """What is read of a release whose statement was made without its data."""

    answers = pa.table({"answer": [1.0]})

    def __init__(self, plan: Any) -> None:
        self.statement: Any = privacy_statement(plan, places=1, dataset="d", version="1", published=NOT_YET)


@pytest.mark.parametrize("combine", ["max", "refuse"])
@pytest.mark.parametrize("people", [None, 61])
def test_what_is_public_beside_the_noise_is_no_unprotected_nothing(
    combine: Any, people: int | None, tmp_path: Path
) -> None:
    records = lw.records("people.csv", person="who", combine=combine)
    asked = lw.statistic(records, lw.query.Kind("mean", people=people), column="age", lower=0, upper=99)
    registry([Said(lw.plan(asked, lw.BoundedDP("1")))], Said.answers, tmp_path / "entry")  # type: ignore[list-item]
    told = json.loads((tmp_path / "entry").read_text())["deployment"]["dp_variant"]["unprotected_quantities"]
    assert ("61 people have a number" in told) is (people is not None)
    assert ("more than one row" in told) is (combine == "refuse")
    assert "none" not in told


def test_a_registry_entry_is_the_same_read_as_json_and_as_yaml(tmp_path: Path) -> None:
    """Found: a δ of 1e-05 was a text to readers of YAML 1.1, and a name with a control character no YAML at all."""
    records = lw.records("people.csv", person="who")
    asked = lw.unlisted_groups(records, by="town", groups_per_person=1)
    said = Said(lw.plan(asked, lw.AdditionOnly("1"), delta="1e-5"))
    said.statement = said.statement.model_copy(update={"dataset": "to\x7fwn\x85 \u2028\ufeffin 1e-05 \U0001f600"})
    registry([said], Said.answers, tmp_path / "entry")  # type: ignore[list-item]
    text = (tmp_path / "entry").read_text()
    told = json.loads(text)
    assert told["deployment"]["privacy_loss"]["privacy_parameters"] == {"epsilon": 1.0, "delta": 1e-5}
    assert told["deployment"]["basic"]["name"] == said.statement.dataset
    assert yaml.safe_load(text) == told


@pytest.mark.parametrize("if_more", ["refuse", "latest"])
def test_a_bound_on_places_that_is_checked_is_told_as_unprotected(if_more: Any, tmp_path: Path) -> None:
    visits = lw.visits("visits.csv", person="who", place="place", time="when")
    window = {"start": "2026-01-01T18:00", "end": "2026-01-01T19:00"}
    asked = lw.count_visitors(
        visits, lw.places("places.csv", place="place"), **window, places_per_person=2, if_more=if_more
    )
    said = Said(lw.plan(asked, lw.AdditionOnly("1"), lw.Decide(safe_at_most=2)))
    registry([said], Said.answers, tmp_path / "entry")  # type: ignore[list-item]
    told = json.loads((tmp_path / "entry").read_text())["deployment"]["dp_variant"]["unprotected_quantities"]
    assert ("Nobody was at more than 2 listed places" in told) is (if_more == "refuse")


def test_the_price_of_a_monitor_is_told_as_that_of_all_its_windows(town: Town) -> None:
    stops = ('what = "counts"', 'mechanism = "sanitized"\nstop_after = 2')
    ask = ["--if-doubtful", "publish", "--formats", "opendp-registry", "--until", "2026-01-01T20:00"]
    code, _, err = town.run("monitor", town.spec(WINDOWS, stops), "--out", town.out, *ask)
    assert code == 0, err
    entries = sorted(town.out.glob("*/opendp-registry.yaml"))
    assert entries
    for entry in entries:
        told = json.loads(entry.read_text())["deployment"]
        assert told["deployment_model"]["release_type"] == "Many releases"
        assert told["privacy_loss"]["privacy_parameters"] == {"epsilon": 2.0}
        assert (
            "at most ε = 2 for one person's data in all windows" in told["privacy_loss"]["privacy_parameters_details"]
        )


def test_an_unknown_format_is_refused_before_anything_is_charged(town: Town) -> None:
    code, _, err = town.run("release", town.spec(), "--out", town.out, "--formats", "croisant")
    assert (code, "croissant" in err) == (2, True)
    assert not (town.folder / "budget.db").exists()


@pytest.mark.parametrize("exactly", ["1/3", "2/3", "1/10", "3/10", "1", "1e-9", "1/49"])
def test_no_registry_reads_a_smaller_epsilon_than_was_paid(exactly: str) -> None:
    found = _no_less(Fraction(exactly))
    assert Fraction(math.nextafter(found, 0)) < Fraction(exactly) <= Fraction(found)
