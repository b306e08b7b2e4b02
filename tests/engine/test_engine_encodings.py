"""Every text file that is read may begin with a byte order mark of UTF-8; every other encoding is refused by its name."""

from __future__ import annotations

import codecs
import gzip
import json
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from leeward._encodings import unfit
from leeward._toml import read_toml
from leeward.engine._bind import bind
from leeward.errors import DataError, EngineError, InputError, LeewardError
from leeward.local.location._formats import open_positions
from leeward.local.series._files import ReadingsFile
from leeward.local.series._job import _prior
from leeward.planner._expected import read_counts
from leeward.tables._detected import Detected, Seen, detected
from leeward.tables._files import File
from leeward.tables._preview import preview
from leeward.tables._texts import in_utf8


def _csv(path: Path) -> Any:
    with bind(str(path), {"person": "who", "place": "näme"}) as bound:
        return bound.fetch(bound.rows).to_pydict()


def _several(path: Path) -> Any:
    (path.parent / "first.csv").write_text("who,näme\nann,é\n")
    with bind([str(path.parent / "first.csv"), str(path)], {"person": "who", "place": "näme"}) as bound:
        return bound.fetch(bound.rows).to_pydict()


def _positions(path: Path) -> Any:
    pair = ("who", "näme") if path.suffix == ".csv" else (None, None)
    file = open_positions(path, *pair)
    return file.columns, [[a.tolist(), b.tolist(), extra] for a, b, extra in file.positions([])]


def _readings(path: Path) -> Any:
    file = ReadingsFile(path)
    return file.columns, file.read(["näme"], "näme").to_pydict()


FEATURE = {"type": "Feature", "properties": {"näme": "é"}, "geometry": {"type": "Point", "coordinates": [1, 2]}}
TEXT, NUMBERS = "who,näme\nann,é\n", "who,näme\n1,2\n"
FILES: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "spec.toml": ('"näme" = "é"\n', lambda path: read_toml(path)[0]),
    "table.csv": (TEXT, _csv),
    "second.csv": (TEXT, _several),
    "quoted.csv": ('"who","näme"\n"ann","é"\n', _csv),
    "positions.csv": (NUMBERS, _positions),
    "readings.csv": (NUMBERS, _readings),
    "points.geojson": (json.dumps({"features": [FEATURE]}, ensure_ascii=False), _positions),
    "points.geojsonl": (json.dumps(FEATURE, ensure_ascii=False) + "\n", _positions),
    "prior.csv": ("value,weight\n1,1\né,2\n", _prior),
    "counts.csv": ("count,places,näme\n0,7,é\n", lambda path: read_counts(str(path))),
}
NAMED = {"utf-16": "UTF-16", "utf-32": "UTF-32", "utf-16-le": "zero bytes", "utf-16-be": "UTF-8", "latin-1": "Latin-1"}


@pytest.mark.parametrize("name", FILES)
def test_a_byte_order_mark_is_no_character_of_the_text(name: str, tmp_path: Path) -> None:
    text, opened = FILES[name]
    path = tmp_path / name
    path.write_bytes(text.encode())
    plain = opened(path)
    path.write_bytes(text.encode("utf-8-sig"))
    assert opened(path) == plain


@pytest.mark.parametrize("shift", range(3))
@pytest.mark.parametrize("name", ["table.csv", "second.csv", "quoted.csv", "positions.csv", "readings.csv"])
def test_a_mark_is_no_character_of_a_long_text(name: str, shift: int, tmp_path: Path) -> None:
    """Of a long file only the start is looked at first, and it may end within a letter."""
    text, opened = FILES[name]
    letters = "x" * shift + "東" * 1600
    first, *rows = text.splitlines()
    path = tmp_path / name
    path.write_text("\n".join([f"{first},more", *(f"{row},{letters}" for row in rows), ""]), "utf-8")
    plain = opened(path)
    path.write_bytes(codecs.BOM_UTF8 + path.read_bytes())
    assert opened(path) == plain


@pytest.mark.parametrize("encoding", NAMED)
@pytest.mark.parametrize("name", FILES)
def test_another_encoding_is_named(name: str, encoding: str, tmp_path: Path) -> None:
    text, opened = FILES[name]
    (tmp_path / name).write_bytes(text.encode(encoding))
    with pytest.raises(LeewardError, match=r"UTF-8|zero bytes") as caught:
        opened(tmp_path / name)
    assert NAMED[encoding] in str(caught.value) or encoding.startswith("utf-16-"), caught.value
    assert "é" not in str(caught.value)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_what_is_compressed_is_text_too(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress(TEXT.encode(encoding)))
    if encoding == "utf-8-sig":
        assert _csv(path) == {"who": ["ann"], "näme": ["é"]}
    else:
        with pytest.raises(InputError, match="UTF-8"):
            _csv(path)


@pytest.mark.parametrize("look", [detected, lambda name: preview(name, Detected("csv", (Seen("who", "texts"),)))])
@pytest.mark.parametrize("hurt", ["cut", "flipped", "checksum"])
def test_what_does_not_unpack_is_refused_where_it_is_looked_at_too(
    look: Callable[[str], object], hurt: str, tmp_path: Path
) -> None:
    path, packed = tmp_path / "table.csv.gz", bytearray(gzip.compress(TEXT.encode() * 99))
    packed[{"cut": 20, "flipped": 12, "checksum": -6}[hurt]] ^= 255
    path.write_bytes(packed[:30] if hurt == "cut" else packed)
    with pytest.raises(DataError, match=r"table\.csv\.gz' cannot be read: it is"):
        look(str(path))


def test_no_room_for_a_text_that_is_written_anew_is_not_blamed_on_it(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_bytes(TEXT.encode("latin-1") * 9999)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        with pytest.raises(EngineError, match=r"File too large\. Nothing is wrong with the data"):
            in_utf8([File.of(tmp_path / "table.csv")], "latin-1", str(tmp_path))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_latin_1_far_down_is_named_too(tmp_path: Path) -> None:
    rows = b"".join(b"p%d,x\n" % i for i in range(40_000))
    (tmp_path / "t.csv").write_bytes("who,näme\n".encode() + rows + b"ann,\xe9\n")
    with pytest.raises(InputError, match="Latin-1"):
        _csv(tmp_path / "t.csv")


def test_a_mark_inside_a_name_is_seen_in_the_message(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes("\ufeff\ufeffwho,näme\nann,1\n".encode())
    with pytest.raises(InputError, match=r"Did you mean '\\ufeffwho'"):
        _csv(tmp_path / "t.csv")


def test_text_cut_within_a_character_is_still_text() -> None:
    raw = "é" * 9
    assert [unfit(raw.encode()[:size]) for size in range(19)] == [None] * 19
    assert [unfit(raw.encode("utf-8-sig")[:size]) for size in range(22)] == [None] * 22
    assert unfit(b"\xe9" + b"abc") is not None
