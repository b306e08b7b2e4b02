"""A Parquet file is read piece by piece: as much of it is in memory at once as one piece takes, however large it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

PIECES, ROWS = 40, 100_000

WHO = """
import sys
import pyarrow as pa, pyarrow.parquet as pq
from leeward.tables._files import File, files_of
from leeward.tables._parquet import check_pages, in_pieces
from leeward.tables._rows import ParquetRows
from leeward.tables._held import _of_parquet

(file,) = files_of(sys.argv[1], None)[1]
{}
print(pa.default_memory_pool().max_memory())
"""

READERS = {
    "its pages are checked": "check_pages(file, ('who', 'at'))",
    "it is perturbed": "for _ in ParquetRows(file).batches(['who', 'at']): pass",
    "its first rows are looked at": "_of_parquet(file, None, ['who', 'at'])",
}

AHEAD = "for _ in pq.ParquetFile(sys.argv[1], pre_buffer=True).iter_batches(columns=['who', 'at']): pass"
"""How it must not be read: a variant that the test rejects."""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Numbers at random, which no encoding makes smaller: 1.6 MB a piece."""
    path = tmp_path_factory.mktemp("large") / "visits.parquet"
    numbers = np.random.default_rng(0).integers(0, 1 << 62, (2, PIECES * ROWS))
    pq.write_table(pa.table({"who": numbers[0], "at": numbers[1]}), path, row_group_size=ROWS, use_dictionary=False)
    return path


def held_at_most(read: str, path: Path) -> int:
    """How many pieces' worth of bytes a process of its own held at once."""
    told = subprocess.run(
        [sys.executable, "-c", WHO.format(read), str(path)], capture_output=True, text=True, check=True, timeout=120
    )
    return int(told.stdout) // (2 * 8 * ROWS)


@pytest.mark.parametrize("read", READERS)
def test_as_much_is_held_as_a_few_pieces_take(read: str, large: Path) -> None:
    assert held_at_most(READERS[read], large) < PIECES / 4


def test_what_reads_ahead_is_noticed(large: Path) -> None:
    assert held_at_most(AHEAD, large) > PIECES / 2
