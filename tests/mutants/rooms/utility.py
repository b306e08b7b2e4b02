"""Mistakes in plans, comparisons, forecasts, bounds and risks."""

from tests.mutants.mutant import Mutant as M

PLAN = "leeward.utility.plan"
NUMBER = "leeward.utility.number_plan"
OPTION = "leeward.utility.option"
USELESS = "leeward.utility.useless"
RECOMMEND = "leeward.utility.recommend"
DECISIONS = "leeward.utility.decisions"
BOUNDS = "leeward.utility.bounds"
TESTS = "tests/utility"

MUTANTS = [
    M(PLAN, "Plan.price", "self.notion.epsilon * self.mechanism.most_stops(self.places)", "self.notion.epsilon", "tests/release/test_price_of_stops.py",
      "several stops for the price of one"),
    M("leeward.monitor", "monitor", "made.listing(None)", "made", "tests/release/test_price_of_stops.py",
      "a monitor of one place promises one stop only"),
    M("leeward.query.numeric", "Mean.rounded", "min(max(self._round(mean), least), greatest)", "self._round(mean)",
      "tests/release/test_bounds_of_answers.py", "a mean is rounded beyond its bounds"),
    M(PLAN, "plan", 'mechanism = "geometric" if bounded else "sanitized"', 'mechanism = "sanitized"', "tests/utility/test_plan.py tests/spec/test_release_keys.py",
      "auto never takes the geometric mechanism"),
    M(PLAN, "Plan.public", '"at_most": self.safe_at_most, ', "", "tests/keys/test_visitor_inputs.py", "the threshold leaves the key of the sanitized mechanism"),
    M(PLAN, "Plan.public", ', "stop_after": self.mechanism.stop_after', "", "tests/keys/test_visitor_inputs.py", "the stops leave the key"),
    M(PLAN, "Plan.public", "**promised(self.notion), ", "", "tests/keys", "the promise leaves the key"),
    M(PLAN, "Plan.answers", 'pa.array(drawn != NOT_ANSWERED)', 'pa.array(drawn >= SAFE)', "tests/release/test_release_command.py",
      "answered is told by another number", equivalent=True),
    M(PLAN, "Plan.answers", "mask=drawn < 0", "mask=drawn < -1", "tests/release/test_release_command.py", "safe places are published with the count −1"),
    M(PLAN, "Plan.answers", 'if self.what == "counts":', "if True:", "tests/release/test_release_command.py", "counts are published unasked"),
    M(USELESS, "refuse_useless", "if chance < made.useful_from:", "if False:", "tests/utility/test_plan.py", "no chance of safe is too small"),
    M(USELESS, "refuse_useless", "float(chance) * reached", "reached", "tests/utility/test_plan.py", "places that are reached count as called safe"),
    M(USELESS, "refuse_useless", "k > places", "k > places + 1", "tests/release/test_useless.py", "a bound of one place too many is accepted"),
    M(USELESS, "_refuse_number", "if error >= width > 0:", "if error > width > 0:", "tests/release/test_useless.py", "an error as large as the range is accepted"),
    M(PLAN, "plan", "_share(useful_from)", "_share(USEFUL_FROM)", "tests/spec/test_release_keys.py", "useful_from has no effect"),
    M(PLAN, "plan", "stop_after=1 if stop_after is None else stop_after", "stop_after=1", "tests/utility/test_plan.py tests/spec/test_release_keys.py",
      "stop_after has no effect"),
    M(NUMBER, "NumberPlan.public", "**promised(self.notion), ", "", "tests/keys/test_promises.py", "the promise leaves the key of a statistic"),
    M(NUMBER, "NumberPlan.draw", "exactly[i :: len(self.parts)]", "exactly[i::1]", "tests/utility/test_number_plan.py", "sums and numbers are mixed"),
    M(NUMBER, "_planned", "if not notion.everyone:", "if False:", "tests/utility/test_number_plan.py", "groups are not looked at when records are replaced"),
    M(NUMBER, "_scale", "int(values.lower * query.people / unit), int(values.upper * query.people / unit)", "int(values.lower / unit), int(values.upper / unit)",
      "tests/truth/test_number_truth.py", "a sum is clamped to one person's bounds"),
    M(NUMBER, "_sum_and_number", "far * (2 if rise or fall else 1)", "far", "tests/utility/test_number_plan.py", "sum and number both get the whole price"),
    M(NUMBER, "NumberPlan.accuracy", "0.95 ** (1 / self.query.cells)", "0.95", "tests/utility/test_number_plan.py tests/truth",
      "all answers together are as near as each"),
    M(NUMBER, "NumberPlan._mean_error", "shift[people + shift >= 1]", "shift", "tests/utility/test_number_plan.py", "nobody seems to be there, and it counts as right"),
    M(DECISIONS, "Decisions.probabilities", "law.tail(high - count)", "law.tail(high + 1 - count)", "tests/utility/test_decisions.py", "the chance of dangerous is one value off"),
    M(DECISIONS, "decisions", "None if law.up.is_infinite else error_at_most)", "error_at_most)", "tests/utility/test_decisions.py",
      "α is given to a decision that cannot be wrong"),
    M(DECISIONS, "Decisions._edges", "low, high = high - 1, low + 1", "pass", "tests/utility/test_decisions.py", "a count is both safe and dangerous"),
    M(BOUNDS, "best_decision", "1 - exp_minus(fall) * (1 - slack - last)", "1 - exp_minus(fall) * (1 - last)", "tests/utility/test_bounds.py",
      "δ is forgotten on one side"),
    M(BOUNDS, "best_decision", "exp(rise) * last + slack", "exp(fall) * last + slack", "tests/utility/test_bounds.py", "the price of a rise is that of a fall"),
    M(BOUNDS, "delta_bound_complement", "1 - _chance(alpha) - _chance(delta) * _powers(epsilon, k)", "1 - _chance(alpha) - _chance(delta)",
      "tests/utility/test_bounds.py", "k steps have the δ of one"),
    M(BOUNDS, "alap_beta", "k = at_most + 1 - count", "k = at_most - count", "tests/utility/test_bounds.py", "the paper's continuous sanitizer"),
    M("leeward.utility.foresee", "foresee_sanitized", "stops * (n + 1) / (s + 1)", "stops * n / s.clip(1)", "tests/utility", "the reach in a random order"),
    M("leeward.utility.foresee", "foresee", "c <= t}", "c < t}", "tests/utility", "places with just t people are not counted as safe"),
    M("leeward.utility.foresee", "_within", "int(least) - 1", "int(least)", "tests/utility", "an error of one more than needed"),
    M(OPTION, "Option.composed", "total = Accountant(grid=grid).compose(event, releases)", "total = Accountant(grid=grid).compose(event)", "tests/utility",
      "one release is accounted for k"),
    M(OPTION, "Option.event", "1 if facts else self.plan.query.places_per_person or 1", "1", "tests/utility", "k places a person compose as one"),
    M(OPTION, "Option.event", "stops=self.plan.mechanism.most_stops(self.plan.places)", "stops=1", "tests/utility", "several stops compose as one"),
    M(OPTION, "Option.event", "self.price if way in ways else inf", "self.price", "tests/utility", "a direction that is not sheltered is composed as if it were"),
    M(OPTION, "best_possible", "min(lower, step.cost) if any(fall", "max(lower, step.cost) if any(fall", "tests/utility", "the dearest step bounds a decision"),
    M(RECOMMEND, "recommend", "o.in_asked * asked.notion.epsilon <= allowed", "True", "tests/utility/test_compare.py", "what gives the asked promise up is recommended"),
    M(RECOMMEND, "_payable", "option.in_budget <= asked.left", "option.in_budget < asked.left", "tests/utility/test_compare.py", "the last of a budget buys nothing"),
    M(RECOMMEND, "_wrong_anew", "mine.never_wrong > theirs.never_wrong", "mine.never_wrong < theirs.never_wrong", "tests/utility/test_compare.py tests/truth",
      "what can be wrong is not told"),
    M(RECOMMEND, "percent", "int(chance * 1000) / 10", "round(chance * 1000) / 10", "tests/utility tests/truth", "99.96 % reads as 100 %"),
    M("leeward.utility.advice", "extreme_reveals", "positive(rate, \"rate\") * releases", "positive(rate, \"rate\")", "tests/utility/test_advice.py tests/truth",
      "k extremes reveal as much as one"),
    M("leeward.utility.risk", "risk", "for_it / (against * prior_odds)", "for_it / against", "tests/utility/test_risk.py", "the prior odds are forgotten"),
    M("leeward.utility.loss", "LossMatrix.monotone", "self.guesses[w] >= secret", "self.guesses[w] > secret", "tests/utility/test_loss.py",
      "the right guess is left out of one side"),
    M("leeward.utility.useful", "usefulness", "math.floor(radius / step)", "math.ceil(radius / step)", "tests/utility/test_useful.py", "a radius is rounded up"),
    M("leeward.utility.compare", "_in_asked", "option.notion.with_epsilon(1).price_in(asked) * option.price", "option.notion.price_in(asked)",
      "tests/utility/test_compare.py", "several stops are compared at the price of one"),
]  # fmt: skip
