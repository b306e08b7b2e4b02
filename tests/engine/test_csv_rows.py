"""No row of a CSV file is lost: what is read is what Python's own reader finds in it, or nothing is."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import re
import zlib
from pathlib import Path
from typing import Any

import pytest

from leeward.engine import _csv_rows as csv_rows
from leeward.engine._bind import bind
from leeward.errors import DataError
from leeward.tables._csv import length, length_by_fields
from leeward.tables._files import File

ENDS = ("\n", "\r\n", "\r")
HEADS = (
    'who,"a note"',
    'who,"a,note"',
    'who,"a ""b"""',
    "who,it's",
    'who,5" pipe',
    'who,"a" b',
    'who,""x',
    'who,"a,b"c',
    'who,"x',
    'who, "q"',
    'who,a""b',
    'who,"a\\"',
    'who,"x\n',
    'who,"a note\n(free)"',
    'who,"a note\r\n(free)"',
    'who,"a note\r(free)"',
    '"a note\n(free)",who',
)
READ = 4
"""The first so many have quotes around whole names or none."""

NOTES = ("n", '6" pipe', '"a ""x""\nb"')


def table(head: str, end: str, note: str, rows: int = 30) -> str:
    cells = (lambda i: f"{note},u{i}") if head.endswith("who") else (lambda i: f"u{i},{note}")
    return head + end + "".join(cells(i) + end for i in range(rows))


def read(source: Any, name: str = "who") -> list[str] | None:
    try:
        with bind(source, {"person": name}) as bound:
            found: list[str] = bound.fetch(bound.rows).column(name).to_pylist()
            return found
    except DataError:
        return None


def test_every_first_line_is_read_whole_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for (at, head), end, note in itertools.product(enumerate(HEADS), ENDS, NOTES):
        path.write_bytes(table(head, end, note).encode())
        found = read(str(path))
        assert found in ([f"u{i}" for i in range(30)], None), (head, end, note)
        if end != "\r" and "\n" not in note and at < READ:
            assert found is not None, (head, end, note)


def test_no_file_of_several_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_bytes(table("who,note", "\r\n", "n").encode())
    (tmp_path / "2.csv").write_bytes(table('who,"note\n(free)"', "\r\n", "n").encode())
    with (
        pytest.raises(DataError, match=r"2\.csv': it ends within quotes: a name holds a line break"),
        bind(str(tmp_path / "*.csv"), {"person": "who"}),
    ):
        pass


@pytest.mark.parametrize(("head", "because"), [('who,"a" b', "beside other text"), ('who,"x', "not closed")])
def test_what_is_wrong_with_a_first_line_is_told(head: str, because: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(table(head, "\n", "n"))
    with pytest.raises(DataError, match=because) as caught, bind(str(tmp_path / "a.csv"), {"person": "who"}):
        pass
    assert '"a" b' not in str(caught.value)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("lost", ["all", "one", "one more"])
@pytest.mark.parametrize("note", ["n", '6" pipe'])
def test_an_engine_that_loses_rows_is_found_out(
    note: str, lost: str, packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = csv_rows._read

    def wrong(*given: Any) -> Any:
        found = right(*given)
        rows = {"all": 0, "one": 29, "one more": 1}[lost]
        few = f"(SELECT * FROM ({found}) LIMIT {rows})"
        return f"{found} UNION ALL {few}" if lost == "one more" else few

    text = table("who,note", "\n", note).encode()
    path = tmp_path / ("a.csv.gz" if packed else "a.csv")
    path.write_bytes(gzip.compress(text) if packed else text)
    monkeypatch.setattr(csv_rows, "_read", wrong)
    with pytest.raises(DataError, match="does not find the rows that are in it"), bind(str(path), {"person": "who"}):
        pass


@pytest.mark.sweep
def test_records_are_counted_as_python_reads_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All texts of four signs, in pieces of two bytes; what misleads the quick count is told to be so."""
    monkeypatch.setattr("leeward.tables._csv._PIECE", 2)
    (tmp_path / "a.csv").touch()
    file, checked = File.of(tmp_path / "a.csv"), 0
    for signs in itertools.product(("a", ",", "\n", "\r", '"', '""', '"a\r\n"'), repeat=4):
        text = "h\n" + "".join(signs)
        Path(file.path).write_bytes(text.encode())
        found = length(file, ",")
        try:
            records = list(csv.reader(io.StringIO(text, newline=""), strict=True))
        except csv.Error:
            assert not found.regular, text
            assert length_by_fields(file, ",") is None
            continue
        by_fields = length_by_fields(file, ",")
        assert by_fields is not None
        fields = len(records), sum(map(bool, records)), sum(len(record) - 1 for record in records if record)
        assert (by_fields.lines, by_fields.filled, by_fields.separators) == fields
        assert found.longest >= max(map(len, re.split("[\r\n]", text)))
        if found.regular:
            assert (found.lines, found.filled, found.separators) == fields, text
            checked += 1
    assert checked > 700


@pytest.mark.parametrize("rows", ['u1,"x\nu2,y\n', 'u1,x\nu2,"y', 'u1,x\nu2,"', 'u1,x\n"u2,y\nu3,z\n', 'u1,"x\n', '"'])
@pytest.mark.parametrize("packed", [False, True])
def test_a_quote_that_is_not_closed_loses_no_row(rows: str, packed: bool, tmp_path: Path) -> None:
    text, path = ("who,note\n" + rows).encode(), tmp_path / ("a.csv.gz" if packed else "a.csv")
    path.write_bytes(gzip.compress(text) if packed else text)
    with (
        pytest.raises(DataError, match=r"Line . of the file .*: a quote begins in it that is not closed"),
        bind(str(path), {"person": "who"}),
    ):
        pass


PARIS = "who,place,note\n{},\nu2,q,n\n"


@pytest.mark.parametrize(
    "row", ["u1,Paris, TX", 'u1,Paris, TX,""', "u1,Paris, TX,,", 'u1,6" pipe, new', 'u1,6" p, 7" q', "u1,p,n"]
)
@pytest.mark.parametrize("packed", [False, True])
def test_a_comma_in_a_name_that_is_not_quoted_moves_nobody(row: str, packed: bool, tmp_path: Path) -> None:
    """The engine leaves out empty fields behind the last column: Paris, TX was read as Paris, and so nobody was there."""
    text, path = PARIS.format(row).encode(), tmp_path / ("a.csv.gz" if packed else "a.csv")
    path.write_bytes(gzip.compress(text) if packed else text)
    with pytest.raises(DataError, match=r"Line 2 of the file .*: it has . fields, and the first line names 3"):
        list(csv_rows_of(path))


def csv_rows_of(path: Path) -> list[str]:
    with bind(str(path), {"place": "place"}) as bound:
        found: list[str] = bound.fetch(bound.rows).column("place").to_pylist()
    return found


HEADED = ("who", "place", "at", "note")
ASKED = ("who", "place", "at")


@pytest.mark.parametrize("order", list(itertools.permutations(HEADED)))
def test_a_second_first_line_with_another_order_is_refused(order: tuple[str, ...], tmp_path: Path) -> None:
    """Two files put into one: people stood in the column of places, and the places of the second file were safe."""
    path, rows = (
        tmp_path / "both.csv",
        [HEADED, ("u1", "p", "9", "n"), order, *[tuple(f"{name}2" for name in order)] * 3],
    )
    path.write_text("".join(",".join(row) + "\n" for row in rows))
    moved = [name for name, is_now in zip(HEADED, order, strict=True) if name in ASKED and name != is_now]
    asked = {f"column {i}": name for i, name in enumerate(ASKED)}
    if moved:
        with pytest.raises(
            DataError, match=r"The file '.*both.csv': one of its lines names the columns .* another order"
        ):
            bind(str(path), asked).__enter__()
        return
    with bind(str(path), asked) as bound:
        assert bound.fetch(bound.rows).num_rows == 5


def test_a_value_that_is_called_as_a_column_is_a_value(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("who,place\nplace,p\nwho,place\nu,who\n")
    assert csv_rows_of(path) == ["p", "place", "who"]


@pytest.mark.long
@pytest.mark.sweep
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_all_rows_have_as_many_fields_as_there_are_columns_or_none_is_read(end: str, tmp_path: Path) -> None:
    path, seen = tmp_path / "a.csv", [0, 0]
    signs = ("", "x", '""', '"y, z"', "5'", '6"')
    rows = [
        ",".join(each)
        for n in (1, 2, 3, 4)
        for each in itertools.product(signs, repeat=n)
        if n < 4 or each[1:3] == ("", "")
    ]
    for row, before in itertools.product(rows, ("", "u,v" + end)):
        path.write_bytes(f"who,note{end}{before}{row}{end}w,x".encode())
        records = [each for each in csv.reader(io.StringIO(f"{before}{row}{end}w,x", newline="")) if each]
        found = read(str(path))
        if any(len(each) != 2 for each in records):
            assert found is None, row
        elif found is not None:
            assert [who or None for who, _ in records] == found, row
        seen[found is None] += 1
    assert min(seen) > 40, "some are read, and some refused"


def test_rows_of_3_mb_and_of_many_quoted_lines_are_read(tmp_path: Path) -> None:
    path, lines = tmp_path / "a.csv", "\n".join(["plain,F,c"] * 400)
    path.write_text("note,who,v\n" + "".join(f'"{lines}",u{i},b\nplain,w{i},a\n' for i in range(5000)))
    assert read(str(path)) == [f"{who}{i}" for i in range(5000) for who in "uw"]
    path.write_text("note,who,v\n" + "".join(f"{'y' * (3_000_000 if i == 2 else 1)},u{i},b\n" for i in range(5)))
    assert read(str(path)) == [f"u{i}" for i in range(5)]


@pytest.mark.parametrize("flag", [0x10, 0x02])
def test_a_packed_file_with_a_head_that_the_engine_does_not_know_is_told_as_that(flag: int, tmp_path: Path) -> None:
    whole = gzip.compress(table("who,note", "\n", "n").encode())
    head = whole[:3] + bytes([flag]) + whole[4:10]
    more = b"a comment\0" if flag == 0x10 else (zlib.crc32(head) & 0xFFFF).to_bytes(2, "little")
    (tmp_path / "a.csv.gz").write_bytes(head + more + whole[10:])
    with pytest.raises(DataError, match="packed with a comment"), bind(str(tmp_path / "a.csv.gz"), {"person": "who"}):
        pass
