"""Mistakes in what is certain of everyone who was there."""

from tests.mutants.mutant import Mutant as M

EVERYONE = "leeward.mechanism._everyone"
OVERSHOOT = "leeward.mechanism._overshoot"
SPLIT = "leeward.mechanism._split"
ENGINE = "leeward.engine._visits"
PLANNED = "leeward.planner._everyone"
PLAN = "leeward.planner._plan"
RECOMMEND = "leeward.planner._recommend"
LAW = "tests/mechanism/test_everyone.py"
DRAWN = "tests/conformance/test_everyone_conformance.py"
COUNTED = "tests/engine/test_left_out.py"
ASKED = "tests/planner/test_everyone.py"
COMMAND = "tests/session/test_everyone_command.py"
TRUTH = "tests/truth/test_visitor_truth.py"

MUTANTS = [
    M(EVERYONE, "Everyone.at_most", "np.full(drawn.size - 1, drawn[-1])", "np.full(drawn.size - 1, 0)", LAW, "those left out are not added"),
    M(EVERYONE, "Everyone.noisy", "self.left_out_law.sample(1, bits)", "self.count_law.sample(1, bits)", f"{LAW} {DRAWN}", "the bound has the noise of a count"),
    M(EVERYONE, "Everyone.noisy", "self.count_law.sample(exactly.size - 1, bits)", "self.count_law.sample(1, bits).repeat(exactly.size - 1)", f"{LAW} {DRAWN}",
      "one noise for all counts"),
    M(EVERYONE, "Everyone.noisy", "add_saturating(exactly, np.concatenate(noise))", "np.append(add_saturating(exactly, np.concatenate(noise))[:-1], exactly[-1])", f"{LAW} {DRAWN}",
      "the bound has no noise"),
    M(EVERYONE, "Everyone._outputs", "[self.count_law] * (len(truth) - 1) + [self.left_out_law]", "[self.count_law] * len(truth)", f"{LAW} {DRAWN}", "the matrix has one rate"),
    M(EVERYONE, "Everyone.__init__", "if not line.rise.is_infinite:", "if False:", LAW, "a bound with noise both ways"),
    M(OVERSHOOT, "Overshoot.tail", "(1 + m * (1 - x))", "(1 + more * (1 - x))", LAW, "equal rates: one term too many"),
    M(OVERSHOOT, "Overshoot.tail", 'integer(k, "k") - self.most', 'integer(k, "k")', f"{LAW} {ASKED}", "odds forget the guess"),
    M(OVERSHOOT, "Overshoot.mean", " + self.most", "", LAW, "the error of a count forgets those left out"),
    M("leeward.noise._by_tail", "ByTail.quantile", "self.cdf(k) >= p, low, high)", "self.cdf(k) >= p, low, high) + 1", LAW, "a quantile one too high"),
    M(SPLIT, "best_share", "missed < least", "missed > least", LAW, "the worst split is taken"),
    M(SPLIT, "best_share", "counted * (1 - share), left_out * share", "counted, left_out * share", LAW, "the split is chosen as if counts had all of ε"),
    M(SPLIT, "best_share", ".tail(max(room, 0) + 1)", ".tail(room + 1)", LAW, "no room at all: every split is as good"),
    M("leeward.query._left_out", "MostLeftOut.effect", "if change != WITHDRAW:", "if False:", ASKED, "any notion is certain of everyone"),
    M(ENGINE, "_by_place", "left_out=(placed.place >= k).sum()", "left_out=(placed.place == k).sum()", COUNTED, "left out of one place each"),
    M(ENGINE, "_by_place", "if k == 1 and not left_out:", "if k == 1:", COUNTED, "at k = 1 nobody is left out"),
    M(ENGINE, "VisitTable.count_with_left_out", "found.left_out.max(initial=0)", "found.left_out.sum()", COUNTED, "visits left out at all places together: it falls by many"),
    M(ENGINE, "VisitTable.count_with_left_out", "found.left_out.max(initial=0)", "found.left_out.min(initial=0)", COUNTED, "the least left out"),
    M(ENGINE, "VisitTable._count", "asked = (query.places_per_person, query.if_more, left_out)", "asked = (query.places_per_person, query.if_more)", COUNTED,
      "counts that were made without those left out are taken for counts with them"),
    M(PLANNED, "bounding", "Line(inf, counts.fall * (1 - share))", "Line(inf, counts.fall)", f"{ASKED} {TRUTH}", "the counts spend all of ε"),
    M(PLANNED, "bounding", "left_out.fall * share, guess", "left_out.fall, guess", f"{ASKED} {TRUTH}", "the bound spends all of ε"),
    M(PLANNED, "bounding", "safe_at_most - guess", "safe_at_most", ASKED, "the split forgets the guess"),
    M(PLANNED, "everyone", "min(made,", "max(made,", ASKED, "the k with the worst odds is taken"),
    M(PLANNED, "check_about", 'if about == "everyone" and mechanism in ("sanitized", "adaptive"):', "if False:", ASKED, "truncated counts are asked in order, and called everyone"),
    M(PLANNED, "check_about", 'return guesses if about == "everyone" else {}', "return guesses", ASKED, "those counted are never asked about"),
    M(PLAN, "Plan._answers_of_all", "self.decisions.states(most, drawn[:-1])", "self.decisions.states(drawn[:-1])", f"{ASKED} {COMMAND}", "safe is read off those counted"),
    M(PLAN, "Plan._answers_of_all", "self.decisions.states(most, drawn[:-1])", "self.decisions.states(most)", ASKED, "dangerous is read off the bound: wrong more often than α"),
    M(PLAN, "plan_decisions", "decided = replace(decided, safe=made.sanitizer(safe_at_most))", "pass", f"{ASKED} {TRUTH}", "the odds of everyone are those of the counted"),
    M(RECOMMEND, "_of_whom", "option.of_everyone or not asked.of_everyone", "True", ASKED, "who asks about everyone is given those counted"),
    M(RECOMMEND, "_rank", "words >= best * _NEAR", "True", ASKED, "what is certain of everyone is recommended at any odds"),
    M(RECOMMEND, "_rank", "asked.leaves_out and option.of_everyone", "False", ASKED, "what is certain of everyone is never preferred"),
    M("leeward.planner._option", "_of_all", "with_epsilon(e)", "with_epsilon(made.notion.epsilon)", ASKED, "the price of the other promise is not solved for"),
    M("leeward.planner._compare", "_all_places", "unbounded(query) if asked.of_everyone", "unbounded(query) if False", ASKED, "mechanisms that need no bound are given one"),
    M("leeward.session._question", "_mechanism", "_noise(made), LeftOutNoise(rate=write(made.left_out))", "(_noise(made),)[0], ", "tests/keys/test_golden.py", "two splits have one key"),
    M("leeward.session._statement._visitors", "visitors_left_out", "if of_everyone", "if not of_everyone", TRUTH, "of whom the answers are"),
    M("leeward.session._statement._decisions", "_guaranteed", "plan.counted_how", "plan.query.counted_how", f"{TRUTH} {COMMAND}", "everyone is told as those counted"),
    M("leeward.report._words", "of_whom", 'if statement.decision.about == "everyone":', "if False:", COMMAND, "the headline is about those counted"),
]  # fmt: skip
