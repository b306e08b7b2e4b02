"""Every refusal of a configuration, before a service listens: one key is changed alone, and its own words say why."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.service.conftest import PEOPLE, SERVICE, write_tables

from leeward.errors import LeewardError
from leeward.service._offers import read_offers

ONE = 'most_epsilon = "2"\ncolumns'
REFUSED: dict[str, tuple[str, str, str]] = {
    "nothing is the most": (ONE, ONE.replace("2", "0"), r"most_epsilon = '?0'?: it is not above 0"),
    "less than nothing": (ONE, ONE.replace("2", "-1"), "most_epsilon"),
    "without an end": (ONE, ONE.replace("2", "inf"), "it is not above 0"),
    "no number": (ONE, ONE.replace("2", "much"), "most_epsilon"),
    "a promise that is none": ('notions = ["addition-only", "dp"]\nmost_epsilon = "2"\ncolumns', ONE, "notions"),
    "a promise of another name": ('["addition-only", "dp"]\nmost_epsilon = "2"\ncolumns', f'["gdp"]\n{ONE}', "gdp"),
    "no kind": ('kinds = ["visitors", "busiest"]', "kinds = []", "kinds"),
    "a tick without length": ("seconds = 1", "seconds = 0", "seconds"),
    "a tick of hours": ("seconds = 1", "seconds = 601", "seconds"),
    "a host without a name": ('"data.example.org"', '""', "not the name of a host"),
    "a host with a path": ('"data.example.org"', '"data.example.org/x"', "not the name of a host"),
    "a host with a user": ('"data.example.org"', '"me@data.example.org"', "not the name of a host"),
    "two hosts in one": ('"data.example.org"', '"a.org,b.org"', "not the name of a host"),
    "a host in letters that are none": ('"data.example.org"', '"dat\u00e4.org"', "not the name of a host"),
    "a name that is a path": ("[data_sets.people]", '[data_sets."../people"]', "letters, digits"),
    "groups of a column of no values": ('["north", "south"]', "[]", "ward"),
    "a column that is no text": (
        'columns = ["age"]',
        "columns = [1]",
        r'Write it in quotation marks: columns = \["…"\]',
    ),
    "a data set that is no section": ("seconds = 1", 'data_sets.people2 = "x"', r"Write \[data_sets.people2\], and"),
    "a key that is none": ("seconds = 1", "second = 1", "second"),
}


@pytest.mark.parametrize("which", REFUSED)
def test_a_configuration_that_could_not_be_served_is_refused_by_name(which: str, tmp_path: Path) -> None:
    before, after, words = REFUSED[which]
    assert SERVICE.count(before) == 1
    write_tables(tmp_path)
    read_offers(tmp_path / "service.toml")
    (tmp_path / "service.toml").write_text(SERVICE.replace(before, after), "utf-8")
    with pytest.raises(LeewardError, match=words):
        read_offers(tmp_path / "service.toml")


def test_a_budget_without_a_notion_is_not_offered(tmp_path: Path) -> None:
    """The first question that anybody asked would decide what it is counted in."""
    write_tables(tmp_path)
    (tmp_path / "people.toml").write_text(PEOPLE.replace('notion = "addition-only"\n', ""), "utf-8")
    with pytest.raises(LeewardError, match=r"\[budget\] notion is missing in 'people.toml'"):
        read_offers(tmp_path / "service.toml")


def test_what_offers_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "service.toml").write_text('tokens = "tokens.json"\n', "utf-8")
    with pytest.raises(LeewardError, match="Nothing is offered"):
        read_offers(tmp_path / "service.toml")


@pytest.mark.parametrize(("column", "kept"), [("ward", ["north"]), ("age", [20])])
def test_the_filter_of_the_curator_stands_in_the_probe_of_what_is_offered(
    column: str, kept: list[object], tmp_path: Path
) -> None:
    write_tables(tmp_path)
    values = ", ".join(f'"{each}"' if isinstance(each, str) else str(each) for each in kept)
    text = PEOPLE.replace('person = "id"', f'person = "id"\nkeep = {{ {column} = [{values}] }}')
    (tmp_path / "people.toml").write_text(text, "utf-8")
    probes = [*read_offers(tmp_path / "service.toml").data_sets["people"].probes()]
    wanted = {"ward": ["north", "south"]} | {column: kept}
    assert probes[0].data.keep == wanted
