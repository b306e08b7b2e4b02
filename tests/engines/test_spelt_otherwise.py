"""Listed keys that rows spell otherwise are told alike by every engine, and as a slow comparison in Python finds them."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.sources import describe_by
from tests.spark import spark

import leeward as lw
from leeward.engine import open_data, read_keys

Session = tuple[psycopg.Connection[Any], str]

LISTED = [
    *["north", "north west", "7", "South", "east", "a\\d", "x.y", "none", "é", "0"],
    *["caf\u00e9", "\uff17a", "O'Hare", "a-b", "ab", "wide space", "5b", "30"],
    *["haifa", "jaffa", "\\u200fakko", "m\u202en", "tel \u2764"],
    *["52", "4000", "1,600,000", "12.0"],
    *["north (exit)", "A~B", "Hawai'i", 'bar "Luna"', "1-2-3", "San\u00b7ta", "c/d", "Wi-Fi"],
]
NAMED = [
    *["north", "north ", " north", "north\u00a0 west", "NORTH WEST", "007", "00"],
    *["south", "East ", "a\\d ", "x-y", "É", "q"],
    *["cafe\u0301", "7a", "O\u2019Hare", "a\u2013b", "a\u200bb\ufeff", "wide\u3000\u2009space"],
    *["\uff15\uff42", "\u0663\u0660"],
    *["\u200fhaifa", "\u2067jaffa\u2069", "\u200fakko", "m\\u202en", "tel \u2764\ufe0f"],
    *["52.0", "52.5", "4.000\u202f000", "4'000", "1600000", "12", "120"],
    *[
        "north \uff08exit\uff09",
        "A\u301cB",
        "Hawai\u02bbi",
        "bar \u201cLuna\u201d",
        "1\u30fc2\u22123",
        "San\u30fbta",
        "c\uff0fd",
    ],
    "\uff37i\u2010Fi",
]
INSIDE, LATER = "2024-03-01T10:00", "2024-03-02T10:00"
ROWS = [*((key, INSIDE) for key in NAMED), ("NONE", LATER)]


def spaced(key: str) -> str:
    return " ".join(
        "".join(sign for sign in key if unicodedata.category(sign) != "Cf" and not "\ufe00" <= sign <= "\ufe0f").split()
    )


def forms(key: str) -> set[str]:
    """The ways to write a key in Unicode, with signs that nobody sees written out or not."""
    out = "".join(c if c.isprintable() or c in " \u00a0" else c.encode("unicode_escape").decode() for c in key)
    back = re.sub(r"\\u([0-9a-f]{4})", lambda sign: chr(int(sign[1], 16)), key)
    normal = {unicodedata.normalize(form, each) for each in (key, out, back) for form in ("NFC", "NFD", "NFKC", "NFKD")}
    return {key, out, back} | normal


def narrow(key: str) -> str:
    """Without letters and digits that are wide, or of other scripts."""
    digits = "".join(str(unicodedata.digit(c)) if unicodedata.category(c) == "Nd" else c for c in key)
    return "".join(unicodedata.normalize("NFKC", c) if "\uff00" < c < "\uff5f" else c for c in digits)


def whole(key: str) -> str:
    """A whole number without a fraction that is nothing, and without what parts its thousands."""
    key = re.sub(r"^(\d+)\.0+$", r"\1", key)
    for _ in range(3):
        key = re.sub("^(\\d+)[,.' \u00a0\u202f\u2019](\\d{3})", r"\1\2", key)
    return key


def ways(lower: Callable[[str], str]) -> dict[str, Callable[[str], str]]:
    """In what keys may differ, in this order."""
    marks = str.maketrans("\u2018\u2019\u02bb\u201c\u201d\u2010\u2013\u2212\u30fc\u301c\u30fb", "'''\"\"----~\u00b7")
    return {
        "Unicode forms": narrow,
        "spaces": spaced,
        "upper and lower case": lower,
        "spaces, and upper and lower case": lambda key: lower(spaced(key)),
        "zeros in front": lambda key: re.sub(r"^0+(?=\d)", "", key),
        "apostrophes, quotes, dashes and dots": lambda key: narrow(key).translate(marks),
        "how whole numbers are written": whole,
    }


def of_ascii(key: str) -> str:
    """Small letters as PostgreSQL makes them where letters are compared by their codes."""
    return re.sub("[A-Z]", lambda letter: letter[0].lower(), key)


def in_a_file(folder: Path, _session: Session) -> dict[str, Any]:
    return {"table": folder / "people.csv", "of": {}}


def in_postgres(_folder: Path, session: Session) -> dict[str, Any]:
    connection, address = session
    connection.execute("CREATE TABLE spelt (who text, ward text, at timestamp)")
    with connection.cursor() as cursor:
        cursor.executemany("INSERT INTO spelt VALUES (%s, %s, %s)", [(f"p{i}", *row) for i, row in enumerate(ROWS)])
    return {"table": address, "of": {"table": "spelt", "engine": "postgres"}}


def copied_from_postgres(folder: Path, session: Session) -> dict[str, Any]:
    return {"table": in_postgres(folder, session)["table"], "of": {"table": "spelt"}}


def in_spark(folder: Path, _session: Session) -> dict[str, Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    spark()
    wards, times = zip(*ROWS, strict=True)
    table = {
        "who": [f"p{i}" for i in range(len(ROWS))],
        "ward": wards,
        "at": pa.array(map(datetime.fromisoformat, times), pa.timestamp("us")),
    }
    pq.write_table(pa.table(table), folder / "people.parquet")
    return {"table": folder / "people.parquet", "of": {"engine": "spark"}}


HELD = [in_a_file, in_postgres, copied_from_postgres, pytest.param(in_spark, marks=pytest.mark.sweep)]


@pytest.mark.parametrize("held", HELD)
@pytest.mark.filterwarnings("ignore:unclosed.*socket:ResourceWarning")
def test_every_engine_tells_them_alike(held: Any, tmp_path: Path, session: Session) -> None:
    with (tmp_path / "people.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("who", "ward", "at"), *((f"p{i}", *row) for i, row in enumerate(ROWS))])
    there = held(tmp_path, session)
    rows = describe_by(lw.records, there["table"], person="who", time="at", **there["of"])
    query = lw.statistic(rows, "count", by={"ward": LISTED}, start="2024-03-01", end="2024-03-02")
    with open_data(query, read_keys(query)) as opened:
        found, of_all = opened.matches(query, [query.window]), opened.survey(query).matches
    alike, split, seen = dict[str, tuple[str, ...]](), dict[str, tuple[str, ...]](), set[str]()
    for way, written in ways(of_ascii if held is in_postgres else str.lower).items():
        others = {written(key) for key in NAMED if key not in LISTED}
        met = [key for key in LISTED if {*map(written, forms(key))} & others and key not in seen]
        seen |= {*met}
        for into, those in ((alike, [k for k in met if k not in NAMED]), (split, [k for k in met if k in NAMED])):
            if those:
                into[way] = tuple(those)
    assert alike
    assert split
    assert (found.alike, found.split) == (alike, split)
    assert (found.listed, found.named, found.unlisted) == (len(LISTED), 1, len(NAMED) - 1)
    assert {key for keys in of_all.alike.values() for key in keys} - {
        key for keys in alike.values() for key in keys
    } == {"none"}
