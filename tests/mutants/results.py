"""What became of each mutant in the last run that tried it: ``results.tsv``, one line a mutant, in the table's order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.mutant import Mutant

FILE = Path(__file__).with_name("results.tsv")


@dataclass(frozen=True)
class Result:
    """What a run found.

    Attributes:
        outcome: ``caught``; ``equivalent``, for one that is said to be and survived; ``survived``; ``not equivalent``;
            ``broken``, where the tests could not tell; or ``not run``.
        date: the day of the run.
        by: the test that failed first, or what happened in words.
    """

    outcome: str = "not run"
    date: str = "-"
    by: str = ""

    @property
    def as_it_should(self) -> bool:
        return self.outcome in {"caught", "equivalent"}


def read() -> dict[str, Result]:
    """Return the results by the keys of their mutants; a mutant that was changed has another key."""
    lines = FILE.read_text("utf-8").splitlines() if FILE.exists() else []
    rows = (line.split("\t") for line in lines if not line.startswith("#"))
    return {key: Result(outcome, date, by) for outcome, date, key, _, by in rows}


def write(results: Mapping[str, Result], mutants: Iterable[Mutant]) -> None:
    """Write the results of these mutants; those of others are dropped."""
    rows = ["# outcome\tdate\tkey\tmutant\tby"]
    for mutant in mutants:
        found = results.get(mutant.key, Result())
        rows.append("\t".join((found.outcome, found.date, mutant.key, str(mutant), found.by)))
    FILE.write_text("\n".join(rows) + "\n", "utf-8")
