"""Mistakes in what proves, audits and optimises."""

from tests.mutants.mutant import Mutant as M

EXACT = "leeward.verification._exact"
HOCKEY = "leeward.verification._hockey"
AUDIT = "leeward.verification._audit"
REPAIR = "leeward.analysis._optimal._repair"
VERIFY = "tests/verification/test_verify.py"
OPTIMAL = "tests/analysis/test_optimal.py"

OUTPUTS = "leeward.verification._outputs"

MUTANTS = [
    M("leeward.verification._steps", "IrreduciblePairs._adds_up", "self._sums[key] = False", "self._sums[key] = True", "tests/verification/test_verify.py", "a pair of which it is not settled whether a point divides it is left out of a proof"),
    M(EXACT, "_Pairs.__init__", "if (np.abs(self.logs.at) > _FARTHEST).any():", "if False:", VERIFY, "an output of e^(-10^151) is taken for one that never comes"),
    M(EXACT, "_Pairs._excess", "largest + error if error < np.inf else np.inf", "largest + error", VERIFY, "∞ less ∞ is an excess"),
    M("leeward.verification._logs", "logs", "np.array([not value for value in matrix.values], np.bool_)", "np.isinf(pairs[:, 0])", VERIFY, "a logarithm beyond floats is that of 0"),
    M(HOCKEY, "verify_delta", "np.argwhere(asked & (sums >= sums[x, y] - 2 * error))", "np.argwhere(sums >= sums[x, y] - 2 * error)", VERIFY, "pairs without a bound are compared"),
    M("leeward.verification._outputs", "protected_columns", "[z] if sources else []", "[z]", "tests/verification/test_outputs.py",
      "an output that never comes is divided by"),
    M(OUTPUTS, "protected_columns", "len(sources) == 1 and not notion.sensitive(sources[0])", "len(sources) == 1", "tests/verification/test_outputs.py",
      "an output may give a sensitive record away"),
    M(OUTPUTS, "protected_columns", "len(sources) == 1 and", "len(sources) >= 1 and", "tests/verification/test_outputs.py",
      "an output of two records is called invertible"),
    M(OUTPUTS, "protected_columns", "        elif not invertible:\n            return _neither(matrix, y, sources)\n", "", "tests/verification/test_outputs.py",
      "what is not in the given partition is let pass"),
    M("leeward.mechanism._utility_optimized", "urap", "rows[x] = {z: p * (1 - given_away)", "rows[x] = {z: p * given_away",
      "tests/verification/test_outputs.py", "a record that is not sensitive gives itself away as often as it should not"),
    M(EXACT, "_Pairs._largest", "np.subtract(self.above[x], below, out=part)", "np.subtract(below, self.above[x], out=part)", VERIFY, "pairs are read the other way round"),
    M(EXACT, "_Pairs.decide", "if excess[worst] > error:", "if excess[worst] > 1:", VERIFY, "floats do not say that the bound is broken; the exact sign, which is taken of all that is near or above it, does", equivalent=True),
    M(EXACT, "_Pairs.decide", "if sign > 0:", "if False:", VERIFY, "a bound broken by less than floats see"),
    M(EXACT, "_Pairs.verdict", "if ruled_out.any():", "if False:", VERIFY, "an output that rules a secret out"),
    M(EXACT, "_Pairs._scale", "alike = self._alike()", "alike = _Decision()", VERIFY, "unequal rows at distance 0 are given a scale"),
    M(EXACT, "_codes", "distance.codes[np.ix_(order, order)]", "distance.codes[np.ix_(order, order)].T", VERIFY, "a distance of other order is transposed"),
    M(EXACT, "_Pairs.__init__", "np.fill_diagonal(bounded, False)", "pass", VERIFY, "a secret is compared with itself"),
    M(HOCKEY, "_Exactly._term", "values[above] - values[below] * exp(self._distances[distance])", "values[above] - values[below]", VERIFY, "δ at ε = 0"),
    M(HOCKEY, "_Exactly._term", "term if term.sign() > 0 else weight(0)", "term", VERIFY, "outputs that are too rare are set off against others"),
    M(HOCKEY, "verify_delta", "if needed > bound:", "if needed >= bound:", VERIFY, "a δ that is just enough is refused"),
    M(AUDIT, "audit", "event[own][half:]", "event[own][:half]", "tests/verification/test_audit.py", "the outputs that chose the event also test it"),
    M(AUDIT, "audit", "risk = (1 - confidence) / 2", "risk = (1 - confidence) * 8", "tests/verification/test_audit.py", "the bound is wrong more often than it says"),
    M(AUDIT, "_bound", "betaincinv(hits_prime + 1, tests - hits_prime, 1 - risk)", "betaincinv(hits_prime + 1, tests - hits_prime, 0.5)", "tests/verification/test_audit.py",
      "the other side is not bounded but estimated"),
    M(AUDIT, "Audit.refutes", "self.lower_bound > number.bounds()[1]", "self.lower_bound >= 0", "tests/verification/test_audit.py", "everything is refuted"),
    M(REPAIR, "factor_below", ".lower().floor()", ".upper().ceil()", "tests/analysis/test_parts.py", "factors are rounded up: the certificate fails"),
    M(REPAIR, "factor_below", "if cost > FAR:", "if cost > 40:", "tests/attacks/test_optima.py", "factors of e^41 are taken for 2^64: the certificate fails"),
    M("leeward.analysis._optimal._linear_program", "Program.solve", "_power_of_two(float((self.loss * weights).max()))", "1.0", "tests/attacks/test_optima.py",
      "small losses are lost among what the solver tolerates"),
    M("leeward.analysis._optimal._linear_program", "Program._by_highs", 'options={"maxiter": most},', "", "tests/attacks/test_optima.py", "a solver steps on for ever"),
    M("leeward.analysis._remap", "_cautious", "if not 0 < _lost(best) < _SMALL * unit:", "if True:", "tests/attacks/test_optima.py", "small losses are lost among what the solver of remaps tolerates"),
    M("leeward.analysis._remap", "_plain", "blind = min(", "blind = max(", "tests/attacks/test_optima.py", "the blind guess of a remap is the worst one"),
    M(REPAIR, "_lift", "if short > 0:", "if False:", OPTIMAL, "nothing is mended"),
    M(REPAIR, "_integers", "parts[int(np.argmax(row))] += DENOMINATOR - sum(parts)", "pass", OPTIMAL, "rows do not sum to 1"),
    M("leeward.analysis._optimal._cover", "irreducible", "needed[rows[redundant], columns[redundant]] = False", "needed[rows, columns] = False", OPTIMAL + " tests/analysis",
      "pairs that are needed are left out"),
    M("leeward.analysis._optimal._cover", "spanner", "matrix[x, y] * dilation * (1 - 1e-12)", "matrix[x, y] * dilation * dilation", OPTIMAL + " tests/analysis", "paths longer than was asked"),
    M("leeward.analysis._optimal._least_loss", "_cover", "shortened = [v / dilation for v in finite.values]", "shortened = list(finite.values)", OPTIMAL, "a spanner's paths cost more than the distance"),
    M("leeward.analysis._optimal._least_loss", "optimal", "if not verdict:", "if False:", OPTIMAL, "what is not certified is returned"),
    M("leeward.analysis._optimal._linear_program", "Program.constraints", "np.lexsort((-factor, right, left))", "np.lexsort((factor, right, left))", OPTIMAL + " tests/analysis",
      "of two constraints the looser one is kept"),
    M(EXACT, "", "if delta is not None and same_delta is not None:", "if False:", "tests/verification/test_neighbours.py", "two promises at once"),
]  # fmt: skip
