"""Mistakes in the ledger, the session, the monitor and what is written."""

from tests.mutants.mutant import Mutant as M

SESSION = "leeward.session._session"
BUDGETS = "leeward.session._budget"
MONITOR = "leeward.session._monitor"
QUESTION = "leeward.session._question"
KEYS = "tests/keys/test_visitor_inputs.py tests/keys/test_golden.py"
NUMBERS = "tests/keys/test_number_inputs.py tests/keys/test_golden.py"
RESULT = "leeward.session._result"
CLAIM = "leeward.ledger._reservation"
BOOK = "leeward.ledger._ledger"
ACCOUNT = "leeward.ledger._balance"
CHAIN = "leeward.ledger._chain"
BUDGET = "tests/ledger/test_ledger_budget.py"
FILES = "tests/ledger/test_ledger_files.py"
MONITORS = "tests/session/test_monitor_command.py tests/keys/test_monitor_inputs.py"

MUTANTS = [
    M("leeward._scratch", "_sweep_one", "folder.rmdir()", "pass", "tests/outputs/test_swept_while_made.py", "an empty scratch folder stays for good"),
    M("leeward._scratch", "_made", "            os.stat(path / _FRESH)  # nobody sweeps it from here on\n", "", "tests/outputs/test_swept_while_made.py", "a folder that was swept is used"),
    M("leeward._scratch", "_made", "isinstance(error, FileNotFoundError | BlockingIOError)", "isinstance(error, BlockingIOError)", "tests/outputs/test_swept_while_made.py",
      "a folder that was swept while it was made ends the run"),
    M(SESSION, "Session.key", "fit_for_release=self.fit_for_release", "fit_for_release=True", "tests/keys/test_visitor_inputs.py tests/keys/test_monitor_inputs.py",
      "a seeded answer is shown as one drawn from fresh entropy"),
    M(SESSION, "Session.key", "self.keys.digest()", '"keys"', "tests/keys", "the public list leaves the key"),
    M(SESSION, "Session.priced", "self.budget.version if version is None else version", '"1" if version is None else version', "tests/keys tests/spec", "the version leaves the key"),
    M(SESSION, "Session.answer", "cost = most if settle is None else priced.unit * _exactly(settle(drawn))", "cost = most",
      MONITORS, "a monitor pays for places that are safe"),
    M(SESSION, "Session.answer", "self.bits or SystemBits()", "SystemBits()", "tests/session tests/keys", "the caller's entropy is ignored", equivalent=False),
    M(SESSION, "Session.publish", "fit_for_release=self.fit_for_release,", "fit_for_release=True,", "tests/session tests/keys tests/truth",
      "seeded noise is said to be fit for release"),
    M("leeward.session._standing", "refuse_total", "if len(prices) > 1 and left is not None and total > left:", "if False:", "tests/session/test_release_command.py",
      "several windows are begun that cannot all be paid for"),
    M("leeward.cli._release", "_refuse", "refuse_total([price for _, price in new], stands.left, dataset)", "pass", "tests/cli/test_cap_before.py",
      "a dry run of several windows does not see the cap"),
    M("leeward.session._standing", "standing", "ledger.peek(budget.dataset, budget.version, key) is not None", "False", "tests/cli/test_cap_before.py",
      "a dry run charges for what is answered already"),
    M(SESSION, "Session._check_total", "if each.answer is None", "", "tests/session", "windows that are stored already are paid for again in the check"),
    M(BUDGETS, "Budget.exact_cap", "cap <= 0", "cap < 0", "tests/session tests/ledger tests/spec", "a cap of 0 opens a budget that pays for nothing"),
    M(BUDGETS, "Budget.counted_in", "asked != standing", "False", "tests/keys tests/spec", "a notion other than the budget's is accepted"),
    M(MONITOR, "monitor", "if state.stopped:", "if False:", MONITORS, "a stopped monitor is asked on"),
    M(MONITOR, "monitor", "asked.append(_window(made))", "asked[:] = [_window(made)]", MONITORS,
      "earlier windows leave the key of a round"),
    M(MONITOR, "_priced", "session.key(made, asked)", "session.key(made)", MONITORS, "a round belongs to no monitor"),
    M(MONITOR, "_alike", "return question(one, \"\") == question(other, \"\")", "return True", MONITORS, "a monitor asks several questions"),
    M(QUESTION, "_mechanism", "at_most=made.at_most, stop_after", "at_most=0, stop_after", "tests/keys", "the threshold that stops a draw leaves the key"),
    M(QUESTION, "_mechanism", "stop_after=made.stop_after)", "stop_after=1)", "tests/keys", "the number of stops leaves the key"),
    M(QUESTION, "_mechanism", "at_most=made.at_most,  # type", "at_most=0,  # type", "tests/keys/test_golden.py", "the threshold of looks leaves the key"),
    M(QUESTION, "_mechanism", "stop_after=made.stop_after,\n", "stop_after=1,\n", "tests/keys/test_visitor_inputs.py", "the budget of looks leaves the key"),
    M(QUESTION, "_mechanism", "margin=margin", "margin=0", "tests/keys/test_golden.py", "the margin of a look leaves the key"),
    M(QUESTION, "_notion", "promise(notion)", "promise(type(notion)(1))", "tests/keys/test_promises.py tests/keys/test_golden.py", "parameters of the notion leave the key"),
    M(QUESTION, "_notion", "epsilon=write(notion.epsilon)", "epsilon=f\"{float(notion.epsilon):.3f}\"", "tests/keys", "ε in a key has three digits"),
    M(QUESTION, "_numbers", "combine=None if source.person is None else source.combine", "combine=None", NUMBERS, "what becomes of several rows leaves the key"),
    M(QUESTION, "_numeric", '("grid", "p", "default")', '("grid", "default")', NUMBERS, "the percentile leaves the key"),
    M(QUESTION, "_numeric", '("grid", "p", "default")', '("grid", "p")', NUMBERS, "what is answered of nobody leaves the key"),
    M(QUESTION, "_numeric", '("grid", "p", "default")', '("p", "default")', NUMBERS, "the grid of a mean leaves the key"),
    M(QUESTION, "_numbers", "column=query.column", 'column=""', NUMBERS, "the column leaves the key"),
    M(QUESTION, "_numbers", "keep=_keep(source.keep)", "keep={}", NUMBERS, "the filter leaves the key of a statistic"),
    M(QUESTION, "_numbers", "values=None if query.values is None else _values(query.values)", "values=None", NUMBERS,
      "the bounds leave the key: the noise was fitted to them"),
    M(QUESTION, "_visitors", "keep=_keep(visits.keep)", "keep={}", KEYS, "the filter leaves the key"),
    M(QUESTION, "_visitors", "grid=None if cells is None else Cells(**vars(cells))", "grid=None", KEYS, "the box of the grid leaves the key"),
    M(QUESTION, "_visitors", "timezone=visits.timezone", "timezone=None", KEYS, "the zone leaves the key"),
    M(QUESTION, "_visitors", "time_unit=visits.time_unit", "time_unit=None", KEYS, "the unit of time leaves the key"),
    M(QUESTION, "_visitors", "window=span(query.window)", 'window=Span(start="", end="")', KEYS, "the window leaves the key"),
    M(QUESTION, "_visitors", "person=visits.person", 'person=""', KEYS, "the column of people leaves the key"),
    M(QUESTION, "_visitors", "longitude=visits.longitude", "longitude=None", KEYS, "the column of longitudes leaves the key"),
    M(QUESTION, "_visitors", "if_more=None if query.places_per_person is None else query.if_more", "if_more=None", KEYS,
      "what becomes of people at more places leaves the key"),
    M(MONITOR, "_answer", "int((drawn >= 0).sum())", "int((drawn >= 0).any())", MONITORS,
      "two stops in one round cost one"),
    M(MONITOR, "_answer", "reserve=each * reserved.may_stop", "reserve=each", MONITORS, "one ε is reserved where several counts may stop in one round"),
    M(MONITOR, "monitor", "stops = state.stops", "stops = 0", MONITORS + " tests/truth", "a round is told of no stops before it"),
    M(MONITOR, "_told", "price_at_most=str(each * rules.stop_after)", "price_at_most=str(each)", MONITORS + " tests/truth", "the price of a monitor is told as ε"),
    M(RESULT, "Release.to_pandas", "types_mapper={pa.int64(): pd.Int64Dtype()}.get", "", "tests/session/test_result.py", "missing counts become NaN"),
    M(ACCOUNT, "charged", "if cost > left:", "if cost > cap:", BUDGET, "each release is held against the whole cap"),
    M(ACCOUNT, "charged", "standing.spent + cost", "max(standing.spent, cost)", BUDGET, "charges do not add up"),
    M(ACCOUNT, "agree", "if notion != standing.notion:", "if False:", BUDGET, "costs in two notions are added"),
    M(ACCOUNT, "agree", "cap is not None and cap != standing.cap", "False", BUDGET, "another cap is ignored"),
    M(ACCOUNT, "append", "number = (head or 0) + 1", "number = (head or 0) + 2", FILES + " " + BUDGET, "the chain has holes"),
    M(CLAIM, "Reservation.store", "if settled > self.cost:", "if False:", BUDGET, "an answer may cost more than was reserved"),
    M(CLAIM, "Reservation.store", "standing.spent - spare", "standing.spent", BUDGET, "what was reserved too much is not given back"),
    M(CLAIM, "Reservation._withdraw", "standing.spent - self.cost", "standing.spent", BUDGET, "a withdrawn charge stays spent"),
    M(CLAIM, "find_charge", "& (charges.c.version == version)", "", BUDGET, "an answer of another version is shown"),
    M("leeward.ledger._content", "Fingerprint.differs", "self.digest != other.digest", "self.digest == other.digest", "tests/ledger/test_ledger_content.py",
      "changed content is accepted, and the same refused"),
    M(CLAIM, "Reservation._is_mine", "return os.getpid() == self._process", "return True", "tests/ledger", "a forked child withdraws its parent's charge"),
    M(BOOK, "Ledger.set_cap", "if amount < standing.spent:", "if False:", BUDGET, "a cap below what is spent"),
    M(CHAIN, "link", "for name in _COVERED", "for name in _COVERED[:-1]", FILES, "one column is outside the chain", equivalent=False),
    M(CHAIN, "check_all", "from_text(row[\"spent\"]) != spent[row[\"dataset\"]]", "False", FILES + " tests/ledger/test_ledger_edits.py",
      "balances are not replayed"),
    M("leeward.ledger._high_water_mark", "write_high_water_mark", "asdict(mark)", "asdict(mark) | {\"entries\": 0}", FILES, "the mark never rises"),
    M("leeward.ledger._person_budgets", "PersonBudgets._charge", "[before.get((account, day), 0) for account in each]", "[0 for account in each]", "tests/ledger/test_people.py",
      "what was spent before is forgotten"),
    M("leeward.ledger._person_budgets", "PersonBudgets.__init__", '{"price": price, "reports_a_day": str(reports_a_day)}', '{"reports_a_day": str(reports_a_day)}',
      "tests/keys/test_location_inputs.py tests/ledger/test_people.py", "ε and the promise leave the store of budgets"),
    M("leeward.ledger._person_budgets", "PersonBudgets.__init__", '{"price": price, "reports_a_day": str(reports_a_day)}', '{"price": price}',
      "tests/keys/test_location_inputs.py tests/ledger/test_people.py", "the bound leaves the store of budgets"),
    M("leeward.ledger._parts", "joined", "len(raw).to_bytes(8) + raw", "raw", "tests/ledger/test_keyed_digests.py", "two lists of parts are written alike"),
    M("leeward.ledger._person_budgets", "PersonBudgets._count_by", "self._compare(\"days\", known, rule)", "pass", "tests/local/test_days.py", "a store counts days by two rules"),
    M("leeward.ledger._memoized_reports", "MemoizedReports.__init__", '{"law": law}', "{}", "tests/keys/test_location_inputs.py tests/ledger/test_people.py", "the law leaves the store of repeated reports"),
    M("leeward.ledger._memoized_reports", "MemoizedReports.keys", "self.digest(\"answer\", named(person), i, j)", "self.digest(\"answer\", named(person))", "tests/ledger/test_people.py tests/keys/test_location_inputs.py",
      "a person has one report, wherever they are"),
    M("leeward.ledger._memoized_reports", "MemoizedReports._seal", "self._cipher.encrypt(nonce, np.array(answer, \"<i8\").tobytes(), asked)",
      "self._cipher.encrypt(nonce, np.array(answer, \"<i8\").tobytes(), b\"\")", "tests/ledger/test_people.py", "answers can be exchanged in the file"),
]  # fmt: skip
