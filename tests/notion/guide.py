"""The tables of docs/guide/notions.md, made from the notions themselves. Run this file to renew the page."""

from __future__ import annotations

import re
from pathlib import Path

from leeward.distance import FiniteDistance, both_hold
from leeward.notion import (
    ADP,
    OSDP,
    ULDP,
    AdditionOnly,
    Blowfish,
    BoundedDP,
    ContextAwareLDP,
    EdgeDP,
    Graded,
    GradedFacts,
    GroupDP,
    InputDiscriminativeLDP,
    LocalDP,
    Manhattan,
    Maximum,
    NodeDP,
    NormalisedManhattan,
    Notion,
    Personalised,
    Presence,
    RecordDistance,
    RemovalOnly,
    ReplaceDP,
    UnboundedDP,
    ValueGrid,
    has,
)

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "notions.md"

AT_A, AT_B = has("a"), has("b")

NOTIONS: dict[str, tuple[Notion, str]] = {
    "unbounded DP": (UnboundedDP(1), 'UnboundedDP("1")'),
    "bounded DP": (BoundedDP(1), 'BoundedDP("1")'),
    "add, remove or replace": (ReplaceDP(1), 'ReplaceDP("1")'),
    "addition-only": (AdditionOnly(1), 'AdditionOnly("1")'),
    "removal-only": (RemovalOnly(1), 'RemovalOnly("1")'),
    "presence": (Presence(1), 'Presence("1")'),
    "ADP": (ADP(1, [~AT_A, ~AT_B]), 'ADP("1", [~has("a"), ~has("b")])'),
    "OSDP, by anything": (OSDP(1, AT_A), 'OSDP("1", sensitive=has("a"))'),
    "OSDP, by non-sensitive": (OSDP(1, AT_A, "non-sensitive"), 'OSDP("1", has("a"), reading="non-sensitive")'),
    "Blowfish": (Blowfish(1, "abc", [("a", "b")]), 'Blowfish("1", records, edges)'),
    "graded, by person": (Graded(1, 4), 'Graded(presence="1", absence="4")'),
    "graded, by fact": (GradedFacts(1, 4), 'GradedFacts(presence="1", absence="4")'),
    "personalised": (Personalised(AdditionOnly(1), [1, 2]), 'Personalised(AdditionOnly("1"), ["1", "2"])'),
    "a distance between records": (
        RecordDistance(1, FiniteDistance("ab", [[0, 1], [1, 0]])),
        'RecordDistance("1", distance)',
    ),
    "values, d_1": (Manhattan(1, ValueGrid(0, 100)), 'Manhattan("1", Values(0, 100))'),
    "values, d̃_1": (NormalisedManhattan(1, ValueGrid(0, 100)), 'NormalisedManhattan("1", Values(0, 100))'),
    "values, d_∞": (Maximum(1, ValueGrid(0, 100)), 'Maximum("1", Values(0, 100))'),
    "groups": (GroupDP(1, [(0, 1), (2,)]), 'GroupDP("1", [(0, 1), (2,)])'),
    "edges": (EdgeDP(1), 'EdgeDP("1")'),
    "nodes": (NodeDP(1), 'NodeDP("1")'),
    "local DP": (LocalDP(1), 'LocalDP("1")'),
    "utility-optimised LDP": (ULDP(1, AT_A), 'ULDP("1", sensitive=has("a"))'),
    "context-aware LDP": (ContextAwareLDP(1, "ab", {("a", "b"): 1}), 'ContextAwareLDP("1", records, bounds)'),
    "input-discriminative LDP": (
        InputDiscriminativeLDP({"a": 1, "b": 2}),
        'InputDiscriminativeLDP({"flu": "4", "hiv": "1"})',
    ),
    "both in one output": (
        both_hold(AdditionOnly(1), Presence(1)),  # type: ignore[dict-item]
        'both_hold(AdditionOnly("1"), Presence("1"))',
    ),
}

PRICED = [
    "unbounded DP",
    "bounded DP",
    "add, remove or replace",
    "addition-only",
    "removal-only",
    "presence",
    "ADP",
    "OSDP, by anything",
    "OSDP, by non-sensitive",
    "graded, by person",
    "graded, by fact",
]


def row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def promises() -> str:
    lines = [row("notion", "in Python", "unit", "protects", "may reveal beyond doubt"), row(*["---"] * 5)]
    for name, (notion, code) in NOTIONS.items():
        words = notion.words
        lines.append(row(name, f"`{code}`", words.unit, words.protects, words.reveals or "nothing"))
    return "\n".join(lines)


def prices() -> str:
    lines = [row("answer under ↓, budget in →", *PRICED), row(*["---"] * (len(PRICED) + 1))]
    for name in PRICED:
        mine = NOTIONS[name][0]
        costs = [str(mine.price_in(NOTIONS[other][0])).replace("inf", "∞") for other in PRICED]
        lines.append(row(f"**{name}**", *costs))
    return "\n".join(lines)


def renewed(text: str) -> str:
    """The page with its tables made anew, each between two comments that name it."""
    for name, table in (("promises", promises()), ("prices", prices())):
        text = re.sub(
            rf"(<!-- {name}: .*? -->\n).*?(<!-- end -->)",
            lambda m, t=table: f"{m[1]}\n{t}\n\n{m[2]}",
            text,
            flags=re.DOTALL,
        )
    return text


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text()))
