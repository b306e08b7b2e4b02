"""Time optimal mechanisms on square grids beside qif (Python face of libqif) at the same job, in one run.

    python benchmarks/optimal.py --sizes 5 6 7 9 12 --qif-up-to 7

The job: an n × n grid of locations, ε = 1 a cell (Euclidean), Euclidean loss, least expected loss. With a uniform prior the
square's symmetries help Leeward; the second table draws a prior without any. qif's matrix is floating point and is returned
as the solver left it; what it really promises is measured by qif itself. Ours is exact and certified, and the column *gap*
is proved: no private mechanism loses less than our loss minus it. Each run has its own process and a time limit.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import subprocess
import sys
import time
from fractions import Fraction
from typing import Any

from rich.table import Table

from history import show


def prior_of(n: int, kind: str) -> list[Fraction]:
    seed = random.Random(1)
    weights = [seed.randint(1, 100) if kind == "random" else 1 for _ in range(n * n)]
    return [Fraction(w, sum(weights)) for w in weights]


def leeward(n: int, kind: str, dilation: str) -> dict[str, Any]:
    from leeward.analysis import optimal
    from leeward.distance import Plane

    points = [(i, j) for i in range(n) for j in range(n)]
    start = time.perf_counter()
    found = optimal(points, Plane("1"), prior_of(n, kind), "euclidean", dilation=dilation)
    seconds = time.perf_counter() - start
    gap = f"{float(found.loss) - found.bound:.1e}" if dilation == "1" else "-"
    return {
        "seconds": seconds,
        "loss": float(found.loss),
        "gap": gap,
        "scale": f"1 − {1 - found.verdict.scale[1]:.1e}, proved",
        "size": f"{found.variables} × {found.constraints}",
    }


def qif(n: int, kind: str) -> dict[str, Any]:
    import numpy as np
    import qif as peer

    points = [(i, j) for i in range(n) for j in range(n)]
    far = [[math.dist(x, y) for y in points] for x in points]
    prior = np.array([float(p) for p in prior_of(n, kind)])
    start = time.perf_counter()
    found = np.array(
        peer.mechanism.d_privacy.min_loss_given_d(prior, n * n, lambda x, y: far[x][y], lambda x, w: far[x][w])
    )
    seconds = time.perf_counter() - start
    return {
        "seconds": seconds,
        "loss": float((prior[:, None] * found * np.array(far)).sum()),
        "gap": "-",
        "scale": f"1 {peer.measure.d_privacy.smallest_epsilon(found, lambda x, y: far[x][y]) - 1:+.1e}, in floats",
        "size": "-",
    }


def in_a_process(arguments: list[str], limit: float) -> dict[str, Any] | None:
    try:
        run = subprocess.run(
            [sys.executable, __file__, "--one", *arguments], capture_output=True, text=True, timeout=limit, check=True
        )
    except subprocess.TimeoutExpired:
        return None
    found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[5, 6, 7, 9, 12])
    parser.add_argument("--qif-up-to", type=int, default=7)
    parser.add_argument("--random-up-to", type=int, default=9)
    parser.add_argument("--limit", type=float, default=600)
    parser.add_argument("--one", nargs="+", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        name, n, kind, *rest = chosen.one
        print(json.dumps(leeward(int(n), kind, *rest) if name == "leeward" else qif(int(n), kind)))
        return
    for kind in ("uniform", "random"):
        table = Table("grid", "by", "seconds", "loss", "gap", "least c: c·d-private", "program", title=f"{kind} prior")
        for n in chosen.sizes:
            jobs = {"Leeward": ["leeward", str(n), kind, "1"], "Leeward, 1.1-spanner": ["leeward", str(n), kind, "1.1"]}
            if kind == "random" and n > chosen.random_up_to:
                del jobs["Leeward"]
            if n <= chosen.qif_up_to:
                jobs["qif"] = ["qif", str(n), kind]
            for name, arguments in jobs.items():
                found = in_a_process(arguments, chosen.limit)
                row = (
                    ["over", "", "", "", ""]
                    if found is None
                    else [
                        f"{found['seconds']:.2f}",
                        f"{found['loss']:.6f}",
                        found["gap"],
                        found["scale"],
                        found["size"],
                    ]
                )
                table.add_row(f"{n} × {n}", name, *row)
        show("optimal", table)


if __name__ == "__main__":
    main()
