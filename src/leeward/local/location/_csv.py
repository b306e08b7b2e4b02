"""CSV with a header: the text of the columns that are no positions stays as it is."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leeward._encodings import UTF8, any_length
from leeward._private import reading
from leeward.errors import DataError
from leeward.local.location._files import BATCH, Move, OnRows, PositionFile
from leeward.local.location._frames import find_column
from leeward.tables._sheets import Writer

Floats = NDArray[np.float64]


class CsvPositions(PositionFile):
    """CSV in UTF-8 with a header; the text of the other columns stays as it is."""

    __slots__ = ()
    suffixes = (".csv",)
    named_in_first_line = True

    def _columns(self) -> list[str]:
        with self._rows() as (header, _, _):
            names = list(header)
        if len(set(names)) < len(names):
            raise DataError(f"The file '{self.path}'", "two columns have one name", "Rename one")
        find_column(self.latitude, "latitude", names, in_first_line=self.named_in_first_line)
        find_column(self.longitude, "longitude", names, in_first_line=self.named_in_first_line)
        return names

    @contextmanager
    def _rows(self) -> Iterator[tuple[list[str], Iterator[list[str]], Callable[[], float]]]:
        size = max(self.path.stat().st_size, 1)
        with any_length(), self.path.open("rb") as raw, io.TextIOWrapper(raw, UTF8, newline="") as text:
            rows = csv.reader(text, strict=True)
            yield next(rows, []), rows, lambda: raw.tell() / size

    def _batches(self, rows: Iterator[list[str]], width: int) -> Iterator[list[list[str]]]:
        batch: list[list[str]] = []
        for row in rows:
            if not row:
                continue
            if len(row) != width:
                raise DataError(
                    f"The file '{self.path}'", "a row has not as many fields as the header", "Check the file"
                )
            batch.append(row)
            if len(batch) == BATCH:
                yield batch
                batch = []
        if batch:
            yield batch

    def positions(self, extra: Sequence[str]) -> Iterator[tuple[Floats, Floats, list[list[Any]]]]:
        """Read positions and some other columns a batch at a time."""
        with reading(f"The file '{self.path}'"), self._rows() as (_, rows, _):
            for batch in self._batches(rows, len(self.columns)):
                yield self._of(batch, extra)

    def _of(self, batch: list[list[str]], extra: Sequence[str]) -> tuple[Floats, Floats, list[list[Any]]]:
        assert self.latitude is not None
        assert self.longitude is not None
        north, east, *others = (self.columns.index(name) for name in (self.latitude, self.longitude, *extra))
        return (
            self._degrees(batch, north),
            self._degrees(batch, east),
            [[row[i] or None for row in batch] for i in others],
        )

    def rewrite(self, target: Path, move: Move, extra: Sequence[str], cell_column: str | None, on_rows: OnRows) -> int:
        """Write the file anew with its positions moved; see `PositionFile.rewrite`."""
        assert self.latitude is not None
        assert self.longitude is not None
        north, east = self.columns.index(self.latitude), self.columns.index(self.longitude)
        done = 0
        with (
            reading(f"The file '{self.path}'"),
            self._rows() as (header, rows, share),
            target.open("w", encoding="utf-8", newline="") as out,
        ):
            writer = Writer(out)
            writer.row([*header, cell_column] if cell_column is not None else header)
            for batch in self._batches(rows, len(header)):
                moved = move(*self._of(batch, extra))
                there = ~np.isnan(moved.latitude)
                for k, row in enumerate(batch):
                    row[north] = f"{moved.latitude[k]:.7f}" if there[k] else ""
                    row[east] = f"{moved.longitude[k]:.7f}" if there[k] else ""
                    if cell_column is not None and moved.cells is not None:
                        row.append(moved.cells[k] or "")
                writer.rows(batch)
                done += len(batch)
                on_rows(share())
        return done

    def _degrees(self, batch: list[list[str]], at: int) -> Floats:
        try:
            return np.array([float(row[at]) if row[at].strip() else np.nan for row in batch])
        except ValueError:
            raise DataError(
                f"The column '{self.columns[at]}'", "it holds something else than numbers", "Give degrees as numbers"
            ) from None
