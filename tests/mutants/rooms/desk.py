"""Mistakes in the desk: who gets a page, which files are read, and what is said of a charge."""

from tests.mutants.mutant import Mutant as M

GUARD = "leeward.desk._guard"
ATTACKS = "tests/desk/test_desk_guard.py"
FOLDER = "tests/desk/test_desk_folder.py"
DRAFTS = "tests/desk/test_desk_drafts.py"
PATH = "tests/desk/test_desk_path.py"
ATTACK = "tests/attacks/test_desk.py"
QUESTIONS = "tests/desk/test_desk_questions.py"

MUTANTS = [
    M(GUARD, "Entrance.opens_with", "self._is_open and not opens", "self._is_open", ATTACKS, "the token lets in whoever has it, again and again"),
    M(GUARD, "Guard._answer", "headers.getlist(\"host\") != [self._authority]", "False", ATTACKS, "a name that was pointed at this machine is answered"),
    M(GUARD, "Guard._answer", "headers.getlist(\"origin\") != [f\"http://{self._authority}\"]", "False", ATTACKS, "a form of another page is taken, where it knows the secret"),
    M(GUARD, "Guard._answer", "if is_part and", "if False and", ATTACKS, "a part of another page gets rows"),
    M(GUARD, "Guard._answer", "if not same(_cookie(headers, self._name), self._entrance.cookie):", "if not _cookie(headers, self._name):", ATTACKS, "any cookie of the right name lets in"),
    M(GUARD, "Guard", "if not same(fields.pop(\"secret\", [\"\"])[-1], self._entrance.form):", "if not fields.pop(\"secret\", [\"\"]):", ATTACKS, "a form without the secret is taken"),
    M(GUARD, "_cookie", "if len(found) == 1 else \"\"", "if found else \"\"", ATTACKS, "of two cookies of one name the first is taken"),
    M("leeward.desk._folder", "Folder.file", "if not path.is_relative_to(self.root) or path == self.root:", "if path == self.root:", FOLDER, "a link leads out of the folder"),
    M("leeward.desk._folder", "Folder.file", "and path.name.lower().endswith(ENDINGS)", "", FOLDER, "a link with the name of a table shows any file of the folder"),
    M("leeward.desk._folder", "Folder.file", "if not stat.S_ISREG(kind):", "if False:", FOLDER, "a pipe or a folder is a table"),
    M("leeward.desk._folder", "Folder.own", "if os.path.realpath(path) != str(path):", "if False:", f"{ATTACK}::test_what_the_desk_keeps_in_its_folder_is_not_elsewhere_by_a_link", "a link leads drafts, releases and the budget out of the folder"),
    M("leeward.desk._drafts", "Drafts._check", "not Path(below).is_relative_to(self._files.root)", "False", DRAFTS, "a draft that somebody put there names any file"),
    M("leeward.desk._drafts", "Drafts._check", "elif os.path.realpath(below) != str(self._files.root / LEDGER):", "elif False:", DRAFTS, "a link leads the budget out of the folder"),
    M("leeward.desk._drafts", "Drafts.read", "_refuse_unasked(sections)", "pass", f"{ATTACK}::test_a_draft_that_says_what_the_desk_does_not_ask_is_refused_and_nothing_is_charged", "a draft that asks what no page shows is released"),
    M("leeward.desk._release", "agreed", "{price} {draft.text()}", "{price}", f"{ATTACK}::test_a_release_is_of_what_its_page_showed", "a page that is out of date releases what the draft says now"),
    M("leeward.desk._jobs", "Jobs.start", "(job.what, job.about, job.of) == (what, about, of)", "(job.what, job.about) == (what, about)", f"{ATTACK}::test_work_on_what_a_draft_said_before_is_not_taken_for_work_on_what_it_says_now", "a release of what the draft said before is taken for one of what it says now"),
    M("leeward.desk._jobs", "Job.progress", "self._cancelled.is_set() and stage not in _COMMITTED", "self._cancelled.is_set()", PATH, "what is paid for is thrown away where it is cancelled late"),
    M("leeward.desk._release", "truth", "if now:", "if ever:", PATH, "what an earlier release cost is told as the price of this one"),
    M("leeward.desk._risk", "belief_at_most", "(grown + weight(1 - prior))", "(grown + weight(prior))", PATH, "the bettor's belief is told too low"),
    M("leeward.desk._releases", "_kept", "if \"/\" not in file and digest_or_none(folder / file) in listed[file]", "if \"/\" not in file", PATH, "a report that was changed since is shown"),
    M("leeward.desk._drafts", "_is_asked", 'and ("query" if of_visits else "places") not in sections', "", QUESTIONS, "a draft about a table names places that no page shows"),
    M("leeward.desk._drafts", "_is_list", "and len(listed) == 1", "", QUESTIONS, "groups of several columns are asked, and the page shows one"),
    M("leeward.desk._drafts", "_is_promise", 'visits="visits" in sections["data"]', "visits=True", QUESTIONS, "the promise of a table cannot be kept"),
    M("leeward.desk._question", "asked", 'return made if promise_of(made) in promises(query) else made.without("protect", "decide")', "return made", QUESTIONS, "a promise stays that the question cannot have"),
    M("leeward.desk._question", "_groups", "if bool(lines) == bool(named):", "if not lines and not named:", QUESTIONS, "of groups that are named twice the list is not looked at"),
    M("leeward.desk._first_step", "first_step", 'made if "time" in data else made.without("window")', "made", QUESTIONS, "a window stays although no time is meant"),
    M("leeward.desk._strength", "to_pay", "one.prices.values()", "list(one.prices.values())[:1]", QUESTIONS, "of several windows the price of one is told"),
    M("leeward.desk._release", "charged_for", "if one.key in keys", "if one.key == min(keys)", QUESTIONS, "what several windows cost is told as what one does"),
    M("leeward.desk._releases", "routes", "for one in all_kept(desk) for of in one.statements", "for one in all_kept(desk) for of in one.statements[:1]", QUESTIONS, "what later windows bought is not told"),
    M("leeward.desk._strength", "_known", "made.notion.epsilon * len(one.plans)", "made.notion.epsilon", f"{QUESTIONS}::test_windows_are_priced_together_and_the_command_has_the_same_answers", "the risk of several windows is told as that of one"),
    M("leeward.desk._strength", "refuse_dear", "price > left", "False", f"{PATH}::test_what_the_budget_does_not_pay_for_is_said_before_anything_is_kept", "what is too dear is kept, and refused two pages later"),
    M("leeward.desk._desk", "Desk.public", 'sheet == data.get("visits_table")', "False", "tests/desk/test_desk_workbooks.py", "the private table is its own public list"),
    M("leeward.desk._worth", "least_epsilon_within", "<= error", "< 2 * error", QUESTIONS, "an ε is offered at which the wish is not met"),
    M("leeward.spec._first_question", "promises", 'a_number(query["lower"]) >= 0', "True", QUESTIONS + " tests/cli/test_init.py", "a sum of negative numbers is said never to be too low"),
    M("leeward.desk._promise", "by_row", '== EACH_ROW', "is None", f"{ATTACK}::test_nothing_is_promised_to_somebody_where_each_row_is_protected_alone", "a promise about single rows is told as one about people"),
    M("leeward.desk._strength", "_of_decisions", "made.mechanism.stop_after is not None", "False", f"{ATTACK}::test_the_odds_of_a_mechanism_that_stops_are_of_what_it_asks", "the odds of levels that are asked are told as those of all"),
    M("leeward.desk._releases", "routes", "reversed(desk.jobs.ended())", "desk.jobs.ended()", f"{ATTACK}::test_a_release_is_told_of_as_it_was_made_also_where_its_folder_was_there_before", "what an earlier release of that name cost is told as the price of this one"),
    M("leeward.desk._releases", "kept", "TypeError, ArithmeticError,", "TypeError,", f"{ATTACK}::test_a_release_that_states_what_is_no_number_leaves_the_others_in_sight", "one release that states no number hides the whole history"),
    M("leeward.desk._views", "_environment", "= escape", "= lambda value: value", f"{ATTACK}::test_a_form_sends_names_back_as_they_are_however_they_are_shown", "a form sends back what is shown of a name, and not the name"),
    M("leeward.desk._jobs", "Jobs.last", "for each in reversed(found)", "for each in found", f"{PATH}::test_a_table_that_grew_is_looked_at_again_and_released_under_another_version", "a second look at a table that changed is not seen"),
    M("leeward.desk._jobs", "Jobs.close", "            job.cancel()\n", "            pass\n", f"{PATH}::test_the_end_of_a_desk_is_the_end_of_its_work_and_an_end_that_fails_is_told", "the end of the desk waits for work that nobody ended"),
    M("leeward.desk._jobs", "Job.start", "except LeewardError as error:\n                self.note", "except ZeroDivisionError as error:\n                self.note", f"{PATH}::test_the_end_of_a_desk_is_the_end_of_its_work_and_an_end_that_fails_is_told", "what was charged is not told where the ledger cannot be read"),
    M("leeward.desk._jobs", "Job.start", '" ".join([error.in_full, *getattr(error, "__notes__", ())])', "str(error)", f"{PATH}::test_the_end_of_a_desk_is_the_end_of_its_work_and_an_end_that_fails_is_told", "what a refusal adds is not told"),
    M("leeward.desk._desk", "Desk.lists", "len(self.sheets(mine)) > 1", "len(self.sheets(mine)) > 0", "tests/desk/test_desk_workbooks.py", "a private workbook of one sheet is offered as a public list"),
    M("leeward.desk._desk", "Desk.state", "for name in named]", "for name in named[:1]]", f"{PATH}::test_a_look_is_of_what_is_asked_now", "a look is taken for one at another public list"),
    M("leeward.desk._desk", "Desk.state", "{draft.text()} ", "", f"{PATH}::test_a_look_is_of_what_is_asked_now", "a look is taken for one at another question"),
    M("leeward.desk._desk", "Desk.account", "opened.show(dataset)", "opened.show()", f"{PATH}::test_each_data_set_is_told_of_its_own_budget", "of several budgets the first is shown"),
    M("leeward.desk._visits", "_offered", "(fresh and likely(names, WHERE))", "likely(names, WHERE)", f"{PATH}::test_visits_with_a_place_and_a_position_are_by_the_one_that_is_chosen", "who chose positions is offered a column of places"),
    M("leeward.desk._visits", "answered", '{} if form.get("place") else position(found)', "position(found)", f"{PATH}::test_visits_with_a_place_and_a_position_are_by_the_one_that_is_chosen", "the column of places that was chosen is left"),
    M("leeward.desk._window", "routes", 'if chosen["every"] not in LENGTHS else {}', "if False else {}", f"{PATH}::test_a_length_of_windows_that_no_page_offers_is_shown_and_kept", "a length that no page offers is lost when the page is sent"),
    M("leeward.desk._check", "routes", "accept_useless=True", "accept_useless=False", f"{PATH}::test_a_look_at_what_would_say_nothing_is_a_look_all_the_same", "what would say nothing cannot be looked at"),
    M("leeward.desk._release", "routes", "        before = charged_for(budget, keys)\n", "        before = Fraction(0)\n", f"{PATH}::test_what_was_charged_is_told_where_a_release_fails_after_it", "what was charged before is told as charged now"),
    M("leeward.desk._release", "_known", "    refuse_dear(one)\n", "", f"{PATH}::test_a_draft_that_others_left_too_little_for_cannot_be_released", "a release that cannot be paid for is offered"),
    M("leeward.desk._releases", "in_words", "costs[one.id] += one.cost", "costs[one.id] = one.cost", f"{PATH}::test_the_history_tells_each_charge_once_with_what_became_of_it", "an answer is said to have cost nothing"),
    M("leeward.desk._releases", "in_words", '(one.kind != "reserved" or one.id not in ended)', 'one.kind != "reserved"', f"{PATH}::test_the_history_tells_each_charge_once_with_what_became_of_it", "a charge without an answer is not told"),
    M("leeward.desk._releases", "", '("released", "withdrawn")\n', '("released",)\n', f"{PATH}::test_the_history_tells_each_charge_once_with_what_became_of_it", "a charge that was taken back is told as one without an answer"),
    M("leeward.desk._releases", "routes", "entries=entries[::-1]", "entries=entries", f"{PATH}::test_the_history_tells_each_charge_once_with_what_became_of_it", "the oldest stands first"),
    M("leeward.desk._release", "_known", "[] if looked is None else looked.found.refusals", "[]", f"{PATH}::test_a_doubtful_release_stops_and_is_not_charged", "what a look found is not told before the release"),
    M("leeward.desk._release", "released", "any(note.opened for note in notes)", "all(note.opened for note in notes)", f"{QUESTIONS}::test_windows_are_priced_together_and_the_command_has_the_same_answers", "that several windows opened a budget is not told"),
]  # fmt: skip
