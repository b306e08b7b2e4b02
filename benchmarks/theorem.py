"""Search for a counterexample to universal optimality on the directed line, by linear programs.

    python benchmarks/theorem.py --cases 2000 --largest 9

Each case: answers 0..n, rates from 10^-2.5 to 10 and ∞, a sparse or dense prior, a loss that differs by row and by side and
does not decrease away from the truth. The clamped geometric mechanism with its exact best remap, against the plainest linear
program in floats. The worst gap should be the solver's tolerance. The control draws losses that are not monotone.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table

from history import show

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.analysis.random_programs import random_case


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--largest", type=int, default=9)
    parser.add_argument("--controls", type=int, default=100)
    chosen = parser.parse_args()
    console = Console()
    gaps = [random_case(k, chosen.largest).gap for k in track(range(chosen.cases), "monotone losses", console=console)]
    beaten = [
        random_case(k, chosen.largest, monotone=False).gap
        for k in track(range(chosen.controls), "other losses", console=console)
    ]
    table = Table(
        "losses", "cases", "beaten", "least gap", "largest gap", title="The geometric mechanism and its remap"
    )
    for name, found in (("monotone", gaps), ("any: the control", beaten)):
        won = sum(gap > 1e-6 for gap in found)
        table.add_row(name, str(len(found)), str(won), f"{min(found):.2e}", f"{max(found):.2e}")
    show("theorem", table)


if __name__ == "__main__":
    main()
