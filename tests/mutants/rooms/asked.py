"""Mistakes between the spec, the command and the library."""

from tests.mutants.mutant import Mutant as M

SPEC = "leeward.spec._spec"
KEYS = "tests/spec/test_release_keys.py"
POLICIES = "tests/spec/test_policies.py"
OPTIONS = "tests/cli/test_options.py"

MUTANTS = [
    M(SPEC, "Spec.statistic", "keep=d.keep or None,", "", KEYS, "keep of a statistic has no effect"),
    M(SPEC, "Spec.statistic", "combine=q.combine,", "", KEYS, "combine has no effect"),
    M(SPEC, "Spec.statistic", '"people", "grid"}', '"people"}', KEYS, "grid has no effect"),
    M(SPEC, "Spec.statistic", '{"column", "lower", "upper", "step", "p",', '{"column", "lower", "upper", "p",', KEYS, "step has no effect"),
    M(SPEC, "Spec.visits", "keep=d.keep,", "", KEYS, "keep of visits has no effect"),
    M(SPEC, "Spec.visits", "timezone=d.timezone,", "", KEYS, "timezone has no effect"),
    M(SPEC, "Spec.visits", "time_unit=d.time_unit,", "", KEYS, "time_unit has no effect"),
    M(SPEC, "Spec.visits", "table=d.visits_table,", "", KEYS, "visits_table has no effect"),
    M(SPEC, "Spec.public_places", "name=p.name,", "", KEYS, "name has no effect"),
    M(SPEC, "Spec.public_places", "table=p.places_table,", "", KEYS, "places_table has no effect"),
    M(SPEC, "Spec.queries", "if_more=self.protect.if_more,", "", KEYS, "if_more has no effect"),
    M(SPEC, "Spec.visitor_plans", "**self.decide.model_dump()", "**self.decide.model_dump(exclude={'useful_from'})", KEYS, "useful_from has no effect"),
    M(SPEC, "Spec.visitor_plans", "**self.decide.model_dump()", "**self.decide.model_dump(exclude={'error_at_most'})", KEYS, "error_at_most has no effect"),
    M(SPEC, "Spec.visitor_plans", "**self.publish.model_dump()", "**self.publish.model_dump(exclude={'stop_after'})", KEYS, "stop_after has no effect"),
    M(SPEC, "Spec.visitor_plans", "**self.publish.model_dump()", "**self.publish.model_dump(exclude={'what'})", KEYS, "what has no effect"),
    M(SPEC, "Spec.visitor_plans", "**self.publish.model_dump()", "**self.publish.model_dump(exclude={'mechanism'})", KEYS, "mechanism has no effect"),
    M(SPEC, "Spec.ledger", "b.version, b.notion", "b.version, None", KEYS, "the budget's notion has no effect"),
    M(SPEC, "Spec.ledger", "b.version, b.notion", '"1", b.notion', KEYS, "version has no effect"),
    M("leeward.spec._windows", "cut", "whole.end if whole.end - at <= length else at + length", "at + length", KEYS + " " + OPTIONS, "the last window reaches beyond the end"),
    M("leeward.spec._windows", "cut", "        at = stop", "        at = stop + length", KEYS, "every other window is left out"),
    M("leeward.spec._notions", "number_notion", "if kind is ReplaceDP and asked.people is not None:", "if False:", "tests/session/test_numbers_command.py " + KEYS,
      "hamming with a public number of people is refused"),
    M("leeward.spec._notions", "number_notion", '"nobody": asked.people is None', '"nobody": True', "tests/session/test_numbers_command.py",
      "metric notions always protect absence"),
    M("leeward.spec._policies", "_adp", "held.append(~_condition", "held.append(_condition", POLICIES, "outside is within"),
    M("leeward.spec._policies", "_adp", "absent_too=bool(protect.absent_too)", "absent_too=False", POLICIES + " " + KEYS, "absent_too has no effect"),
    M("leeward.spec._policies", "_osdp", 'protect.reading or "any"', '"any"', POLICIES, "reading has no effect"),
    M("leeward.spec._policies", "_blowfish", "dict.fromkeys((*asked.groups, *itertools.chain(*joined)))", "dict.fromkeys(itertools.chain(*joined))", POLICIES,
      "a listed group without an edge is no record of the policy graph"),
    M("leeward.spec._policies", "_blowfish", "itertools.combinations(part, 2)", "itertools.pairwise(part)", POLICIES + " " + KEYS, "a part is a path"),
    M("leeward.spec._policies", "_condition", "functools.reduce(operator.and_, parts)", "functools.reduce(operator.or_, parts)", POLICIES, "one column of several is enough"),
    M("leeward.spec._policies", "_check_type", "if kinds and not", "if False and not", POLICIES, "values that are never equal are not refused"),
    M("leeward.spec._spec", "Spec._policies", "if not asked.of_rows:", "if False:", POLICIES, "a policy about one row, of people who have several"),
    M("leeward._toml", "_exact_text", "return str(exact(value))", "return str(value)", "tests/spec/test_spec.py", "floats pass for exact numbers"),
    M("leeward._toml", "Section", 'extra="forbid"', 'extra="ignore"', "tests/spec/test_spec.py", "unknown keys are ignored"),
    M("leeward.cli", "_Commands.invoke", "typer.Exit(_stopped(error))", "typer.Exit(1)", OPTIONS, "an interrupt ends as a failure"),
    M("leeward.cli", "", "_print_added(error)\n        sys.exit(2)", "_print_added(error)\n        sys.exit(1)", "tests/session/test_release_command.py", "a refusal ends as a defect"),
    M("leeward.cli._monitor", "_ended", "end, visits = query.window.end", "end, visits = query.window.start", OPTIONS, "a window that has not ended is asked"),
    M("leeward.cli._monitor", "_ended", "until.replace(tzinfo=end.tzinfo) if until.tzinfo is None else until", "until",
      "tests/session/test_monitor_command.py::test_until_and_the_end_of_a_window_can_be_compared_or_are_refused",
      "--until without an offset cannot be compared with windows that have one"),
    M("leeward.cli._plan", "_compared", "releases=len(queries) if releases is None else releases,", "releases=releases or 1,", OPTIONS, "a plan for one window of many"),
    M("leeward.cli._plan", "_compared", "delta=delta,", "", OPTIONS, "--delta has no effect"),
    M("leeward.cli._plan", "_compared", "assumed_error=error,", "", OPTIONS, "--assumed-error has no effect"),
    M("leeward.cli._demo", "demo", "write_city(city, seed)", "write_city(city, 1)", OPTIONS, "--seed has no effect"),
    M("leeward.cli._budget", "show", "accounts = opened.show(dataset)", "accounts = opened.show()", OPTIONS, "--dataset has no effect"),
    M("leeward.cli._perturb", "perturb", "if dry_run:", "if False:", OPTIONS, "--dry-run draws"),
]  # fmt: skip
