"""Mistakes in locations and series."""

from tests.mutants.mutant import Mutant as M

PLANAR = "leeward.local.location._planar_laplace"
LOCATION = "leeward.local.location._job"
SERIES = "leeward.local.series._job"
PROMISE = "leeward.local.series._series"
KEYS = "tests/spec/test_perturb_keys.py"
INPUTS = "tests/keys/test_location_inputs.py"
ALONE = INPUTS + "::test_what_stores_keep_of_a_mechanism_tells_each_parameter_apart_by_itself"
GEO = "tests/local/test_planar_laplace.py"

MUTANTS = [
    M(PLANAR, "PlanarLaplace.law", "repr(edge) for edge", "f\"{edge:g}\" for edge", ALONE, "the grid's box has six digits in the store"),
    M(PLANAR, "PlanarLaplace.law", ", step {self.step} in", " in", ALONE, "the step leaves the law"),
    M(PLANAR, "PlanarLaplace.law", "{self.norm}, step", "step", ALONE, "the norm leaves the law"),
    M(PLANAR, "PlanarLaplace.law", "{self._among}\"", "\"", ALONE, "the list of places leaves the law"),
    M(PLANAR, "PlanarLaplace.price", "{self.epsilon} a metre, ", "", ALONE, "ε leaves the price"),
    M(PLANAR, "PlanarLaplace.price", ", snapping {self.snapping}", "", ALONE, "snapping leaves the price"),
    M(PLANAR, "PlanarLaplace.price", "{self._among}\"", "\"", ALONE, "reports between places share a budget with reports between people"),
    M(PLANAR, "PlanarLaplace.snapping", "both_ways * 2 * _COMPUTED", "both_ways * 0", GEO, "the projection is taken for exact"),
    M(PLANAR, "PlanarLaplace._in_box", "self.box.nearest(*self.plane.unproject(self.mechanism.positions(held)))", "self.plane.unproject(self.mechanism.positions(held))", GEO, "reports leave the box"),
    M(PLANAR, "PlanarLaplace.present", 'if self.missing == "keep":', "if False:", GEO + " " + KEYS, "missing = keep refuses"),
    M(PLANAR, "PlanarLaplace.ground_epsilon", 'price_in(Plane(1, "euclidean"))', "price_in(Plane(1, self.norm))", GEO + " tests/truth",
      "the Manhattan norm is told as distance on the ground"),
    M(PLANAR, "_rate", "log(odds) / metres(within, \"within\")", "log(odds) * metres(within, \"within\")", GEO, "ε grows with the distance"),
    M("leeward.local.location._box", "Box.holds", "(east_of <= self.width)", "(east_of < self.width)", "tests/local/test_box.py", "points on the eastern edge are outside"),
    M("leeward.local.location._box", "Box.holds", "(latitude <= self.north)", "(latitude < self.north)", "tests/local/test_box.py", "points on the northern edge are outside"),
    M("leeward.local.location._box", "Box.nearest", "np.clip(latitude, self.south, self.north)", "latitude", "tests/local/test_box.py", "latitudes are not moved into the box"),
    M("leeward.local.location._projection", "LocalPlane.project", "/ self.scale", "", "tests/local/test_projection.py", "the plane lengthens distances"),
    M("leeward.local.location._projection", "_scales", "float(scale.max()) + margin", "float(scale.max()) - margin", "tests/local/test_projection.py", "the largest scale is missed"),
    M("leeward.local.location._length", "", '"km": 1000', '"km": 1', GEO + " " + INPUTS, "a kilometre is a metre"),
    M("leeward.local.location._after", "BayesRemap._belief", "np.log(prior) - self.epsilon * distance", "-self.epsilon * distance", "tests/local/test_remap_positions.py", "the prior is not looked at"),
    M("leeward.local.location._posterior", "_over_places", "if (a, b) == tuple(report)]", "if (a, b) == tuple(report)][:1]", "tests/local/test_posterior.py",
      "of the places in one cell only the first is believed"),
    M("leeward.local.location._posterior", "_planar", "geo.terms.h3 is not None else", "False else", "tests/local/test_posterior.py", "a cell is taken for a noisy point"),
    M("leeward.local.location._posterior", "_planar", "or not geo.mechanism.inside(seen)", "", "tests/local/test_posterior.py", "a report at the edge is taken for one noisy point"),
    M("leeward.local.location._picture", "picture", "and geo.terms.h3 is None", "", "tests/local/test_remap_positions.py", "circles of the noise are drawn around cells"),
    M("leeward.local.location._after", "BayesRemap._possible", "np.flatnonzero(self.places.prior)", "np.arange(len(self.places.prior))",
      "tests/local/test_remap_positions.py", "impossible places are weighed"),
    M("leeward.local.location._compare", "BestOverPlaces.of", "loss=apart", "loss=\"euclidean\"",
      "tests/local/test_remap_positions.py", "the loss is between grid points"),
    M("leeward.local.location._compare", "BestOverPlaces.of", "Plane(geo.epsilon * geo.step, geo.norm)", "Plane(geo.epsilon, geo.norm)", "tests/truth/test_position_truth.py tests/local/test_remap_positions.py", "ε a step is taken for ε a metre"),
    M("leeward.local.location._job", "LocationJob._charge", "reports=keys, known=known", "reports=keys",
      "tests/local/test_location.py " + INPUTS, "reports that are remembered are paid for again"),
    M("leeward.ledger._person_budgets", "PersonBudgets._charge", "again = reports is not None and reports[row] in free", "again = False",
      "tests/local/test_days.py tests/local/test_location.py", "reports that are repeated in one run are paid for each time"),
    M(LOCATION, "LocationJob._rewrite", "there &= granted", "pass", "tests/local/test_location.py " + KEYS, "reports that are not paid for are made"),
    M(LOCATION, "LocationJob.of", "outside=p.outside,", "", KEYS, "outside has no effect"),
    M(LOCATION, "LocationJob.of", "step=p.step,", "", KEYS + " " + INPUTS, "step has no effect"),
    M("leeward.local.series._days", "Days._day", "value.astimezone(self._zone)", "value", "tests/local/test_days.py", "the day of a moment is the date that is written"),
    M("leeward.local.series._days", "Days._day", "if zoned != self._zoned:", "if False:", "tests/local/test_days.py", "times with and without an offset are mixed"),
    M(SERIES, "read", "smooth=publish.smooth,", "", KEYS, "smooth has no effect"),
    M(SERIES, "read", "clamp=publish.clamp,", "", KEYS, "clamp has no effect"),
    M(SERIES, "SeriesJob._totals_table", "if self.by is not None:", "if False:", KEYS + " tests/local/test_series_job.py", "by has no effect"),
    M(PROMISE, "Series._by_window", "np.full((len(distinct), size), self.grid.lowest, np.int64)", "np.zeros((len(distinct), size), np.int64)",
      "tests/local/test_series_promise.py", "a missing reading is 0", equivalent=True),
    M(PROMISE, "Series.snapping", "step * seen", "step", "tests/local/test_series_promise.py", "every reading is snapped at the price of one"),
    M(PROMISE, "Series._mechanism", 'self.epsilon / self.size if DISTANCES[between].by_amount else self.epsilon', "self.epsilon", "tests/local/test_series_promise.py",
      "the unit of ε is forgotten"),
    M("leeward.local.series._post_processing", "PostProcessing.__call__", "np.clip(noisy, grid.lowest, grid.highest) if self.clamp else noisy", "np.clip(noisy, grid.lowest, grid.highest)",
      "tests/local/test_series_promise.py " + KEYS, "readings are clamped unasked"),
    M("leeward.local.series._closeness", "Closeness._promised", "odds.is_infinite or odds <= 1", "odds.is_infinite", "tests/local/test_series_promise.py", "a factor that promises nothing"),
    M("leeward.local.series._grid", "ReadingGrid.__post_init__", "lowest.denominator != 1 or highest.denominator != 1 or low >= high", "low >= high", "tests/local/test_series_readings.py",
      "bounds between grid points"),
    M("leeward.local.series._post_processing", "_smoothed", "keys + width // 2, side=\"right\"", "keys + width // 2, side=\"left\"", "tests/local", "a mean over a span that is not centred"),
    M("leeward.local.series._totals", "Totals.price", "rate * span.readings", "rate", "tests/local/test_series_job.py tests/truth", "a day that moves costs one reading"),
    M("leeward.local.series._grid", "ReadingGrid.steps", "(2 * near * top + bottom) // (2 * bottom)", "near * top // bottom", "tests/local/test_series_readings.py", "half is rounded down"),
    M("leeward.local.series._readings", "_check_distinct", "if len(np.unique(keys)) < len(keys):", "if False:", "tests/local/test_series_readings.py",
      "two readings of one meter at one time"),
    M("leeward.local.series._schedule", "Schedule.slots_of", "if (rest[inside] != 0).any():", "if False:", "tests/local/test_series_schedule.py", "times between slots are accepted"),
    M("leeward.local.series._schedule", "Schedule.windows", "-(-self.slots // readings)", "self.slots // readings", "tests/local/test_series_schedule.py tests/local/test_series_promise.py",
      "the last window, in part, is free"),
    M("leeward.local.series._billing", "Billing.settle", "np.maximum(charged - year, 0)", "charged - year", "tests/local/test_series_billing.py", "a rebate below 0"),
]  # fmt: skip
