"""Mistakes where PostgreSQL is met: addresses, sessions, and the ledger that is kept there."""

from tests.mutants.mutant import Mutant as M

PLACE = "leeward._postgres"
STORE = "leeward.ledger._postgresql"
MOVE = "leeward.ledger._move"
OURS = "tests/ledger/test_postgresql.py"
CRASH = "tests/ledger/test_ledger_crash.py"
MOVING = "tests/ledger/test_moving.py"

MUTANTS = [
    M(PLACE, "Address.read", "if password is not None or any(", "if any(", OURS, "an address keeps its password"),
    M(
        PLACE,
        "Address.read",
        'endswith(("password", "passfile"))',
        'endswith(("passfile",))',
        OURS,
        "a password in the query is named as one setting among others",
    ),
    M(
        PLACE,
        "Address.read",
        "if strange := sorted({*settings} - {*_SETTINGS}):",
        "if strange := []:",
        OURS,
        "an address switches off what makes commits durable",
    ),
    M(
        PLACE,
        "Address.read",
        "str(resolve(settings[name], folder))",
        "str(resolve(settings[name]))",
        OURS,
        "a certificate is looked for in the working directory",
    ),
    M(
        PLACE,
        "connect",
        "if process != opened.info.backend_pid:",
        "if False:",
        OURS,
        "a pooler is taken for the server",
    ),
    M(PLACE, "connect", 'if encoding != "UTF8":', "if False:", OURS, "texts are kept in whatever encoding"),
    M(PLACE, "", '"search_path": "pg_catalog",', "", OURS, "a role's search path decides which functions are called"),
    M(
        PLACE,
        "explained",
        "for start, words in _REASONS.items():\n        if state.startswith(start):\n            return words\n",
        'return str(error), ""\n',
        OURS,
        "PostgreSQL's complaints, which hold rows, are repeated",
    ),
    M(STORE, "", "ledger FOR UPDATE", "ledger", OURS + " " + CRASH, "two write at once"),
    M(STORE, "PostgresStore._alone", 'if synced != "on":', "if False:", OURS, "a server that does not sync is trusted"),
    M(
        STORE,
        "PostgresStore._alone",
        'if synchronous not in ("on", "remote_apply"):',
        "if False:",
        OURS,
        "a commit is acknowledged before it is on disk",
    ),
    M(
        STORE,
        "PostgresStore.is_locked",
        "row is not None and row[0] > 0",
        "row is None",
        CRASH,
        "a living holder is taken over",
    ),
    M(
        STORE,
        "PostgresStore.is_locked",
        "row is not None and row[0] > 0",
        "row is not None",
        CRASH,
        "a dead holder is waited for",
    ),
    M(STORE, "PostgresStore._is_made", "mark.ledger != moves", "False", OURS, "a ledger that is gone is made anew"),
    M(
        STORE,
        "PostgresStore._is_made",
        "if version != [VERSION]:",
        "if False:",
        OURS,
        "a ledger of a later version is guessed at",
    ),
    M(
        STORE,
        "PostgresStore.__init__",
        "_mark_of(address)",
        "_mark_of(Address(address.host, 1, 'x'))",
        OURS + " tests/ledger/test_moving.py",
        "all ledgers of a server have one mark",
    ),
    M(
        "leeward.ledger._sqlite",
        "SqliteStore._refuse_moved",
        "(to := moved_to(connection)) is not None",
        "(to := None) is not None",
        MOVING,
        "a ledger that moved is spent in both places",
    ),
    M(
        MOVE,
        "move",
        "            if any(source.is_locked(holder) for holder in _at_work(old)):",
        "            if False:",
        MOVING,
        "a ledger moves away under a release",
    ),
    M(
        MOVE,
        "move",
        "closed is None or ledger != target.identity(new)",
        "False",
        MOVING,
        "two ledgers are taken for one",
    ),
    M(
        MOVE,
        "move",
        "if closed is not None and closed != to.place:",
        "if False:",
        MOVING,
        "a ledger moves to two places",
    ),
    M(
        MOVE,
        "move",
        "            target.write_high_water_mark(new)  # from now on nobody here takes the database for a new one\n",
        "",
        MOVING,
        "a move that was interrupted leaves room for a new ledger",
    ),
    M(MOVE, "move", "        chain.check_all(old)\n", "", MOVING, "a ledger that was edited moves"),
]
