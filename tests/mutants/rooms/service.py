"""Mistakes in the service: who may ask what, what it costs them, and what of the table shows before its time."""

from tests.mutants.mutant import Mutant as M

ANSWERING = "leeward.service._answering"
ASKED = "leeward.service._asked"
TOKENS = "leeward.service._tokens"
GUARD = "leeward.service._guard"
HELD = "leeward.service._held"
SHARES = "leeward.ledger._analysts"
ANSWERS = "tests/service/test_service_answers.py"
NEIGHBOURS = "tests/service/test_service_neighbours.py"
GUARDED = "tests/service/test_service_guard.py"
HOLDS = "tests/service/test_service_held.py"
KILLED_DESK = "tests/desk/test_desk_killed.py"
BROKERS = "tests/service/test_service_brokers.py"

NO_LONGER = (
    "tests/service/test_service_answers.py::test_a_data_set_that_is_no_longer_offered_is_gone_for_whoever_had_asked_it"
)

MUTANTS = [
    M("leeward.service._answering", "Answering.plan", "version=ready.session.budget.version", 'version="1"', "tests/service/test_service_answers.py::test_what_is_stated_of_a_plan_is_what_is_stated_of_its_answer", "a plan states another version than the answer"),
    M("leeward.service._answering", "Answering.data_sets", "            if name not in self.offers.data_sets:\n                continue\n", "", NO_LONGER, "who may ask what is no longer offered is told nothing of the rest"),
    M("leeward.service._answering", "Answering.releases", "            if name not in self.offers.data_sets:\n                continue\n", "", NO_LONGER, "who asked what is no longer offered is told nothing of what else they paid for"),
    M(ANSWERING, "Answering.drawn", "if stage in AT_TICKS:", "if False:", NEIGHBOURS, "when a price is reserved and an answer stored can be polled"),
    M(ANSWERING, "", '("reserving", "storing", "withdrawing")', '("reserving", "withdrawing")', NEIGHBOURS, "when an answer is stored can be polled"),
    M(ANSWERING, "Answering._known", 'refuse_long(priced.amount, "this release")', "pass", ANSWERS, "a price that no budget would keep is planned"),
    M(ANSWERING, "Answering._refuse_dear", "except InputError as error:", "except ZeroDivisionError as error:", ANSWERS, "an odd fraction is a failure of the service"),
    M("leeward.ledger._reservation", "Reservation._settled", "paid=True", "paid=False", "tests/session/test_said_to_be_charged.py " + ANSWERS, "what a run had reserved that died is said to be charged again"),
    M("leeward.service._serve", "look", "ledger.check_content(", "(lambda *_, **__: None)(", GUARDED, "a service that is started anew gives stored answers about another content"),
    M("leeward.service._offers", "", '"encoding", "decimal", "time_format")', '"encoding", "time_format")', GUARDED, "one table that is read in two ways has one label"),
    M("leeward.service._offers", "DataSet.spec", 'if key != "decimal"', "if True", ANSWERS, "no table with decimal commas can be served"),
    M(ANSWERING, "Ticks.left", "math.ceil(taken / self._seconds) * self._seconds - taken", "0.0", NEIGHBOURS, "an answer comes when it is ready"),
    M(ANSWERING, "Answering.drawn", "ready.issued not in self.offers.tokens.read()", "False", GUARDED + " " + NEIGHBOURS + " " + ANSWERS, "a question of a token that was revoked meanwhile is charged"),
    M(ANSWERING, "Answering._refuse_closed", "self._unanswered[ready.data_set.name, ready.analyst.name] >= MOST_UNANSWERED", "False", NEIGHBOURS, "what cannot be answered may be asked for ever"),
    M(ANSWERING, "Answering._one_of_few", "max(1, MOST_UNANSWERED - self._unanswered[of])", "MOST_UNANSWERED", NEIGHBOURS, "at once an analyst is told more often that a question was not answered"),
    M("leeward.service._held", "Held.ledger", "create=ledger is None", "create=True", "tests/service/test_service_held.py", "a ledger that is gone with its mark is made anew, and all that was spent forgotten"),
    M(ANSWERING, "Answering.open_ledgers", "self._held.found(data_set.budget().ledger)", "pass", "tests/service/test_service_held.py", "before the first question a ledger that is gone is made anew"),
    M("leeward.service._serve", "serve", "    answering.open_ledgers()\n", "", "tests/service/test_service_held.py", "a service that is started knows of no ledger until it is asked"),
    M(ANSWERING, "Answering._note", "self._unanswered[name, who] += 1", "self._unanswered[name, who] += 0", NEIGHBOURS, "what could not be answered is not counted"),
    M(ANSWERING, "Answering.ready", "            self._refuse_dear(ready)\n", "", NEIGHBOURS + " " + ANSWERS, "what is too dear is refused after the table was opened"),
    M(ANSWERING, "Answering._known", "if priced.amount.epsilon > data_set.most:", "if False:", ANSWERS, "one release may cost the whole budget"),
    M(ANSWERING, "Answering.releases", "one.kind == \"asked-by\" and one.key == who.name", "one.kind == \"asked-by\"", ANSWERS, "an analyst is shown what others paid for"),
    M(ANSWERING, "Answering._of", "if data_set is None or analyst is None:", "if data_set is None:", ANSWERS + " " + GUARDED, "a data set that is not for an analyst is told from one that is not there"),
    M(ASKED, "admitted", "if section not in SECTIONS:", "if False:", ANSWERS, "an analyst says where the data are"),
    M(ASKED, "admitted", "    _refuse_unoffered(data_set, spec)\n", "", ANSWERS, "columns, groups and notions that are not offered are asked about"),
    M(ASKED, "admitted", "    _refuse_what_rows_decide(spec)\n", "", ANSWERS + " " + NEIGHBOURS, "an answer stops where the rows say so"),
    M(ASKED, "_refuse_values", "(type(value), value) not in known", "value not in [each for _, each in known]", ANSWERS, "1 is taken for true"),
    M(ASKED, "_with_filter", "if set(keep) & set(data.get(\"keep\", {})):", "if False:", ANSWERS, "an analyst's filter replaces the curator's"),
    M(TOKENS, "Tokens.bearer", "and one.revoked is None", "", GUARDED, "a revoked token works"),
    M(TOKENS, "Tokens.create", "one.name.casefold() == name.casefold()", "one.name == name", GUARDED, "Ann has the budget that ann spent anew"),
    M(TOKENS, "Tokens.read", "if is_open_to_others:", "if False:", GUARDED, "tokens that others read are used"),
    M(GUARD, "Guard._answer", "if len(named) != 1 or named[0] not in self._hosts:", "if not named:", GUARDED, "another host is answered"),
    M(GUARD, "Guard", "if _is_ambiguous(sent):", "if False:", GUARDED, "of a key that stands twice the last counts"),
    M(GUARD, "Guard._bearer", "if len(sent) == 1 else", "if sent else", GUARDED, "of two tokens the first counts"),
    M(HELD, "Held.ledger", "monotonic() - opened > CHECKED_EVERY", "False", HOLDS, "a chain is checked once for ever"),
    M(HELD, "Held.keys", "or known != seen", "", HOLDS, "a list that changed is not read anew"),
    M(HELD, "_seen", "is_address(query.places.source.held())", "False", HOLDS, "a list in a database is read once for ever"),
    M(SHARES, "refuse_beyond_share", "if cost.epsilon > left:", "if cost.epsilon > analyst.cap:", ANSWERS + " tests/ledger/test_analysts.py", "each question may cost a whole cap"),
    M(SHARES, "refuse_beyond_share", "    if cost.delta:\n", "    if False:\n", "tests/ledger/test_analysts.py", "analysts spend δ that nobody counts"),
    M("leeward.ledger._chain", "linked", "if previous is None or link(str(previous), row) != row[\"hash\"]:", "if previous is None:", "tests/ledger/test_analysts.py", "a share that another hand lowered is believed"),
    M("leeward.service._app", "routes", "if ready.stored is None:", "if True:", f"{ANSWERS}::test_the_same_question_of_two_at_once_is_drawn_once", "the same question of two at once opens the table twice"),
    M("leeward.service._brokers", "_refuse", "if spec.repeat is not None:", "if False:", BROKERS, "a broker finds out by trial where an id was"),
    M("leeward.service._brokers", "_refuse", "if spec.budget is None:", "if False:", BROKERS, "a broker has any number of reports of one position"),
    M("leeward.service._offers", "Offers.of_broker", "if name in each.brokers", "", BROKERS, "who has any token sends positions"),
    M("leeward.service._brokering", "Brokering._drawn", "except DataError:", "except ZeroDivisionError:", BROKERS, "a position beyond the box is told to the curator, and closes the service"),
    M("leeward.service._brokering", "Brokering._drawn", "if calendar.rule == AS_WRITTEN:", "if False:", BROKERS, "the first time without an offset closes a store to all others"),
    M("leeward.service._brokering", "Brokering.reports", "if (sent.time is not None) != offer.timed:", "if sent.time is None and offer.timed:", BROKERS, "a time that counts for nothing is taken"),
    M("leeward.local.location._job", "LocationJob.reports", "None, self._budgets(new=False))", "None, self._budgets(new=True))", BROKERS, "a store that is gone is made anew, and everybody has a whole budget"),
    M("leeward._web._loopback", "listening", "listener.listen(_WAITING)", "pass", KILLED_DESK, "whoever opens the address at once is refused"),
    M("leeward.outputs._folder", "fresh", "sweep(made)", "pass", KILLED_DESK, "what a killed desk began stays for good"),
    M("leeward.outputs._disk", "replace_whole", "with scratch(target.parent, [_WHOLE]) as made:", "with scratch(target.parent, []) as made:", KILLED_DESK, "a page that was not finished stays for good"),
    M("leeward._scratch", "_made", "0o700 | path.stat().st_mode & stat.S_ISGID", "0o700", KILLED_DESK, "an output in a folder of a group is not of the group"),
    M("leeward.service._serve", "serve", "with held_back():", "if True:", "tests/attacks/test_ended_servers.py::test_an_end_that_a_library_would_swallow_comes_behind_it", "an end that a library swallows is lost to a service"),
    M("leeward.desk._serve", "serve", "with held_back():", "if True:", "tests/attacks/test_ended_servers.py::test_an_end_that_a_library_would_swallow_comes_behind_it", "an end that a library swallows is lost to a desk"),
    M("leeward._web._loopback", "run", "with held_back():", "if True:", "tests/attacks/test_ended_servers.py::test_an_end_is_not_swallowed_while_a_server_is_loaded", "an end that comes while a server is loaded is lost"),
    M("leeward._web._loopback", "run", "timeout_graceful_shutdown=_PATIENCE,", "", "tests/attacks/test_ended_servers.py::test_nobody_holds_a_server_by_a_request_that_is_never_whole", "whoever sends half a request keeps a service from ending"),
    M("leeward._web._loopback", "_hanging_up_ends", "signal.signal(signal.SIGHUP, lambda _, frame: server.handle_exit(signal.SIGTERM, frame))", "pass", "tests/attacks/test_ended_servers.py::test_what_is_at_work_is_answered_before_a_server_ends", "a terminal that is closed cuts answers short"),
    M("leeward._web._loopback", "run", 'log_level="critical"', 'log_level="error"', "tests/attacks/test_ended_servers.py::test_nobody_holds_a_server_by_a_request_that_is_never_whole", "tracebacks of what was cut short are printed"),
    M("leeward.service._serve", "serve", "answering = Answering(offers, if_heard(tell))", "answering = Answering(offers, tell)", "tests/attacks/test_ended_servers.py::test_a_service_that_nobody_hears_refuses_as_any_and_counts_it", "where nobody hears of it, what cannot be answered may be asked for ever"),
    M("leeward.desk._serve", "serve", "Jobs(if_heard(tell))", "Jobs(tell)", "tests/attacks/test_ended_servers.py::test_work_at_a_desk_that_nobody_hears_ends_in_words", "work that fails where nobody hears of it ends as if it had come to something"),
    M("leeward._web._loopback", "run", "gc.unfreeze()", "pass", "tests/service/test_service_client.py::test_it_ends_in_peace", "libraries complain on the terminal of what was never let go"),
    M("leeward.service.client", "Client.__init__", " and parts.hostname not in _HERE", ' and "." in str(parts.hostname) and parts.hostname not in _HERE', "tests/service/test_service_client.py", "a token goes unprotected to a machine beside this one"),
    M(ANSWERING, "Answering.data_sets", "tuple(offer.notions)", "tuple(offer.kinds)", f"{ANSWERS}::test_what_may_be_asked_is_told", "notions that are offered are not told"),
    M(ANSWERING, "Answering.data_sets", "self._held.found(budget.ledger), budget.dataset", "self._held.found(budget.ledger), name", f"{ANSWERS}::test_a_data_set_may_be_asked_under_another_name_than_it_is_charged_under", "nothing is said to be spent of a data set that is charged under another name"),
    M(GUARD, "Guard._bearer", 'scheme.lower() == "bearer"', 'scheme == "Bearer"', GUARDED, "bearer in small letters lets nobody in"),
    M(GUARD, "Guard.__init__", "host.lower() for host in hosts", "host for host in hosts", GUARDED, "a host that the curator writes with capitals is never answered"),
    M('leeward.service._tokens', 'Tokens.revoke', 'if one.name == name and one.revoked is None else', 'if one.name == name else', 'tests/service/test_service_guard.py::test_a_token_stays_revoked_as_of_then_when_a_later_one_is_revoked', 'a token that was revoked long ago is said to have been revoked now'),
    M('leeward.service._tokens', 'Tokens.read', 'if os.path.islink(self._path):', 'if False:', 'tests/service/test_service_guard.py::test_a_list_of_tokens_that_is_a_link_to_nowhere_is_not_an_empty_one', 'a list of tokens on a disk that is not there is taken for an empty one'),
    M('leeward.service._answering', 'Answering.releases', ' and ended.get(one.id) != "withdrawn"', '', 'tests/service/test_service_answers.py::test_a_question_that_was_given_back_is_no_release_of_who_asked', 'a question that was given back is listed as a release'),
    M('leeward.service._answering', 'Answering._dear', 'if price > left:', 'if price >= left:', 'tests/service/test_service_answers.py::test_each_spends_their_own_and_all_together_no_more_than_the_data_set_has', 'who asks for all that is left of a cap is told that it is too little'),
    M('leeward.service._answering', 'Answering._note', 'not isinstance(error, BudgetConflictError | ContentChangedError)', 'not isinstance(error, BudgetConflictError)', 'tests/service/test_service_neighbours.py::test_content_that_changed_under_its_label_closes_it_too_and_a_busy_ledger_does_not', 'who is told that the content changed may ask for ever'),
    M('leeward.service._answering', 'Answering._note', '        if isinstance(error, LedgerError) and not isinstance(error, BudgetConflictError | ContentChangedError):\n            return  # a ledger that is busy or full says nothing about the table\n', '', 'tests/service/test_service_neighbours.py::test_content_that_changed_under_its_label_closes_it_too_and_a_busy_ledger_does_not', 'a ledger that is busy closes a data set'),
    M('leeward.service._answering', '_yours', 'max(analyst.cap - spent, Fraction(0))', 'analyst.cap - spent', 'tests/service/test_service_answers.py::test_who_has_spent_more_than_a_new_cap_has_nothing_left', 'less than nothing is left of a cap that was lowered'),
    M('leeward.service._offers', '_data_set', 'most is None or most <= 0', 'most is None or most < 0', 'tests/service/test_service_offers.py', 'a release of which the most may cost nothing is offered'),
    M('leeward.service._offers', '_data_set', 'if checked.budget.notion is None:', 'if False:', 'tests/service/test_service_offers.py', 'the first question that anybody asks decides what a budget is counted in'),
    M('leeward.service._offers', 'DataSet._filters', '{**self.offer.groups, **self.parts["data"].get("keep", {})}', '{**self.parts["data"].get("keep", {})}', 'tests/service/test_service_offers.py', 'the groups that are offered are in no probe of what is offered'),
    M('leeward.service._offers', 'DataSet._filters', '{**self.offer.groups, **self.parts["data"].get("keep", {})}', '{**self.parts["data"].get("keep", {}), **self.offer.groups}', 'tests/service/test_service_offers.py', 'the groups that are offered replace the filter of the curator'),
    M('leeward.service._offers', 'read_offers', 'set(host) & set("/ @,\\\\")', 'False', 'tests/service/test_service_offers.py', 'a path is the name of a host'),
    M('leeward.service._offers', 'read_offers', 'not host.isascii() or', '', 'tests/service/test_service_offers.py', 'letters that no host has are the name of one'),
    M('leeward.service._offers', 'Configuration', 'Field(default=2, ge=1, le=600)', 'Field(default=2, ge=0, le=600)', 'tests/service/test_service_offers.py', 'answers are given at multiples of no time'),
    M('leeward.service._offers', 'Configuration', 'Field(default=2, ge=1, le=600)', 'Field(default=2, ge=1, le=6000)', 'tests/service/test_service_offers.py', 'answers are given once in two hours'),
    M('leeward.service._offers', '_data_set', 'if notion not in _NOTIONS:', 'if False:', 'tests/service/test_service_offers.py', 'a notion that no question may name is offered'),
    M('leeward.service._held', 'Held.found', 'return self.ledger(url)', 'return self._ledgers[url][1]', 'tests/service/test_service_held.py::test_a_ledger_is_checked_whole_once_a_minute', 'who only looks at a ledger never has it checked again'),
    M('leeward.service._asked', '_refuse_unoffered', '            _refuse_other("[query] by", column, offer.columns)\n', '            pass\n', 'tests/service/test_service_answers.py::test_what_is_not_offered_is_refused_in_words_and_charges_nothing', 'intervals are cut of a column that is not offered'),
    M('leeward.service._asked', '_with_filter', '{**data.get("keep", {}), **keep}', '{**keep}', 'tests/service/test_service_answers.py::test_an_analysts_filter_holds_listed_values_and_never_replaces_the_curators', "an analyst's filter takes the place of the curator's"),
    M('leeward.service.client', 'Client.__init__', 'token = token.strip()', 'token = token.rstrip()', 'tests/service/test_service_client.py::test_the_end_of_the_line_that_a_token_was_read_from_is_not_sent', 'a blank before a token is sent'),
    M('leeward.service.client', 'Client.plan', '_asked(data_set, spec, accept_useless)', '_asked(data_set, spec, False)', 'tests/service/test_service_client.py::test_what_would_say_next_to_nothing_is_asked_where_that_is_meant', 'a plan that is meant to say nothing is refused by the client'),
    M('leeward.service.client', 'Client.release', '_asked(data_set, spec, accept_useless)', '_asked(data_set, spec, False)', 'tests/service/test_service_client.py::test_what_would_say_next_to_nothing_is_asked_where_that_is_meant', 'a release that is meant to say nothing is refused by the client'),
    M('leeward.service._brokers', 'read_perturbing', 'if not isinstance(job, LocationJob):', 'if False:', 'tests/service/test_service_brokers.py::test_other_specs_than_one_report_after_another_are_refused_by_name', 'series are offered to brokers'),
]  # fmt: skip
