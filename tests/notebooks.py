"""Running the example notebooks. ``python -m tests.notebooks`` writes what they print into them."""

from __future__ import annotations

import gc
import os
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parent.parent / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))

os.environ["PLOTLY_RENDERER"] = (
    "plotly_mimetype"  # a figure as JSON: its library is the notebook's, and not in each file
)
os.environ["JUPYTER_PLATFORM_DIRS"] = "1"


def read(path: Path) -> Any:
    """Return a notebook as it is stored."""
    return nbformat.read(path, as_version=4)


def run(notebooks: Sequence[Any], folder: Path) -> None:
    """Run notebooks one after the other, in one kernel and one folder: their cells get what they print."""
    whole = nbformat.v4.new_notebook(cells=[cell for one in notebooks for cell in one.cells])
    for number, cell in enumerate(whole.cells):
        cell.id = f"cell-{number}"
    with warnings.catch_warnings():
        # a kernel that is slow to end is killed by its manager, which does not wait for that
        warnings.simplefilter("ignore", ResourceWarning)
        NotebookClient(whole, timeout=120, record_timing=False, resources={"metadata": {"path": str(folder)}}).execute()
        gc.collect()


def cell(source: str, *, fails: bool = False) -> Any:
    """Return a cell of code; one that fails must fail."""
    made = nbformat.v4.new_code_cell(source)
    if fails:
        made.metadata["tags"] = ["raises-exception"]
    return made


def main() -> None:
    """Run each example and store what it prints; numbers and ids of cells stay as they are."""
    for path in NOTEBOOKS:
        one = read(path)
        ids = [each.id for each in one.cells]
        with tempfile.TemporaryDirectory() as folder:
            run([one], Path(folder))
        for each, name in zip(one.cells, ids, strict=True):
            each.id = name
        nbformat.write(one, path)


if __name__ == "__main__":
    main()
