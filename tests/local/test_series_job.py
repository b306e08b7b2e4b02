"""leeward perturb with kind = "series": files in, files out, the statement beside them; totals."""

from __future__ import annotations

import csv
import hashlib
import json
import math
import re
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from tests.flat_series import flat_series

import leeward as lw
from leeward.cli import main
from leeward.errors import DataError, InputError, LeewardError, RefusedError, SpecError
from leeward.exact import exact
from leeward.local import check_job
from leeward.local.series import SeriesStatement, Totals
from leeward.local.series._files import ReadingsFile
from leeward.local.series._readings import Columns, read_readings
from leeward.noise import SeededBitsForTests

Given = dict[str, Any]


def spec(**changes: Any) -> Given:
    made: Given = {
        "perturb": {"kind": "series"},
        "data": {"table": "r.parquet", "meter": "meter", "time": "time", "value": "kw", "unit": "kW"},
        "time": {"start": "2026-03-28", "end": "2026-03-30", "every": "1 h", "zone": "Europe/Paris"},
        "values": {"lower": "0 kW", "upper": "8 kW", "step": "1 W"},
        "protect": {"within": "100 W", "factor": "2", "window": 6},
    }
    for key, value in changes.items():
        made[key] = {**made.get(key, {}), **value}
    return made


def frame(meters: int = 3) -> pd.DataFrame:
    first = datetime(2026, 3, 27, 23, tzinfo=UTC)  # midnight in Paris; the 29th has 23 hours
    rows = [(f"m{m}", first + timedelta(hours=h), "007", m + h / 100) for m in range(meters) for h in range(47)]
    made = pd.DataFrame(rows, columns=["meter", "time", "tariff", "kw"])
    return made.astype({"time": "datetime64[us, UTC]"})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    frame().to_parquet(tmp_path / "r.parquet")
    text = frame().assign(time=lambda f: f["time"].map(datetime.isoformat), note='a "b", c\nd')
    text.to_csv(tmp_path / "r.csv", index=False)
    return tmp_path


def run(folder: Path, out: str, **changes: Any) -> Any:
    return check_job(spec(**changes), folder=folder).run(folder / out, lambda *_: None)


# ---- readings


def test_parquet_in_parquet_out_with_its_statement(folder: Path) -> None:
    done = run(folder, "o.parquet")
    assert [file.name for file in done.files] == ["o.parquet", "o.parquet.release.json"]
    before, after = frame(), pd.read_parquet(folder / "o.parquet")
    assert after.drop(columns="kw").equals(before.drop(columns="kw"))
    assert (after["kw"] != before["kw"]).mean() > 0.9
    watts = after["kw"] * 1000
    assert np.allclose(watts, watts.round(), rtol=0, atol=1e-6)
    assert done.notes == (
        "these columns are published as they are, and noise on readings protects nothing that they say: tariff;"
        " nor what the order of rows says, which stays",
    )
    made = SeriesStatement.model_validate_json((folder / "o.parquet.release.json").read_text())
    assert made.columns_as_they_are == ("tariff",)
    assert made.files is not None
    assert made.files.keys() == {"o.parquet", "o.parquet.release.json"}


def test_no_metadata_of_a_table_goes_out(folder: Path) -> None:
    """Attributes of a frame are in the metadata of its file: the largest true reading, say."""
    table = frame()
    table.attrs["largest"] = "1.2345678"
    table.to_parquet(folder / "r.parquet")
    assert b"1.2345678" in (folder / "r.parquet").read_bytes()
    run(folder, "o.parquet")
    assert not pq.read_schema(folder / "o.parquet").metadata
    after = pd.read_parquet(folder / "o.parquet")
    assert after.attrs == {}
    assert after.dtypes.equals(table.dtypes)


def test_csv_keeps_the_text_of_other_columns(folder: Path) -> None:
    run(folder, "o.csv", data={"table": "r.csv"})
    with (folder / "r.csv").open(newline="") as a, (folder / "o.csv").open(newline="") as b:
        before, after = list(csv.DictReader(a)), list(csv.DictReader(b))
    for x, y in zip(before, after, strict=True):
        assert {k: v for k, v in x.items() if k != "kw"} == {k: v for k, v in y.items() if k != "kw"}
    assert sum(x["kw"] != y["kw"] for x, y in zip(before, after, strict=True)) > 100


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_files_pass_through_in_batches(folder: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leeward.tables._rows.BATCH", 10)
    changes = {"data": {"table": f"r.{kind}"}, "time": {"start": "2026-03-28T12:00"}, "protect": {"epsilon": "1"}}
    changes["protect"] |= {"unit": "1 W", "within": None, "factor": None, "window": 1}
    run(folder, f"o.{kind}", **changes)
    read = pd.read_parquet if kind == "parquet" else pd.read_csv
    after: pd.DataFrame = read(folder / f"o.{kind}")
    before = frame()[lambda f: f["time"] >= "2026-03-28T11:00Z"]  # rows before the period are left out
    assert after["meter"].tolist() == before["meter"].tolist()
    assert np.abs(after["kw"].to_numpy() - before["kw"].to_numpy()).max() < 0.05  # each row its own, off by watts


def test_the_statement_reads_no_data_and_gives_every_price(tmp_path: Path) -> None:
    made = check_job(spec(), folder=tmp_path).statement()  # there is no table in this folder
    assert made.promise.epsilon == "log(2)"
    assert made.schedule.readings == 47
    assert made.price.maximum_window == made.price.manhattan == "log(2)"
    assert made.price.maximum_total == "8*log(2)"
    assert made.price.hamming == "80*log(2)"
    assert [option.chosen for option in made.options] == [True, False, False, False]
    each = check_job(spec(protect={"between": "manhattan", "window": 1}), folder=tmp_path).statement()
    assert each.price.maximum_total == "47*log(2)"
    assert any("averages out" in text for text in each.not_guaranteed)


def test_what_is_published_beside_the_table_does_not_depend_on_it(folder: Path) -> None:
    run(folder, "a.parquet")
    frame().assign(kw=lambda f: f["kw"] * 1.7).to_parquet(folder / "r.parquet")
    run(folder, "b.parquet")
    told = [json.loads((folder / f"{name}.parquet.release.json").read_text()) for name in "ab"]
    digests = [one.pop("files") for one in told]
    assert told[0] == told[1]
    published = hashlib.sha256((folder / "a.parquet").read_bytes()).hexdigest()
    assert digests[0]["a.parquet"] == published, "of what is published, and of nothing else"


def test_nothing_is_left_behind_by_a_run_that_fails(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = {p.name for p in folder.iterdir()}

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ReadingsFile, "rewrite", full)
    with pytest.raises(InputError, match="No space"):
        run(folder, "o.parquet")
    assert {p.name for p in folder.iterdir()} == names


def test_notes_for_the_curator_count_what_was_moved_and_left_out(folder: Path) -> None:
    done = run(folder, "o.parquet", values={"upper": "2 kW"}, time={"end": "2026-03-29T12:00"})
    told = " ".join(done.notes)
    assert "36 rows outside the period" in told
    assert "34 readings were beyond the bounds" in told
    stated = (folder / "o.parquet.release.json").read_text()
    assert "36 rows" not in stated
    assert "34 readings" not in stated


def test_it_takes_the_place_of_nothing_true_and_keeps_its_kind(folder: Path) -> None:
    for out, words in (
        ("r.parquet", "a file that the spec names"),
        ("o.csv", "as it was read"),
        ("no/o.parquet", "folder"),
    ):
        with pytest.raises(InputError, match=words):
            run(folder, out)


# ---- totals

TOTALS = {"what": "totals"}


def test_totals_have_every_day_of_every_meter_and_the_right_noise(folder: Path) -> None:
    run(folder, "t.parquet", publish=TOTALS)
    found = pd.read_parquet(folder / "t.parquet")
    assert list(found.columns) == ["meter", "day", "readings_per_meter", "total_kWh"]
    assert found["readings_per_meter"].tolist() == [24, 23] * 3
    made = json.loads((folder / "t.parquet.release.json").read_text())
    assert made["price"]["maximum_window"] == "log(2)"
    assert made["price"]["maximum_total"] == "2*log(2)"
    # E|error| = 1/sinh(rate) steps of 1 Wh, rate ln 2/(100·n) a watt
    errors = {n: 1 / np.sinh(np.log(2) / 100 / n) / 1000 for n in (23, 24)}
    assert made["mean_error"]["by_readings"] == {str(n): pytest.approx(e, rel=1e-5) for n, e in errors.items()}


@pytest.mark.parametrize(("between", "error"), [("maximum", 24 * 100), ("manhattan", 100), ("hamming", 8000)])
@pytest.mark.statistical
def test_the_error_of_totals_under_each_distance(between: Any, error: float) -> None:
    # 2,000 days of 24 hours at ε = 1 for 100 W: 15 % of a mean of |Laplace| is 6.7 standard errors; false alarm 1e-9
    promise: Given = {"epsilon": "1"} | ({} if between == "hamming" else {"unit": "100 W"})
    made = flat_series(
        between=between,
        **promise,
        values="W",
        step="1 W",
        lower="0 W",
        upper="8 kW",
        start="2026-01-01",
        end="2026-01-11",
        every="1 h",
        bits=SeededBitsForTests(5),
    )
    hours = pd.date_range("2026-01-01", periods=240, freq="h")
    table = pd.DataFrame({"time": np.tile(hours, 200), "w": 5, "m": np.repeat(np.arange(200), 240)})
    import pyarrow as pa

    held = read_readings(pa.Table.from_pandas(table), Columns("time", "w", "m"), made.grid, made.schedule, "refuse")
    totals = lw.Totals(made)
    noisy = totals.release(held, held.meter, 200)
    assert noisy.shape == (200, 10)
    assert (totals.true(held, held.meter, 200) == 120).all()
    off = np.abs(noisy - 120).mean()
    assert off == pytest.approx(error, rel=0.15)
    wrong = {"maximum": 100, "manhattan": 2400, "hamming": 100}[between]  # the trap, and its reverse
    assert off != pytest.approx(wrong, rel=0.15)
    assert float(totals.expected_error()) == pytest.approx(error, rel=1e-3)


@pytest.mark.parametrize("between", ["maximum", "manhattan", "hamming"])
@pytest.mark.parametrize("per", ["day", "period"])
def test_totals_are_judged_by_their_own_noise(between: Any, per: Any) -> None:
    """Readings of a quarter of an hour: those alone would be shown at an ε at which a day of them is off by much."""
    ends = set()
    for power in range(-6, 12):
        unit: Given = {} if between == "hamming" else {"unit": "1 W"}
        day = {"start": "2026-01-01", "end": "2026-01-03", "every": "15 min"}
        grid = {"values": "kW", "step": "10 W", "lower": "0 kW", "upper": "10 kW"}
        made = flat_series(between=between, epsilon=Fraction(10) ** power, **unit, **grid, **day)
        readings = {"day": 96, "period": 192}[per]
        rate = 10.0**power * {"maximum": 10 / readings, "manhattan": 10, "hamming": 1 / 1000}[between]  # a step
        off = 1 / math.sinh(rate) if rate < 700 else 0.0  # E|two-sided geometric noise|, in steps
        try:
            lw.Totals(made, per)
            said = ""
        except RefusedError as error:
            said = re.findall("they would be shown|a total would be", str(error))[0]
        shown, useless = 2 * rate > 5, off > 10 * 1000 * readings
        assert said == ("they would be shown" if shown else "a total would be" if useless else ""), power
        ends.add(said)
    assert len(ends) > 1


def test_totals_of_a_feeder_add_up_its_meters(folder: Path) -> None:
    frame().assign(feeder=lambda f: f["meter"].map({"m0": "n", "m1": "s", "m2": "s"})).to_parquet(folder / "r.parquet")
    sharp = {"within": None, "factor": None, "epsilon": "1", "unit": "1 W", "between": "manhattan", "window": 1}
    run(folder, "t.csv", publish={**TOTALS, "by": "feeder", "per": "period"}, protect=sharp)
    found = pd.read_csv(folder / "t.csv")
    assert found["feeder"].tolist() == ["n", "s"]
    hours = sum(h / 100 for h in range(47))
    assert found["total_kWh"].tolist() == pytest.approx([hours, 3 * 47 + 2 * hours], abs=0.04)
    assert found["readings_per_meter"].tolist() == [47, 47]


@pytest.mark.parametrize("lower", ["0 kW", "1 kW", "-2 kW"])
def test_a_reading_that_is_missing_adds_nothing_to_a_total_whatever_the_lower_bound(lower: str, folder: Path) -> None:
    """Neither what stands in its place in the column, nor the bound."""
    held = frame().assign(kw=lambda f: 3 + f["kw"])
    held.loc[::4, "kw"] = np.nan
    held.to_parquet(folder / "r.parquet")
    sharp = {"within": None, "factor": None, "epsilon": "1", "unit": "1 W", "between": "manhattan", "window": 1}
    values = {"missing": "keep", "lower": lower, "upper": "9 kW"}
    run(folder, "t.csv", publish={**TOTALS, "per": "period"}, protect=sharp, values=values)
    found = pd.read_csv(folder / "t.csv")["total_kWh"].tolist()
    assert found == pytest.approx(held.groupby("meter")["kw"].sum().tolist(), abs=0.04)


def test_prices_of_totals_with_days_of_different_length() -> None:
    made = check_job(spec(publish=TOTALS))
    totals: Totals = made.totals[""]  # type: ignore[attr-defined]
    price = totals.price
    assert price.window == made.series.epsilon  # type: ignore[attr-defined]
    assert price.readings == price.window / 23
    assert price.total == price.window * 2
    assert totals.snapping == price.total / 100 * (1 + exact("1/1048576"))


def test_totals_have_known_spans() -> None:
    with pytest.raises(InputError, match="span"):
        lw.Totals(check_job(spec()).series, "week")  # type: ignore[attr-defined, arg-type]


# ---- specs and the command


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"data": {"meters": "x"}}, r"\[data\] meters.*Did you mean 'meter'"),
        ({"protect": {"factor": 2.0}}, "factor"),
        ({"protect": {"between": "euclid"}}, r"\[protect\] between"),
        ({"values": {"step": "1 Wh"}}, "measures energy"),
        ({"publish": {"by": "feeder"}}, r"\[publish\] by"),
        ({"publish": {"what": "totals", "smooth": 3}}, "smooth"),
        ({"publish": {"prior": "none.csv"}}, "cannot be read"),
        ({"time": {"every": "7 h"}}, "whole number of readings"),
    ],
)
def test_specs_that_are_wrong_say_where(changes: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(LeewardError, match=words):
        check_job(spec(**changes), folder=tmp_path)


def test_a_missing_section_is_shown_as_it_should_be() -> None:
    made = spec()
    del made["values"]
    with pytest.raises(SpecError, match=r'\[values\] lower = "0 kW"'):
        check_job(made)


def test_files_that_are_not_as_described_are_refused_without_being_told(folder: Path) -> None:
    (folder / "r.csv").write_text("meter,time,kw\nsecret-house,2026-03-28T00:00:00+01:00,4.2175x\n")
    with pytest.raises(DataError) as error:
        run(folder, "o.csv", data={"table": "r.csv"})
    assert not re.search(r"secret|4\.2|2026", str(error.value))
    for table, words in (("none.parquet", "no such file"), ("r.xlsx", "kind")):
        with pytest.raises(DataError, match=words):
            run(folder, "o.parquet", data={"table": table})
    (folder / "x.parquet").write_bytes(b"not at all")
    with pytest.raises(DataError, match="cannot be read"):
        run(folder, "o.parquet", data={"table": "x.parquet"})


def test_a_prior_is_read_from_a_file(folder: Path) -> None:
    (folder / "prior.csv").write_text("value,weight\n0.5,3\n2.5,1\n")
    run(folder, "o.parquet", publish={"prior": "prior.csv"})
    assert set(pd.read_parquet(folder / "o.parquet")["kw"]) <= {0.5, 2.5}


def test_an_empty_table_keeps_its_columns(folder: Path) -> None:
    frame().iloc[:0].to_parquet(folder / "r.parquet")
    run(folder, "o.parquet", values={"missing": "keep"})
    assert pq.read_table(folder / "o.parquet").column_names == ["meter", "time", "tariff", "kw"]


def test_the_command(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "200")
    lines = []
    for section, keys in spec().items():
        lines += [f"[{section}]", *(f"{k} = {json.dumps(v)}" for k, v in keys.items())]
    Path("spec.toml").write_text("\n".join(lines))
    assert command(monkeypatch, "spec.toml", "--dry-run") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "(chosen): off by 0.5049 kW on average" in said
    assert "d_∞ by noise on each reading: off by 0.8656 kW on average" in said
    assert "Nothing was read, drawn or charged" in said
    assert command(monkeypatch, "spec.toml", "--out", "o.parquet") == 0
    assert Path("o.parquet").exists()
    frame().assign(kw=4.2175).iloc[1:].to_parquet("r.parquet")
    capsys.readouterr()
    assert command(monkeypatch, "spec.toml", "--out", "p.parquet") == 2
    said = capsys.readouterr().err
    assert "missing" in said
    assert "4.2" not in said
    assert not Path("p.parquet").exists()


def command(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr("sys.argv", ["leeward", "perturb", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def test_a_meter_may_have_a_name_that_programs_write_for_a_missing_number(folder: Path) -> None:
    table = pd.read_csv(folder / "r.csv").assign(meter=lambda f: f.meter.replace({"m0": "NA", "m1": "null"}))
    table["kw"] = table.kw.astype(str)
    table.loc[[3, 4, 5], "kw"] = ["NA", "nan", " "]
    table.to_csv(folder / "r.csv", index=False)
    changes: Given = {"data": {"table": "r.csv"}}
    with pytest.raises(DataError, match="readings are missing"):
        run(folder, "out.csv", **changes)
    run(folder, "out.csv", **changes, values={"missing": "keep"})
    with (folder / "out.csv").open(newline="") as text:
        rows = list(csv.DictReader(text))
    assert [row["meter"] for row in rows] == ["NA"] * 47 + ["null"] * 47 + ["m2"] * 47
    assert [k for k, row in enumerate(rows) if not row["kw"]] == [3, 4, 5]
