# SPDX-License-Identifier: Apache-2.0
"""What may be published: answers, the public list, and the privacy statement; and how it is written to a directory."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import InitVar, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from leeward._buffers import repeated
from leeward._optional import optional
from leeward._plain import plain
from leeward._private import Private
from leeward._statement import Statement, WindowsStatement, window_of
from leeward.errors import InputError, RefusedError, check_choice
from leeward.outputs import STATEMENT, Write, prepared
from leeward.query._reasons import said

if TYPE_CHECKING:
    import geopandas as gpd
    import pandas as pd
    import polars as pl
    from plotly.graph_objects import Figure


@dataclass(frozen=True, slots=True, repr=False)
class CuratorNotes(Private):
    """Facts about the data that the release does not protect: for the curator's terminal, never to be published.

    Its ``repr`` shows none of them, and it is not pickled; ``str`` shows them.

    Attributes:
        dropped: rows that take no part, by reason; None if a stored answer was used and nothing was counted.
        people_over_bound: people at more places than the bound; of a statistic, people with several rows.
        charged: what this call added to what is spent; 0 where it was charged before: for a stored answer, and for one
            that a run had begun which did not end.
        charged_delta: the same of δ.
        over: what became of the people over the bound, in words.
        opened: whether this call opened the budget.
    """

    dropped: Mapping[str, int] | None = None
    people_over_bound: int | None = None
    charged: str = "0"
    charged_delta: str = "0"
    over: str = ""
    opened: bool = False

    def lines(self) -> list[str]:
        """Return the facts in words, without what was charged; none where nothing was counted."""
        if self.dropped is None:
            return []
        lines = [f"not counted: {said(reason, rows)}" for reason, rows in self.dropped.items() if rows]
        if self.people_over_bound and self.over:
            lines.append(self.over)
        return lines

    def __str__(self) -> str:
        return "\n".join(["For the curator only (facts about the data; do not publish):", *self.lines()])


_SHOWN = 10
"""Answers that are printed with a release."""


@dataclass(frozen=True, repr=False)
class Release:
    """What may be published.

    Attributes:
        answers: one row a place, in the public order: ``place``, ``name`` (if known), ``state`` (safe or obscure), and where
            published ``answered`` and ``count``.
        places: the public list in the same order, with coordinates where known.
        statement: the privacy statement, as written to release.json.

    The curator's notes travel beside it, as `curator`, and are not part of it: they are in no copy, pickle or file.
    """

    answers: pa.Table
    places: pa.Table
    statement: Statement
    _list_is_ours: bool = field(default=False, repr=False)
    _notes: InitVar[CuratorNotes | None] = None

    def __post_init__(self, _notes: CuratorNotes | None) -> None:
        object.__setattr__(self, "_curator", _notes)

    def __getstate__(self) -> dict[str, Any]:
        return {part.name: getattr(self, part.name) for part in fields(self)}

    @property
    def curator(self) -> CuratorNotes:
        """Notes for the curator only: what was not counted, and what this call charged.

        Raises:
            RefusedError: this is a copy of a release, or was read from a file: the notes stayed where it was made.
        """
        notes: CuratorNotes | None = getattr(self, "_curator", None)
        if notes is None:
            raise RefusedError(
                "The curator's notes on this release",
                "they are facts about the data, and stay with the release that `leeward.release` returned",
                "Read them there; a copy holds what may be published, and nothing else",
            )
        return notes

    def __repr__(self) -> str:
        said = self.statement
        notion = f"{said.notion.name} at {said.strength}"
        return (
            f"<Release of {self.answers.num_rows:,} answers from '{plain(said.dataset)}', {notion}, entry {said.entry}>"
        )

    def __str__(self) -> str:
        """Say what was asked, of what, at which price, what is protected, and the first answers; all of it is public."""
        said, notion = self.statement, self.statement.notion
        lines = [
            said.query.text,
            f"dataset: {said.dataset}, version {said.version}",
            f"notion: {notion.name}, {said.strength} per {notion.unit}, price {said.price}",
            f"protected: {notion.protects}",
            f"not protected: {notion.does_not_protect or 'nothing'}",
        ]
        if "state" in self.answers.column_names:
            states = self.answers["state"].value_counts().to_pylist()
            lines.append("answers: " + ", ".join(f"{entry['counts']:,} {entry['values']}" for entry in states))
        lines += self._first_answers()
        if not said.fit_for_release:
            lines.insert(0, "NOT FIT FOR RELEASE: drawn from a stream that others can repeat")
        lines += [f"guaranteed: {sentence}" for sentence in said.guaranteed]
        return "\n".join(plain(line) for line in lines)

    def _first_answers(self) -> list[str]:
        """Write the first rows in columns."""
        first = self.answers.slice(0, _SHOWN)
        columns = [
            [name, *("" if value is None else plain(str(value)) for value in column.to_pylist())]
            for name, column in zip(first.column_names, first.columns, strict=True)
        ]
        widths = [max(map(len, cells)) for cells in columns]
        rows = ("  ".join(map(str.ljust, cells, widths)).rstrip() for cells in zip(*columns, strict=True))
        more = self.answers.num_rows - first.num_rows
        return [f"  {row}" for row in rows] + [f"  … {more:,} more"] * (more > 0)

    def to_pandas(self) -> pd.DataFrame:
        """Return the answers as a DataFrame; ``count`` is a nullable Int64.

        Raises:
            InputError: pandas is not installed.
        """
        pandas = optional("pandas", "Answers as a DataFrame of pandas")
        frame: pd.DataFrame = self.answers.to_pandas(types_mapper={pa.int64(): pandas.Int64Dtype()}.get)
        return frame

    def to_arrow(self) -> pa.Table:
        """Return the answers as a pyarrow Table: `answers`."""
        return self.answers

    def to_polars(self) -> pl.DataFrame:
        """Return the answers as a DataFrame of Polars.

        Raises:
            InputError: Polars is not installed.
        """
        made: pl.DataFrame = optional("polars", "Answers as a DataFrame of Polars").from_arrow(self.answers)
        return made

    def to_geopandas(self) -> gpd.GeoDataFrame:
        """Return the answers as a GeoDataFrame, with the points of the public list in WGS 84; no point where none is known.

        Raises:
            InputError: the public list has no coordinates, or GeoPandas is not installed.
        """
        if "latitude" not in self.places.column_names or self.answers.num_rows != self.places.num_rows:
            raise InputError(
                "Answers on a map",
                "the public list has no coordinates, or the answer names one of it",
                "Use to_pandas()",
            )
        made = optional("geopandas", "Answers as a GeoDataFrame")
        north, east = (self.places[name].to_pandas() for name in ("latitude", "longitude"))
        points = made.GeoSeries(made.points_from_xy(east, north), crs=4326)
        return made.GeoDataFrame(self.to_pandas(), geometry=points.where(north.notna() & east.notna()))

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the answers as Parquet."""
        import pyarrow.parquet as pq

        pq.write_table(self.answers, path)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the answers as CSV; a text that a spreadsheet would take for a formula gets an apostrophe in front."""
        from leeward.tables._sheets import write_table

        write_table(self.answers, path)

    def _repr_html_(self) -> str:
        from leeward.report import release_html

        return release_html(self)

    def plot(self) -> Figure:
        """Return the picture of the release as a plotly figure: the map of its places, or its answers.

        Raises:
            InputError: there is nothing to draw.
        """
        from leeward.report import release_plot

        return release_plot(self)

    def map(self) -> Figure:
        """Return the map of safe and obscure places as a plotly figure.

        Raises:
            InputError: the public list has no coordinates.
        """
        from leeward.report import places_map

        return places_map(self)

    def save(self, directory: str | os.PathLike[str], *, formats: Sequence[str] = ()) -> Path:
        """Write answers.parquet, answers.csv, release.json and report.html (and the list of a grid as places.parquet).

        A new directory appears whole or not at all. In one that holds an earlier release, what was written then is replaced
        if nobody changed it since, and all other files stay as they are; see `leeward.outputs`.

        Args:
            directory: the directory.
            formats: what is written for catalogues besides: ``"croissant"`` and ``"opendp-registry"``; see
                `leeward.report.FORMATS`.

        Raises:
            InputError: the directory holds something else, or what would be lost, or cannot be written; or there is no such
                format.
        """
        with saving(directory, [""], formats=formats) as save:
            return save([self])

    def _files(self) -> dict[str, Write]:
        """What is written, by name: the statement last."""
        import pyarrow.parquet as pq

        from leeward.report import report_html
        from leeward.tables._sheets import write_sheet

        text = self.statement.to_json() + "\n"
        files: dict[str, Write] = {
            "answers.parquet": self.to_parquet,
            "answers.csv": lambda path: write_sheet(self.answers, path),
        }
        if self._list_is_ours:
            files["places.parquet"] = lambda path: pq.write_table(self.places, path)
        files[REPORT] = lambda path: path.write_text(report_html(self), "utf-8")
        files[STATEMENT] = lambda path: path.write_text(text, "utf-8")
        return files


@contextmanager
def saving(
    directory: str | os.PathLike[str],
    folders: Sequence[str],
    *,
    what: str = "a release",
    keep: bool = False,
    overview: bool = False,
    one_page: bool = False,
    formats: Sequence[str] = (),
) -> Iterator[Callable[[Sequence[Release]], Path]]:
    """Prepare a directory before releases are paid for; what can be refused is refused now.

    Args:
        directory: the directory.
        folders: the name of each one's folder; an empty name is the directory itself. Those that share one are windows of
            one question, and are written together: see `answers_of_windows`.
        what: what is saved; another kind of output is not replaced.
        keep: leave the folders of an earlier call that are not among these.
        overview: write one report over all of them too, in the directory itself.
        one_page: they are windows of one question; in place of a report in each folder, write one page with a slider over
            time in the directory itself.
        formats: what is written for catalogues besides; see `leeward.report.FORMATS`.

    Yields:
        A function that writes releases, in the order of their folders; there may be fewer.
    """
    below = [f"{folder}/" if folder else "" for folder in folders]
    for asked in formats:
        check_choice("format", asked, tuple(_formats()), "it is not written", error=InputError)
    each_has = [*_NAMES, *(_formats()[asked][0] for asked in formats)]
    each_has = [name for name in each_has if not (one_page and name == REPORT)]
    names = [folder + name for folder in dict.fromkeys(below) for name in each_has] + [REPORT] * (overview or one_page)
    again = "running the same release again shows the stored answer at no further price"
    with prepared(
        directory,
        what,
        names=names,
        keep=keep,
        room=_ROOM * len(set(below)) + _ROOM_OF_WINDOW * len(below),
        again=again,
    ) as place:

        def save(releases: Sequence[Release]) -> Path:
            made: dict[str, list[Release]] = {}
            for folder, one in zip(below, releases, strict=False):
                made.setdefault(folder, []).append(one)
            files = {
                folder + name: write
                for folder, each in made.items()
                for name, write in _described(each, below.count(folder) > 1, formats).items()
                if name in each_has
            }
            if one_page:
                files = {REPORT: functools.partial(_write_windows, releases), **files}
            if overview:
                files = {REPORT: lambda path: path.write_text(overview_html(made), "utf-8"), **files}
            return place.write(files)

        def overview_html(made: Mapping[str, Sequence[Release]]) -> str:
            from leeward.report._html import overview_html

            return overview_html({folder + REPORT: each for folder, each in made.items()})

        yield save


def _formats() -> Mapping[str, Any]:
    from leeward.report import FORMATS

    return FORMATS


def _described(releases: Sequence[Release], windows: bool, formats: Sequence[str]) -> dict[str, Write]:
    """What is written of a release, or of several windows, by name, with what catalogues read: the statement last."""
    files = _of_windows(releases) if windows else releases[0]._files()
    table = answers_of_windows(releases) if windows and formats else releases[0].answers
    statement = files.pop(STATEMENT)
    for asked in formats:
        name, write = _formats()[asked]
        files[name] = functools.partial(write, releases, table)
    return files | {STATEMENT: statement}


def _of_windows(releases: Sequence[Release]) -> dict[str, Write]:
    """What is written of several windows of one question, by name: a table, a page, and all statements, which are last."""
    import pyarrow.parquet as pq

    from leeward.tables._sheets import MOST_ROWS_OF_A_SHEET, write_sheet

    table = answers_of_windows(releases)
    text = WindowsStatement(format=1, windows=tuple(one.statement for one in releases)).to_json() + "\n"
    files = releases[0]._files()
    files["answers.parquet"] = lambda path: pq.write_table(table, path, compression="zstd")
    files["answers.csv"] = lambda path: write_sheet(table, path)
    if table.num_rows >= MOST_ROWS_OF_A_SHEET:
        del files["answers.csv"]
    files[REPORT] = functools.partial(_write_windows, releases)
    files[STATEMENT] = lambda path: path.write_text(text, "utf-8")
    return files


def answers_of_windows(releases: Sequence[Release]) -> pa.Table:
    """Return the answers of all windows as one table: ``window_start``, ``window_end``, and what each answer has.

    A column of the answers that is called so itself stays, and the other one gets underscores until nothing is called so.
    """
    names = set(releases[0].answers.column_names)
    start, end = (_new_name(name, names) for name in ("window_start", "window_end"))
    tables = []
    for one in releases:
        window, size = window_of(one.statement), one.answers.num_rows
        ends = {start: window.start, end: window.end}
        columns = {name: repeated(text, size) for name, text in ends.items()}
        tables.append(pa.table({**columns, **{name: one.answers[name] for name in one.answers.column_names}}))
    return pa.concat_tables(tables, promote_options="default")


def _new_name(name: str, names: Collection[str]) -> str:
    return name if name not in names else _new_name(f"{name}_", names)


def _write_windows(releases: Sequence[Release], path: Path) -> None:
    from leeward.report import windows_html

    path.write_text(windows_html(releases), "utf-8")


def folder_names(windows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a folder's name for each window: its start, and its end too where several begin at one time."""
    starts = [str(window["start"]) for window in windows]
    alone = len(set(starts)) == len(starts)
    named = starts if alone else [f"{window['start']}--{window['end']}" for window in windows]
    return [name.replace(":", "-") for name in named]


REPORT = "report.html"
_NAMES = ("answers.csv", "answers.parquet", "places.parquet", REPORT, STATEMENT)
_ROOM = 8_000_000
"""About as many bytes as a release takes, most of them for the report."""

_ROOM_OF_WINDOW = 50_000
"""And so many each of its windows."""
