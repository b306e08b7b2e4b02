"""The digest notices every change of the rows, and nothing else; the marks find the same values under any name."""

import base64
import hashlib
import hmac
import itertools
import json
from collections import Counter
from datetime import datetime, timedelta
from decimal import Decimal

import duckdb
import ibis
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.sources import describe_by

from leeward.cli import EngineError
from leeward.engine import _content as content_module
from leeward.engine import open_data, read_keys, read_places
from leeward.engine._bind import bind
from leeward.engine._content import recognised
from leeward.engine._visits import open_visits
from leeward.query import grid, places, records, statistic, visits

KEY = b"0123456789abcdef" * 2

START = datetime(2024, 3, 1)
ROWS = [
    {"u": f"u{i % 7}", "p": f"p{i % 5}", "t": START + timedelta(hours=i), "s": "STAY", "x": i, "lat": 0.5, "lon": 0.5}
    for i in range(40)
] + [{"u": None, "p": None, "t": None, "s": None, "x": None, "lat": None, "lon": None}]
LISTED = places(pa.table({"p": ["p1", "p2"]}), place="p")


def content(rows, key=KEY, listed=LISTED, **described):
    data = pa.Table.from_pylist(rows) if isinstance(rows, list) else rows
    seen = describe_by(visits, data, **{"person": "u", "place": "p", "time": "t"} | described)
    with open_visits(seen, read_places(listed)) as table:
        return table.content(key)


def digest(*rows, **described):
    return content(*rows, **described).digest


def changed(**values):
    return [ROWS[0] | values, *ROWS[1:]]


def test_the_order_and_the_file_of_the_rows_do_not_matter(tmp_path):
    wanted = digest(ROWS)
    assert len(wanted) == 32
    assert digest(ROWS[::-1]) == wanted
    assert digest(ROWS[17:] + ROWS[:17]) == wanted
    data = pa.Table.from_pylist(ROWS)
    pq.write_table(data.slice(0, 9), tmp_path / "b.parquet", row_group_size=2)
    pq.write_table(data.slice(9), tmp_path / "a.parquet")
    assert digest(str(tmp_path / "*.parquet")) == wanted


def test_columns_that_cannot_matter_do_not_matter():
    assert digest(changed(x=99)) == digest(ROWS)
    assert digest(changed(s="MOVE")) == digest(ROWS)
    assert digest(changed(s="MOVE"), keep={"s": ["STAY"]}) != digest(ROWS, keep={"s": ["STAY"]})
    box = grid(west=0, south=0, east=1, north=1, h3=1)
    assert digest(changed(lat=0.25), listed=box, latitude="lat", longitude="lon") != digest(
        ROWS, listed=box, latitude="lat", longitude="lon"
    )


@pytest.mark.parametrize(
    "rows",
    [
        changed(u="u1"),
        changed(u=None),
        changed(p="p4"),
        changed(p=None),
        changed(t=START + timedelta(microseconds=1)),
        changed(t=None),
        ROWS[1:],
        [*ROWS, ROWS[0]],
        [*ROWS, ROWS[-1]],
        [*ROWS, ROWS[3], ROWS[3]],
        # A row for another occurs as often, but is not the same multiset.
        [ROWS[1], *ROWS[1:]],
        # Two rows exchange their places: every column holds the same values as before.
        [ROWS[0] | {"p": ROWS[1]["p"]}, ROWS[1] | {"p": ROWS[0]["p"]}, *ROWS[2:]],
        # A row's person and place exchange their values.
        changed(u="p0", p="u0"),
    ],
)
def test_any_change_of_what_is_read_is_noticed(rows):
    assert digest(rows) != digest(ROWS)


@pytest.mark.sweep
def test_every_cell_matters():
    """Thirty single changes, and no two of them look alike."""
    seen = {digest(ROWS)}
    for i in range(0, 40, 4):
        for column, value in (("u", "other"), ("p", "other"), ("t", START - timedelta(days=1))):
            seen.add(digest([*ROWS[:i], ROWS[i] | {column: value}, *ROWS[i + 1 :]]))
    assert len(seen) == 31


def test_different_rows_have_different_texts():
    """Whatever texts hold: commas, colons, digits, what lengths look like, and nothing."""
    texts = [None, "", ",", ":", "1", "0:", "1:,", ",,", "1:1,", ",1", "é", "2:é,"]
    numbers = [None, 0, 1, -1, 11]
    data = pa.table(
        [pa.array(column) for column in zip(*itertools.product(texts, numbers, texts), strict=True)], ["r0", "r1", "r2"]
    )
    kinds = ibis.Schema.from_pyarrow(data.schema).types
    with duckdb.connect() as engine:
        engine.execute("CREATE VIEW written AS SELECT r0, r1::VARCHAR AS r1, r2 FROM data")
        row = content_module._of_row("key", kinds)
        (found,) = engine.sql(f"SELECT count(DISTINCT {row}) FROM written").fetchall()
        (mine,) = engine.sql(f"SELECT {row} FROM written WHERE r0 = '1:,' AND r1 = -1 AND r2 IS NULL").fetchall()
        assert mine == ("key3:1:,,-1,,",)
    assert found == (len(texts) * len(numbers) * len(texts),)


def test_the_mark_of_times_tells_a_shifted_clock_and_no_order():
    """Times that change and keep their sum are missed by the mark, as its definition says, and not by the digest."""
    later = [r | {"t": r["t"] and r["t"] + timedelta(seconds=1)} for r in ROWS]
    kept = [ROWS[0] | {"t": ROWS[0]["t"] - timedelta(hours=1)}, ROWS[1] | {"t": ROWS[1]["t"] + timedelta(hours=1)}]
    mine = content(ROWS)
    assert content(later).marks["t"] != mine.marks["t"]
    assert content(changed(t=None)).marks["t"] != mine.marks["t"]
    assert content([*kept, *ROWS[2:]]).marks == mine.marks
    assert content([*kept, *ROWS[2:]]).digest != mine.digest


def test_times_that_are_texts_have_a_mark_too():
    texts = [r | {"t": r["t"] and r["t"].isoformat()} for r in ROWS]
    later = [texts[0] | {"t": "2030-01-01T00:00"}, *texts[1:]]
    assert content(texts).marks["t"] == content(texts[::-1]).marks["t"] != content(later).marks["t"]


def test_it_is_keyed():
    mine, other = content(ROWS), content(ROWS, KEY[::-1])
    assert mine.digest != other.digest
    assert not set(mine.marks.values()) & set(other.marks.values())


def test_what_it_covers_is_said():
    made = content(ROWS, keep={"s": ["STAY"]})
    assert made.columns == ("u", "t", "p", "s")
    assert set(made.marks) == set(made.columns)
    assert made.telling == ("u", "p", "s"), "every hour once is what many tables have"
    assert "mark" not in repr(made)
    assert str(made.digest) not in repr(made)


def oracle(columns, types, key=KEY, times=()):
    """Digest and marks of columns of texts (None: missing), by the definition alone: hashlib and Python's integers."""

    def derived(purpose):
        whole = hmac.new(key, f"leeward content 2: {purpose}".encode(), hashlib.sha256).digest()
        return base64.b64encode(whole)[:12].decode()

    def sums(texts, times):
        hashes = [int.from_bytes(hashlib.md5(text.encode()).digest(), "little") for text in texts]
        one_sided_components = [[h % 2**64 for h in hashes], [h >> 64 for h in hashes]]
        return [sum(h * n for h, n in zip(half, times, strict=True)) for half in one_sided_components]

    def stretched(*parts):
        said = json.dumps(list(parts)).encode()
        return hashlib.scrypt(said, salt=key, n=8192, r=8, p=1, dklen=32)

    def field(value, kind):
        if value is None:
            return ","
        return f"{len(value)}:{value}," if kind == "string" else f"{value},"

    rows = ["".join(map(field, row, types)) for row in zip(*columns.values(), strict=True)]
    whole = sums([derived("rows") + row for row in rows], [1] * len(rows))
    marks = {}
    for name, values in columns.items():
        counted = Counter("-" if v is None else f"={v}" for v in values)
        two = sums([derived("values") + text for text in counted], counted.values())
        if name in times:
            two = [len(values) - values.count(None), sum(int(v) for v in values if v is not None)]
        marks[name] = stretched("values", len(values), *two).hex()[:32]
    return stretched("rows", list(columns), types, len(rows), *whole), marks


def test_they_are_what_the_definition_says_whatever_engine_makes_them():
    """So a new version of the engine that counts or writes otherwise is noticed here, not by its users."""
    micro = [
        None if r["t"] is None else str((r["t"] - datetime(1970, 1, 1)) // timedelta(microseconds=1)) for r in ROWS
    ]
    columns = {"u": [r["u"] for r in ROWS], "t": micro, "p": [r["p"] for r in ROWS]}
    made = content(ROWS)
    wanted, marks = oracle(columns, ["string", "timestamp(6)", "string"], times=("t",))
    assert (made.digest, made.marks) == (wanted, marks)


EVERY_KIND = {
    "floats": (
        pa.array([0.1 + 0.2, 1 / 3, 5e-324, -0.0, None]),
        "float64",
        ["0.30000000000000004", "0.3333333333333333"],
    ),
    "single": (pa.array([0.1, 16777215, -1.5, 0, None], pa.float32()), "float32", ["0.1", "16777215.0", "-1.5", "0.0"]),
    "whole": (pa.array([-(2**63), 2**63 - 1, 0, 7, None]), "int64", ["-9223372036854775808", "9223372036854775807"]),
    "exact": (
        pa.array([Decimal("7.00"), Decimal("-0.05"), Decimal("0.00"), Decimal("1.50"), None], pa.decimal128(9, 2)),
        "decimal(9, 2)",
        ["7.00", "-0.05", "0.00", "1.50"],
    ),
    "flags": (pa.array([True, False, True, False, None]), "boolean", ["true", "false", "true", "false"]),
    "texts": (pa.array(["7.0", "", "-", "é\n:", None]), "string", ["7.0", "", "-", "é\n:"]),
}
"""A column, its type, and how its values are written; what is left out is written as Python writes it."""

FROZEN = "7ba2597dcd2b80ce1dcafd1a7b514793a2ef59a61c4651ac763e54ff8db4b7b9"


def test_every_kind_of_value_is_digested_as_it_ever_was():
    """A frozen digest: made by the oracle, which uses neither the engine nor ours, and the same in every version of both."""
    data = pa.table({name: column for name, (column, _, _) in EVERY_KIND.items()})
    texts = {
        name: [*written, *(repr(v) if v is not None else None for v in column.to_pylist()[len(written) :])]
        for name, (column, _, written) in EVERY_KIND.items()
    }
    order = list(texts)
    digested, _ = oracle({n: texts[n] for n in order}, [EVERY_KIND[n][1] for n in order])
    assert digested.hex() == FROZEN
    with bind(data, {name: name for name in order}) as bound:
        assert recognised(bound, KEY, ()).digest.hex() == FROZEN


def test_the_values_that_the_engine_has_to_know_are_written_as_python_writes_them():
    for kind, value, text in content_module._KNOWN:
        if kind == "float64":
            assert text == repr(eval(value.replace("::DOUBLE", ".0" if "." not in value and "e" not in value else "")))
        elif kind.startswith(("int", "uint", "decimal", "boolean", "string")):
            assert text == value.partition("::")[0].strip("'")
    text, number = content_module._KNOWN_HASH
    assert number == int.from_bytes(hashlib.md5(text.encode()).digest(), "little")


@pytest.mark.parametrize(
    ("value", "instead"),
    [
        ("0.1::DOUBLE + 0.2::DOUBLE", "round(0.1::DOUBLE + 0.2::DOUBLE, 6)"),
        ("TIMESTAMP '1969-12-31 23:59:59.999999'", "TIMESTAMP '1970-01-01 00:00:00'"),
        ("true", "NULL::BOOLEAN"),
    ],
)
def test_a_version_that_writes_otherwise_is_refused_before_anything_is_digested(value, instead, monkeypatch):
    """As if the engine rounded, in some version to come: two contents would have one digest."""
    known = [(kind, instead if given == value else given, text) for kind, given, text in content_module._KNOWN]
    assert known != list(content_module._KNOWN)
    _refused(monkeypatch, "_KNOWN", tuple(known))


def test_a_version_that_hashes_otherwise_is_refused(monkeypatch):
    """As it was when the hash became an unsigned number."""
    text, number = content_module._KNOWN_HASH
    _refused(monkeypatch, "_KNOWN_HASH", (text, number - 2**128))


def _refused(monkeypatch, name, value):
    monkeypatch.setattr(content_module, name, value)
    content_module._check_engine.cache_clear()
    try:
        with pytest.raises(EngineError, match="writes values in another way"):
            digest(ROWS)
    finally:
        content_module._check_engine.cache_clear()


# ---- marks: one value has one form, whatever it is called and however it is stored

SAME = {
    "int8": pa.array([7, 8, None, -9], pa.int8()),
    "int64": pa.array([7, 8, None, -9], pa.int64()),
    "float": pa.array([7, 8, None, -9], pa.float32()),
    "double": pa.array([7, 8, None, -9], pa.float64()),
    "decimal": pa.array([Decimal("7.00"), Decimal("8.00"), None, Decimal("-9.00")], pa.decimal128(9, 2)),
    "text": pa.array(["7", "8", None, "-9"], pa.string()),
    "large text": pa.array(["7", "8", None, "-9"], pa.large_string()),
    "text of floats": pa.array(["7.0", "8.0", None, "-9.00"], pa.string()),
    "dictionary": pa.array(["7", "8", None, "-9"], pa.string()).dictionary_encode(),
}
OTHER = {
    "another value": pa.array([7, 8, None, -8], pa.int64()),
    "a value for a missing one": pa.array([7, 8, 0, -9], pa.int64()),
    "a text for a missing one": pa.array(["7", "8", "", "-9"], pa.string()),
    "the text of a missing one": pa.array(["7", "8", "-", "-9"], pa.string()),
    "one twice": pa.array([7, 7, 8, None, -9], pa.int64()),
    "one fewer": pa.array([8, None, -9], pa.int64()),
    "a fraction": pa.array([7.5, 8, None, -9], pa.float64()),
    "tenfold": pa.array([70, 80, None, -90], pa.int64()),
    "other texts": pa.array(["7.0.0", "8", None, "-9"], pa.string()),
}


def marks_of(values, name="who"):
    table = pa.table({name: values, "place": pa.array(["a"] * len(values))})
    question = statistic(records(table, person=name), "histogram", by={"place": ["a", "b"]})
    with open_data(question, read_keys(question)) as opened:
        return opened.content(KEY)


@pytest.mark.parametrize("kind", SAME)
def test_one_value_has_one_form(kind):
    assert marks_of(SAME[kind], "id").marks["id"] == marks_of(SAME["int64"]).marks["who"]


def test_different_values_have_different_marks():
    found = [marks_of(values).marks["who"] for values in [SAME["int64"], *OTHER.values()]]
    assert len(set(found)) == len(found)


def test_a_column_that_never_differs_tells_nothing():
    assert marks_of(SAME["int64"]).telling == ("who",)
    assert marks_of(pa.array([1, 1, 1])).telling == ()


def test_renamed_exchanged_and_stored_otherwise_it_is_found(tmp_path):
    """Names, their order, one file or several, its kind, the order of rows: the marks of person and place stay."""
    plain = pd.DataFrame(ROWS[:-1])[["u", "p", "t"]]
    wanted = {content(ROWS[:-1]).marks[name] for name in "up"}
    renamed = plain.rename(columns={"u": "a", "p": "b", "t": "c"})[["c", "b", "a"]].sample(frac=1, random_state=1)
    renamed.to_csv(tmp_path / "all.csv", index=False)
    renamed[:15].to_parquet(tmp_path / "x-1.parquet")
    renamed[15:].to_parquet(tmp_path / "x-2.parquet")
    for source in (str(tmp_path / "all.csv"), str(tmp_path / "x-*.parquet"), renamed):
        found = content(source, person="a", place="b", time="c")
        assert {found.marks[name] for name in "ab"} == wanted
        assert set(found.telling) == {"a", "b"}
    exchanged = plain.rename(columns={"u": "p", "p": "u"})
    assert set(content(exchanged).marks.values()) >= wanted


@pytest.mark.parametrize(("first", "second"), [*itertools.combinations("upt", 2)])
def test_values_that_move_between_rows_change_the_digest_and_no_mark(first, second):
    one, two = ROWS[0], ROWS[1]
    moved = [
        {**one, first: two[first], second: two[second]},
        {**two, first: one[first], second: one[second]},
        *ROWS[2:],
    ]
    linked = content(moved)
    assert linked.marks == content(ROWS).marks
    assert linked.digest != content(ROWS).digest
