"""Mistakes in keys that nobody has listed."""

from tests.mutants.mutant import Mutant as M

UNKNOWN = "leeward.mechanism._unknown_keys"
CUT = "leeward.noise._cut_geometric"
DRAWN = "tests/conformance/test_unknown_keys_conformance.py"
LAW = "tests/noise/test_cut_geometric.py"
PLAN = "leeward.planner._unlisted_plan"
COUNTS = "leeward.engine._unlisted"
EXACT = "tests/session/test_unlisted_exact.py"
COMMAND = "tests/session/test_unlisted_command.py"
PAIRS = "leeward.accounting._dominating_pairs"
EVENT = "tests/accounting/test_unknown_keys_event.py"
TRUE = "tests/truth/test_unlisted_truth.py"
COUNTED = "tests/engine/test_engine_unlisted.py"

MUTANTS = [
    M(COUNTS, "_group", "if not declared and (kind.is_null() or kind.is_integer()):", "if False:", COUNTED, "one person alone decides whether groups are texts"),
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
    M(PLAN, "UnlistedPlan.draw", "in_order(noisy.tolist(), from_words(shown[:, :WIDTH]))", "list(range(len(noisy)))", COMMAND, "groups stand by name, as if the greatest did not come first"),
    M(PLAN, "UnlistedPlan.draw", "shown[:, WIDTH] = noisy", "pass", EXACT, "exact counts are published of what is shown"),
    M(PLAN, "UnlistedPlan.changed", "2 if REPLACE in self.notion.changes else 1", "1", EXACT, "δ is told for half of the counts that a replaced person changes"),
    M(PLAN, "plan_unlisted", "keys_per_person=query.groups_per_person", "keys_per_person=1", EXACT, "the noise is made for one group a person"),
    M(PLAN, "delta_of", "plan.delta if isinstance(plan, UnlistedPlan) else Fraction(0)", "Fraction(0)", COMMAND, "no δ is charged"),
    M("leeward.query._unlisted_groups", "in_order", "(-counted[i], groups[i])", "-counted[i]", EXACT, "equal counts stand in the order of the engine, which is by name", equivalent=True),
    M("leeward.query._unlisted_groups", "_group", ".tobytes()[:length].decode()", '.tobytes().rstrip(b"\\0").decode()', COUNTED, "names lose the zeros at their end"),
    M(COUNTS, "UnlistedTable._count_all", "(placed.place < m).sum()", "placed.place.count()", COUNTED, "a person counts in more groups than the bound"),
    M(COUNTS, "_group", "(size <= LONGEST)", "(size <= 2 * LONGEST)", COUNTED, "names are cut where they are stored"),
    M(COUNTS, "UnlistedTable.exactly", 'query.if_more == "refuse" and found.over', "False", COUNTED, "people in more groups are not refused"),
    M("leeward.accounting._price_of_delta", "charge_delta", "not {*budget.changes} <= {*notion.changes}", "False", COMMAND, "a δ is paid for by a budget whose step is several of the release's"),
    M("leeward.accounting._price_of_delta", "charge_delta", "if not delta:", "if delta:", "tests/accounting/test_price_of_delta.py", "a δ is paid for by any budget"),
    M("leeward.session._session", "Session.request", "delta=priced.amount.delta,", "", COMMAND, "δ is told and not charged"),
    M("leeward.cli._release", "_written", "return plain(str(value))", "return str(value)", COMMAND, "a name of the data writes lines of its own into the terminal"),
    M(PAIRS, "_cut", "np.array([0.0, here * q, 1 - here * q])", "np.array([0.0, q, 1 - q])", EVENT, "what is left over has another weight"),
    M(PAIRS, "_cut", "total = up + q * up + tail", "total = up + up + tail", EVENT, "0 is counted on both sides"),
    M("leeward.session._statement._unlisted", "_upwards", "ROUND_CEILING", "'ROUND_FLOOR'", TRUE, "the δ that is needed is told rounded down"),
    M("leeward.session._statement._unlisted", "_guaranteed", "at_most_people(2 * reach, many)", "at_most_people(reach, many)", TRUE, "both ways, a group that is not shown is said to have at most N people"),
]  # fmt: skip
