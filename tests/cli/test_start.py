# SPDX-License-Identifier: Apache-2.0
"""What a command loads. Modules are counted, not milliseconds: the same on a loaded machine."""

import subprocess
import sys

import pytest
from tests.session.conftest import Town

OTHERS = {
    "leeward.ledger._person_budgets",
    "leeward.mechanism._planar",
    "leeward.mechanism._series",
    "leeward.noise._planar",
    "leeward.planner._answer_compare",
    "leeward.planner._answer_report",
    "leeward.planner._selection_compare",
    "leeward.session._monitor",
}
"""What other questions need: layers hand on their names one by one, so that none of it is loaded."""

STATEMENTS = {"leeward._statement._documents", "leeward.session._session", "leeward.session._result"}
"""What a release needs, and nobody who only asks what it would cost."""

LOADS = f"""
import sys
from leeward.cli import app
app(sys.argv[1:], standalone_mode=False)
watched = {{'ibis', 'pandas', 'plotly', 'scipy', 'sqlalchemy', 'sqlglot'}}
print(*watched.intersection(name.partition('.')[0] for name in sys.modules))
ours = ('leeward.analysis.', 'leeward.verification', 'leeward.papers', 'leeward.local', 'leeward.demo')
print(*(name for name in sys.modules if name.startswith(ours)))
print(*{OTHERS | STATEMENTS!r}.intersection(sys.modules))
"""

IBIS = {"ibis", "sqlglot"}
"""Only what counts private rows needs it. Half a second."""

BEST_DECISION = {"leeward.analysis._bounds"}
"""Of what is for study, a plan says how good any decision could be; optimal mechanisms, proofs and papers are not loaded."""

AT_WORK = {
    "plan": (["plan", "spec.toml", "-q"], set[str]()),
    "dry run": (["release", "spec.toml", "--dry-run", "-q"], set[str]()),
    "release": (["release", "spec.toml", "-o", "out", "--yes", "-q"], IBIS | {"sqlalchemy", "plotly"}),
}


@pytest.mark.sweep
@pytest.mark.parametrize("job", AT_WORK)
def test_a_command_loads_what_it_needs(job: str, town: Town) -> None:
    """Pandas and scipy take as long to load as all the rest together, and pyarrow loads pandas unasked."""
    words, expected = AT_WORK[job]
    town.spec()
    run = subprocess.run(
        [sys.executable, "-c", LOADS, *words], cwd=town.folder, capture_output=True, text=True, check=True
    )
    libraries, studies, others = run.stdout.splitlines()
    assert set(libraries.split()) == expected
    assert set(studies.split()) == BEST_DECISION
    assert set(others.split()) == (set() if job == "plan" else STATEMENTS)


SEARCHED = """
import gc, sys
searched = []
gc.callbacks.append(lambda phase, info: phase == "start" and searched.append(len(gc.get_objects())))
from leeward.__main__ import main
try:
    main()
finally:
    print(sum(searched) + (len(gc.get_objects()) if gc.isenabled() else 0), file=sys.stderr)  # once more at the end
"""


def test_no_command_looks_for_cycles_among_what_it_loaded(town: Town) -> None:
    """To look once takes a tenth of a second, and by its own threshold Python does so some ten times, and at its end.

    What is left when the modules are gone it looks through: without that, libraries say that objects of theirs are left.
    """
    town.spec()
    words = ["release", "spec.toml", "-o", "out", "--yes", "-q"]
    program = [sys.executable, "-c", SEARCHED, *words]
    run = subprocess.run(program, cwd=town.folder, capture_output=True, text=True, check=True)
    assert (town.folder / "out" / "release.json").exists()
    assert run.stderr.splitlines() == [said for said in run.stderr.splitlines() if said.isdigit()]
    assert int(run.stderr) < 100_000
