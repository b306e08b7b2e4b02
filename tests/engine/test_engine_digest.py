"""The digest notices every change of the rows, and nothing else; the marks find the same values under any name."""

import hashlib
import hmac
import itertools
import json
import re
import struct
import threading
from datetime import datetime, timedelta
from decimal import Decimal
from unittest.mock import Mock

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from tests.sources import describe_by
from tests.visited import open_visits

from leeward.cli import EngineError
from leeward.engine import _content as content_module
from leeward.engine import _row_sums as row_sums
from leeward.engine import open_data, read_keys, read_places
from leeward.engine._bind import _streamed, bind, translated
from leeward.engine._content import recognised
from leeward.engine._row_sums import Asked, nothing, sums_of, total
from leeward.errors import DataError
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


def test_different_rows_have_different_hashes():
    """Whatever texts hold: commas, zeros, what lengths and blocks look like, and nothing; with one more or one fewer."""
    texts = [None, "", ",", "\0", "\0\0", "a", "a\0", "é", "x" * 15, "x" * 16, "x" * 17, "x" * 32, "x" * 16 + "\0" * 16]
    numbers = [None, 0, 1, -1, 2**63 - 1]
    rows = [*itertools.product(texts, numbers, texts)]
    columns = [pa.array(column) for column in zip(*rows, strict=True)]
    batch = pa.record_batch(columns, [f"v{i}" for i in range(3)])
    asked = Asked(("text", "whole", "text"), rows=True, values=(), times=(), key=bytes(range(48)))
    single = {tuple(sums_of([batch.slice(i, 1)], asked).rows) for i in range(batch.num_rows)}
    assert len(single) == len(rows)


def test_a_time_beyond_64_bits_is_its_text_and_its_row_is_no_other():
    """Rows with one, two and no such times; of the same words otherwise."""
    far = ["+292278-01-01", "+292279-01-01", None]
    rows = [*itertools.product(far, far, (0, None))]
    single = set()
    for first, second, other in rows:
        held = ((None, "int64"), (first, "string"), (None, "int64"), (second, "string"))
        arrays = [pa.array([value], kind) for value, kind in held]
        batch = pa.record_batch([*arrays, pa.array([other], "int64")], ["v0", "t0", "v1", "t1", "v2"])
        asked = Asked(("time", "time", "whole"), rows=True, values=(0,), times=(), key=bytes(range(48)))
        found = sums_of([batch], asked)
        single.add((*found.rows, *found.values["0"]))
    assert len(single) == len(rows)


def test_a_date_beyond_64_bits_of_microseconds_is_not_a_missing_one():
    """Through the engine, which has dates of years that its times do not reach."""
    found = set()
    with duckdb.connect() as engine:
        for date in ("NULL", "'1970-01-01'", "'infinity'", "'-infinity'", "'400000-01-01'", "'400000-01-02'"):
            with bind(engine.sql(f"SELECT {date}::DATE AS d"), {"a value": "d"}) as bound:
                made = recognised(bound, KEY, ())
                found.add((made.digest, *made.marks.values()))
    assert len(found) == len({digest for digest, _ in found}) == len({mark for _, mark in found}) == 6


@pytest.mark.parametrize("cut", [1, 2, 3, 50, 1000])
def test_parts_of_a_table_add_up_to_the_whole_however_it_is_cut(cut):
    """Slices of Arrow begin anywhere in their buffers; each engine cuts a table as it likes."""
    size = 200
    data = pa.table(
        {
            "v0": [None if i % 7 == 0 else f"{'é' * (i % 40)}{i % 11}" for i in range(size)],
            "v1": [None if i % 5 == 0 else i * 10**16 for i in range(size)],
            "v2": pa.array([None if i % 3 == 0 else i % 2 == 0 for i in range(size)]),
            "v3": [None if i % 4 == 0 else i / 8 for i in range(size)],
            "v4": [None if i % 6 < 2 else i for i in range(size)],
            "t4": [f"+{300000 + i}" if i % 6 == 0 else None for i in range(size)],
        }
    )
    asked = Asked(("text", "whole", "flag", "real", "time"), True, (0, 1, 2, 3), (4,), bytes(range(48)))
    cast = data.cast(pa.schema([("v0", pa.large_string()), *list(data.schema)[1:]]))
    whole = sums_of(data.combine_chunks().to_batches(), asked)
    for table in (data, cast):
        parts = [sums_of([batch], asked) for batch in table.to_batches(max_chunksize=cut)]
        assert total(parts, asked) == sums_of(table.to_batches(max_chunksize=cut), asked) == whole
    assert total([], asked) == sums_of([], asked) == nothing(asked)
    coded = [
        batch.set_column(0, "v0", batch.column(0).dictionary_encode()) for batch in data.to_batches(max_chunksize=cut)
    ]
    assert sums_of(coded, asked) == whole


def test_a_long_text_is_hashed_as_a_short_one_is():
    """On both sides of the length from which texts are hashed by themselves, against the definition."""
    texts = ["x" * n for n in (0, 1, 15, 16, 17, 1008, 1023, 1024, 1025, 1040, 5000)]
    asked = Asked(("text",), rows=False, values=(0,), times=(), key=bytes(range(48)))
    for text in texts:
        found = sums_of([pa.record_batch([pa.array([text])], ["v0"])], asked)
        block = cbc(bytes(range(32, 48)), cbc(bytes(range(16, 32)), struct.pack(">QQ", len(text), 0) + text.encode()))
        assert found.first["0"] == [*struct.unpack(">QQ", block)]


def test_a_long_text_is_hashed_in_a_few_steps(monkeypatch):
    """Not a step of Python for each of its blocks: a column of texts of 10 kB would take minutes."""
    steps, once = [], row_sums._encrypted
    monkeypatch.setattr(row_sums, "_encrypted", lambda *given: steps.append(1) or once(*given))
    asked = Asked(("text",), rows=True, values=(0,), times=(), key=bytes(range(48)))
    sums_of([pa.record_batch([pa.array(["x" * 100_000, "short"])], ["v0"])], asked)
    assert len(steps) < 100


def test_what_is_found_wrong_while_rows_are_hashed_shows_no_value(tmp_path):
    """What DuckDB says of a later part of a table comes through Arrow, as another exception."""
    held = pa.array([b"p%d" % i for i in range(300_000)] + [b"8675309\xff"], pa.binary())
    texts = pa.Array.from_buffers(pa.string(), len(held), held.buffers())
    pq.write_table(pa.table({"a": texts}), tmp_path / "t.parquet", use_dictionary=False)
    with (
        pytest.raises(DataError, match="cannot be read") as refused,
        bind(tmp_path / "t.parquet", {"a": "a"}) as bound,
    ):
        recognised(bound, KEY, ())
    assert "8675309" not in str(refused.value)
    assert refused.value.__context__ is None


@pytest.mark.parametrize(
    ("told", "raised", "match"),
    [
        ("INTERRUPT Error: Interrupted!", KeyboardInterrupt, None),
        ("Out of Memory Error: 8675309", DataError, "does not fit"),
        ("Conversion Error: 8675309", DataError, "beyond what can be counted"),
        ("anything at all: 8675309", DataError, "cannot be read"),
    ],
)
def test_each_is_refused_as_it_is_elsewhere(told, raised, match):
    with pytest.raises(raised, match=match) as refused, translated(), _streamed():
        raise OSError(told)
    assert "8675309" not in str(refused.value)


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


def test_what_is_asked_and_what_is_found_show_neither_key_nor_value():
    asked = Asked(("whole",), rows=True, values=(0,), times=(), key=b"0123456789abcdef" * 3)
    found = sums_of([pa.record_batch([pa.array([8675309])], ["v0"])], asked)
    assert "cdef" not in repr(asked)
    assert not {"8675309", str(8675309 << 64)} & set(re.findall(r"[0-9]+", repr(found)))


def test_what_it_covers_is_said():
    made = content(ROWS, keep={"s": ["STAY"]})
    assert made.columns == ("u", "t", "p", "s")
    assert set(made.marks) == set(made.columns)
    assert made.telling == ("u", "p", "s"), "every hour once is what many tables have"
    assert "mark" not in repr(made)
    assert str(made.digest) not in repr(made)


def cbc(key, message):
    """CBC-MAC by the definition: a block at a time, zeros behind the message."""
    state = bytes(16)
    cipher = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    for at in range(0, len(message), 16):
        block = message[at : at + 16].ljust(16, b"\0")
        state = cipher.update(bytes(x ^ y for x, y in zip(state, block, strict=True)))
    return state


def oracle(columns, types, key=KEY, times=()):
    """Digest and marks of columns of Python's values (None: missing), by the definition alone, a row at a time.

    Times are integers, and what an engine writes as text is one. A float of 32 bits is of the mark its shortest text.
    """

    def derived(purpose):
        return hmac.new(key, f"leeward content 3: {purpose}".encode(), hashlib.sha256).digest()[:16]

    def of_text(text):
        return cbc(derived("texts"), struct.pack(">QQ", len(text.encode()), 0) + text.encode())

    def words(value, kind):
        if isinstance(value, str) or (value is None and not kind.startswith(("int", "float", "bool", "time", "date"))):
            return bytes(16) if value is None else of_text(value)
        return struct.pack(">d" if isinstance(value, float) else ">q", 0 if value is None else value)

    def block(value, kind):
        if value is None:
            return bytes(16)
        text = {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)
        if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
            text = str(int(value))
        elif isinstance(value, float):
            return struct.pack(">Qd", 2, float(str(np.float32(value))) if kind == "float32" else value)
        if match := re.fullmatch(r"([+-]?[0-9]+)\.0*", text) or re.fullmatch(r"([+-]?[0-9]+\.[0-9]*[1-9])0+", text):
            text = match[1]
        if re.fullmatch(r"0|-?[1-9][0-9]{0,17}", text):
            return struct.pack(">Qq", 1, int(text))
        if re.fullmatch(r"-?(0|[1-9][0-9]{0,6})\.[0-9]{1,7}", text) and not text.endswith("0"):
            return struct.pack(">Qd", 2, float(text))
        return of_text(text)

    def sums(hashes):
        pairs = [struct.unpack(">QQ", each) for each in hashes]
        return [sum(pair[half] for pair in pairs) for half in (0, 1)]

    def stretched(*parts):
        return hashlib.scrypt(json.dumps(list(parts)).encode(), salt=key, n=8192, r=8, p=1, dklen=32)

    hashed = []
    for row in zip(*columns.values(), strict=True):
        missing = sum(4**i for i, value in enumerate(row) if value is None)
        message = b"".join(words(value, kind) for value, kind in zip(row, types, strict=True))
        hashed.append(cbc(derived("rows"), struct.pack(">Q", missing) + message))
    marks = {}
    for (name, values), kind in zip(columns.items(), types, strict=True):
        two = sums([cbc(derived("values"), block(value, kind)) for value in values])
        if name in times:
            two = [len(values) - values.count(None), sum(v for v in values if v is not None)]
        marks[name] = stretched("values", len(values), *two).hex()[:32]
    return stretched("rows", list(columns), types, len(hashed), *sums(hashed)), marks


def test_they_are_what_the_definition_says_whatever_engine_makes_them():
    """So a new version of the engine that counts or writes otherwise is noticed here, not by its users."""
    micro = [None if r["t"] is None else (r["t"] - datetime(1970, 1, 1)) // timedelta(microseconds=1) for r in ROWS]
    columns = {"u": [r["u"] for r in ROWS], "t": micro, "p": [r["p"] for r in ROWS]}
    made = content(ROWS)
    wanted, marks = oracle(columns, ["string", "timestamp(6)", "string"], times=("t",))
    assert (made.digest, made.marks) == (wanted, marks)


EVERY_KIND = {
    "floats": (pa.array([0.1 + 0.2, 1 / 3, 5e-324, -0.0, None]), "float64"),
    "single": (pa.array([0.1, 16777215, -1.5, 0, None], pa.float32()), "float32"),
    "whole": (pa.array([-(2**63), 2**63 - 1, 10**18, 7, None]), "int64"),
    "exact": (
        pa.array([Decimal("7.00"), Decimal("-0.05"), Decimal("0.00"), Decimal("1.50"), None], pa.decimal128(9, 2)),
        "decimal(9, 2)",
    ),
    "flags": (pa.array([True, False, True, False, None]), "boolean"),
    "texts": (pa.array(["7.0", "", "-", "é\n:", None]), "string"),
    "like numbers": (pa.array(["007", "-0", "+7.00", "1234567890123456789", "1" * 40]), "string"),
    "decimals": (pa.array(["-0.50", "00.5", "7.00", "1234567.1234567", "0.12345678"]), "string"),
}
"""A column and its type."""

FROZEN = "011ca9ceea5cf62d439cebc6f49b98eeb73ebcbd73423565e2ae79eb9d154317"


def test_every_kind_of_value_is_digested_as_it_ever_was():
    """A frozen digest: made by the oracle, which uses neither the engine nor ours, and the same in every version of both."""
    data = pa.table({name: column for name, (column, _) in EVERY_KIND.items()})
    values = {name: [str(v) if isinstance(v, Decimal) else v for v in data[name].to_pylist()] for name in EVERY_KIND}
    digested, marks = oracle(values, [kind for _, kind in EVERY_KIND.values()])
    assert digested.hex() == FROZEN
    with bind(data, {name: name for name in values}) as bound:
        found = recognised(bound, KEY, ())
        assert found.digest.hex() == FROZEN
        assert found.marks == marks


def test_a_decimal_without_digits_before_the_point_is_written_with_a_0():
    """DuckDB writes none there, PostgreSQL and Spark write one: of one table there would be two digests."""
    values = [Decimal("0.5000"), Decimal("-0.0001"), Decimal("0.0000"), None]
    digested, marks = oracle({"d": [None if v is None else f"{v:.4f}" for v in values]}, ["decimal(4, 4)"])
    with bind(pa.table({"d": pa.array(values, pa.decimal128(4, 4))}), {"d": "d"}) as bound:
        found = recognised(bound, KEY, ())
        assert (found.digest, found.marks) == (digested, marks)


def test_nan_is_one_value_whatever_its_bits():
    made = [
        struct.unpack("<d", struct.pack("<Q", bits))[0] for bits in (0x7FF8 << 48, 0xFFF8 << 48, (0x7FF8 << 48) + 1)
    ]
    assert len({marks_of(pa.array([value, 1.0, None])).digest for value in made}) == 1


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("kind", "bits"), [("f8", 0x7FF00000000007A2), ("f4", 0x7F800001)])
def test_a_nan_that_signals_is_one_too_and_prints_no_warning(kind, bits):
    """R's missing number is one."""
    held = np.array([bits, 0], f"u{kind[1]}").view(kind)
    asked = Asked(("real",), rows=True, values=(0,), times=(), key=bytes(range(48)))
    found = [
        sums_of([pa.record_batch([pa.array(values)], ["v0"])], asked) for values in (held, np.array([np.nan, 0], kind))
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("value", "instead"),
    [
        ("' 7.0'", "'7.0'"),
        ("TIME '23:59:59.999999'", "TIME '23:59:59'"),
        ("'\\xFF\\x00a'::BLOB", "NULL::BLOB"),
    ],
)
def test_a_version_that_writes_otherwise_is_refused_before_anything_is_digested(value, instead, monkeypatch):
    """As if the engine rounded, in some version to come: two contents would have one digest."""
    known = [(kind, instead if given == value else given, text) for kind, given, text in content_module._KNOWN]
    assert known != list(content_module._KNOWN)
    _refused(monkeypatch, "_KNOWN", tuple(known))


def _refused(monkeypatch, name, value):
    monkeypatch.setattr(content_module, name, value)
    content_module._check_engine.cache_clear()
    try:
        with pytest.raises(EngineError, match="writes values in another way"):
            digest(ROWS)
    finally:
        content_module._check_engine.cache_clear()


def test_an_engine_that_finds_no_memory_is_no_defect(monkeypatch):
    """As under ``ulimit -v``, where the first engine has most of it already."""

    def connect():
        raise duckdb.OutOfMemoryException("Out of Memory Error: Allocation failure")

    content_module._check_engine.cache_clear()
    monkeypatch.setattr(content_module.duckdb, "connect", connect)
    with pytest.raises(EngineError, match=r"cannot be set up.*Nothing is wrong with the data"):
        content_module._check_engine()


def test_a_process_that_may_start_no_thread_makes_the_same_digest(monkeypatch):
    """As under ``ulimit -u``, or in a container with few processes."""
    wanted = digest(ROWS)
    content_module._stretched.cache_clear()
    monkeypatch.setattr(threading.Thread, "start", Mock(side_effect=RuntimeError("can't start new thread")))
    assert digest(ROWS) == wanted


def test_a_digest_for_which_there_is_no_memory_is_refused_as_other_work_is(monkeypatch):
    content_module._stretched.cache_clear()
    monkeypatch.setattr(content_module, "_COST", 1 << 20)  # a gigabyte, which OpenSSL does not take by itself
    with pytest.raises(MemoryError):
        content_module._stretched(KEY, "[]")
    content_module._stretched.cache_clear()


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
