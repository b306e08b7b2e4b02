"""Every sentence of the statements of perturbed positions is true, for every option."""

from __future__ import annotations

import pytest
from tests.truth import position_claims, track_claims
from tests.truth.claims import Claims
from tests.truth.positions import WORLDS, Positions

from leeward.local.location._statement import facts

ALWAYS = {
    r"(not guaranteed: )?A track is more than its points: speeds, roads and habits tell positions apart that single"
    r" reports do not",
    r"Who is in the table, how often, and all columns but the position are not protected",
    r"(not guaranteed: )?The order of rows, which stays: where many are sorted by position, it tells each position more"
    r" closely than the noisy one does",
}
"""Sentences about what no option changes."""

CLAIMS = Claims()
position_claims.register(CLAIMS)
track_claims.register(CLAIMS)


def sentences(world: Positions) -> list[str]:
    """What is said of a world: in the statement, and in short on a terminal."""
    made = world.job.statement()
    texts = [made.promise.text, made.unit, made.plane.text, made.mechanism.text]
    texts += [*made.post_processing, *made.assumptions, *made.theorems, *made.not_guaranteed]
    return list(dict.fromkeys([*texts, *(f"{title}: {text}" for title, text in facts(made))]))


@pytest.mark.parametrize(
    "world",
    [pytest.param(world, marks=[pytest.mark.sweep] if "tracks of" in str(world) else []) for world in WORLDS],
    ids=str,
)
def test_every_sentence_is_true(world: Positions) -> None:
    CLAIMS.check_all(sentences(world), world)


@pytest.mark.sweep
def test_every_claim_is_made_and_could_be_false() -> None:
    """Of each sentence some world is not an example; of the texts alone this is decided, nothing is drawn for it twice."""
    said = {world: sentences(world) for world in WORLDS}
    every = list(dict.fromkeys(text for texts in said.values() for text in texts))
    assert {claim.pattern.pattern for claim in CLAIMS.claims} - CLAIMS.met(every) == set()
    of = {claim.pattern.pattern: claim for claim in CLAIMS.claims}
    exempt = {pattern for pattern, claim in of.items() if claim.neutral}
    first = {pattern: text for text in reversed(every) for pattern in CLAIMS.met([text])}
    assert {p for p, text in first.items() if p not in exempt and CLAIMS.never_false([text], WORLDS)} == ALWAYS
