"""The tables of docs/guide/proofs.md, made by proving them: `python -m tests.proofs.page` renews the page."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tests.proofs.mutants import ELSEWHERE, VERIFY, measurements
from tests.proofs.pair import EPSILONS, Pair
from tests.proofs.pairs import SECTIONS
from tests.proofs.words import in_turn, least_scale, row

from leeward.exact import Real
from leeward.verification import Verdict, verify

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "proofs.md"

HEAD = [row("mechanism", "notion", "pairs", "least c", "the other way"), row(*["---"] * 5)]


@dataclass(frozen=True)
class Proof:
    """What `verify` finds of one pair at one ε: as promised, with 0.999 of the promise, and the other way round."""

    promised: Verdict
    lower: Verdict
    other_way: Verdict


def prove(pair: Pair, epsilon: Real) -> Proof:
    """Build the exact matrix and the distance once, and verify three times."""
    matrix, distance = pair.make(epsilon)
    return Proof(verify(matrix, distance), verify(matrix, distance.scale("0.999")), verify(matrix, distance.reverse()))


def line(pair: Pair, proofs: list[Proof]) -> str:
    """The pair's row, from its proofs at every ε."""
    least = in_turn([least_scale(proof.promised) for proof in proofs])
    back = in_turn([least_scale(proof.other_way) for proof in proofs])
    pairs = in_turn([str(proof.promised.pairs) for proof in proofs])
    return row(pair.mechanism, f"`{pair.notion}`", pairs, least, back)


def proofs() -> str:
    """All tables of mechanisms and notions."""
    parts = []
    for title, pairs in SECTIONS.items():
        lines = [line(pair, [prove(pair, epsilon) for epsilon in EPSILONS]) for pair in pairs]
        parts.append("\n".join([f"### {title}", "", *HEAD, *lines]))
    return "\n\n".join(parts)


def by_verify() -> str:
    """The table of the mistakes that `verify` catches at every ε, with what they cost at ε = 1."""
    lines = [row(mistake, least, f"`{test}`") for mistake, least, test in measurements()]
    return "\n".join([row("mistake", "least c at ε = 1", f"test in `{VERIFY}`"), row(*["---"] * 3), *lines])


def elsewhere() -> str:
    """The table of all other deliberate mistakes."""
    lines = [row(mistake, catcher, f"`{test}`") for mistake, catcher, test in ELSEWHERE]
    return "\n".join([row("mistake", "caught by", "test"), row(*["---"] * 3), *lines])


def filled(text: str, name: str, table: str) -> str:
    """The page with one table made anew, between the two comments that name it."""
    return re.sub(
        rf"(<!-- {name}: .*? -->\n).*?(<!-- end -->)", lambda m: f"{m[1]}\n{table}\n\n{m[2]}", text, flags=re.DOTALL
    )


def shown(text: str, name: str) -> str:
    """The table of this name as the page has it."""
    found = re.search(rf"<!-- {name}: .*? -->\n\n(.*?)\n\n<!-- end -->", text, re.DOTALL)
    assert found, f"the page has no place for the table of {name}"
    return found[1]


if __name__ == "__main__":
    page = PAGE.read_text()
    for name, table in (("proofs", proofs()), ("mutants", by_verify()), ("elsewhere", elsewhere())):
        page = filled(page, name, table)
    PAGE.write_text(page)
