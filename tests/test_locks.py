"""Where a system has no locks that end with their process, what needs them is refused, and the rest works."""

from __future__ import annotations

import subprocess
import sys

PLANS = """
import sys
sys.modules["fcntl"] = None
import leeward as lw
visits = lw.visits("visits.csv", person="user", place="venue", time="at")
hour = {"start": "2026-01-01", "end": "2026-01-02"}
asked = lw.count_visitors(visits, lw.places("places.csv", place="venue"), places_per_person=1, **hour)
print(lw.plan(asked, lw.AdditionOnly("1"), lw.Decide(safe_at_most=2)).price)
line = lw.distance.Line("1", "1")
print(bool(lw.verify(lw.mechanism.Geometric(line, lower=0, upper=2).on([0, 1, 2]), line)))
"""

SPENDS = "from leeward.ledger import Ledger"


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def test_plans_and_proofs_need_no_locks() -> None:
    done = run(PLANS)
    assert done.stdout.split() == ["1", "True"], done.stderr


def test_a_ledger_is_refused_in_words() -> None:
    done = run("import sys\nsys.modules['fcntl'] = None\n" + SPENDS)
    assert "EngineError: A system without `flock`" in done.stderr
    assert run(SPENDS).returncode == 0
