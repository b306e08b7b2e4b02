"""Mistakes in keys that nobody has listed."""

from tests.mutants.mutant import Mutant as M

UNKNOWN = "leeward.mechanism._unknown_keys"
CUT = "leeward.noise._cut_geometric"
DRAWN = "tests/conformance/test_unknown_keys_conformance.py"
LAW = "tests/noise/test_cut_geometric.py"

MUTANTS = [
    M(UNKNOWN, "UnknownKeys.__init__", "self.reach + 1", "self.reach", DRAWN, "a threshold one too low: a key with one person is shown too often"),
    M(UNKNOWN, "UnknownKeys.under", "notion.epsilon / changed", "notion.epsilon", DRAWN, "each count has all of ε"),
    M(UNKNOWN, "UnknownKeys.under", "_CHANGED[type(notion)] * whole", "whole", DRAWN, "who is replaced moves one count"),
    M(UNKNOWN, "UnknownKeys.under", "inf if isinstance(notion, AdditionOnly) else rate", "inf", DRAWN, "noise goes up alone where counts rise too"),
    M(UNKNOWN, "UnknownKeys.delta", "(1 - self.delta_of_key) ** whole", "(1 - self.delta_of_key) * whole", DRAWN, "δ of several counts"),
    M(UNKNOWN, "_least_reach", "_kept(", "(lambda end, delta, changed: end <= delta)(", DRAWN, "δ is kept for one count only"),
    M(UNKNOWN, "_least_reach", "if not keeps(most):", "if False:", DRAWN, "where no noise keeps δ, one is taken that does not"),
    M(UNKNOWN, "_kept", "return bool(over > 0)", "return bool(over < 0)", DRAWN, "what does not keep δ is taken"),
    M(UNKNOWN, "_kept", "return (1 - end) ** changed >= 1 - delta", "return False", DRAWN, "where δ is just kept, noise goes a step farther"),
    M(UNKNOWN, "_least_reach", "both_ways=not line.rise.is_infinite", "both_ways=False", DRAWN, "the reach is that of noise one way"),
    M(UNKNOWN, "UnknownKeys.chance_shown", "self.law.tail(self.threshold - people) if people else weight(0)", "self.law.tail(self.threshold - people)", DRAWN,
      "a key with nobody may be shown", equivalent=True),
    M(UNKNOWN, "UnknownKeys.shown", "& (counts > 0)", "", DRAWN, "a key with nobody may be shown", equivalent=True),
    M(UNKNOWN, "UnknownKeys.shown", "noisy >= self.threshold", "counts >= self.threshold", DRAWN, "the exact count decides"),
    M(UNKNOWN, "UnknownKeys.release", "dict(sorted((keys[i], z) for i, z in zip(shown.tolist(), noisy.tolist(), strict=True)))", "{keys[i]: z for i, z in zip(shown.tolist(), noisy.tolist(), strict=True)}", DRAWN, "keys stand in the order of the table"),
    M(UNKNOWN, "UnknownKeys.outcomes", "max(self.threshold, people - self.reach)", "people - self.reach", DRAWN, "the matrix shows what is below the threshold"),
    M(UNKNOWN, "UnknownKeys.always_shown_from", "self.threshold if self.line.rise.is_infinite else", "self.threshold if True else", DRAWN, "noise both ways never hides"),
    M(CUT, "CutGeometric._weight", "2 * up - 1", "2 * up", LAW, "0 has the weight of two"),
    M(CUT, "CutGeometric.tail", "self.rate * (self.reach + 1)", "self.rate * self.reach", LAW, "the tail forgets the end"),
    M(CUT, "CutGeometric.sample", "keep &= ~(negative & (drawn == 0))", "pass", LAW, "0 comes twice as often"),
    M(CUT, "CutGeometric.sample", "drawn <= self.reach", "drawn < self.reach", LAW, "the end is never drawn"),
    M(CUT, "CutGeometric._digits", "range(self.reach.bit_length())", "range(max(self.reach.bit_length() - 1, 0))", LAW, "the highest digit is missing"),
    M(CUT, "CutGeometric._digits", "self.rate * 2**j", "self.rate * j", LAW, "digits of another place"),
    M(CUT, "_chance", "place // draws", "place % len(chances)", LAW, "a tie is settled by another digit", equivalent=True),
]  # fmt: skip
