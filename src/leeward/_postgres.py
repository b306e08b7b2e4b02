# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL database: how it is named, without any secret; how it is reached; what its complaints mean.

An address says where a database is and, if need be, who asks: ``postgresql://user@host:5432/database``. It never holds a
password, so it may be shown, kept and written into a spec. The password comes from the environment (``PGPASSWORD``), or from
the file that PostgreSQL's own programs read (``PGPASSFILE``); libpq finds both by itself.

Messages of PostgreSQL may hold rows (``DETAIL: Key (person)=(…)``). None of them is repeated: an error is told by its
SQLSTATE, in our words, and only the reason why a server is *not reached* is libpq's own, which knows no data by then.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from leeward._optional import optional
from leeward._paths import resolve, resolve_ledger, resolve_source
from leeward._plain import is_text
from leeward.errors import InputError

if TYPE_CHECKING:
    import psycopg

    Session: TypeAlias = psycopg.Connection[Any]

EXAMPLE: Final = "Write postgresql://host:5432/database, or postgresql:///database?host=/folder/of/the/socket"

PORT: Final = 5432

_SCHEME: Final = re.compile(r"(?i)(postgres(?:ql)?)(\+\w*)?:")
_FILES: Final = ("sslrootcert", "sslcert", "sslkey")
_SETTINGS: Final = ("sslmode", *_FILES)
"""What an address may say of the connection, in libpq's words; each is checked by libpq itself."""

_OLDEST: Final = 140000
"""PostgreSQL 14 knows `idle_session_timeout`, which a session that waits must be able to switch off."""


def is_address(named: object) -> bool:
    """Whether a text is meant as the address of a PostgreSQL database."""
    return isinstance(named, str) and _SCHEME.match(named) is not None


@dataclass(frozen=True, slots=True)
class Address:
    """Where a database is, and who asks; no secret.

    Attributes:
        host: a name, a number, or the folder of the server's socket.
        port: of the server.
        database: the name of the database.
        user: who asks; None for what the environment says (``PGUSER``), or the name of the user.
        settings: of the connection, in libpq's words.
    """

    host: str
    port: int
    database: str
    user: str | None = None
    settings: tuple[tuple[str, str], ...] = ()

    @classmethod
    def read(cls, text: str, folder: str | os.PathLike[str] | None = None) -> Address:
        """Read an address.

        Args:
            text: as it was given.
            folder: what the files that it names are relative to; None for the working directory.

        Raises:
            InputError: it holds a password, says less than where the database is, or more than can be meant.
        """
        scheme = _SCHEME.match(text)
        if scheme is None or not text[scheme.end() :].startswith("//"):
            raise _wrong("it does not begin with postgresql://")
        if scheme[2]:
            raise _wrong("it names a driver, and says where, not how")
        try:
            parts = urlsplit(text)
            given = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
            port, password = parts.port, parts.password
        except ValueError:
            raise _wrong("it cannot be read as an address") from None
        settings = dict(given)
        if password is not None or any(name.lower().endswith(("password", "passfile")) for name in settings):
            raise InputError(
                "The address of the database holds a password, or where one is",
                "an address is kept in specs and shown in messages",
                "Leave it out; set PGPASSWORD in the environment, or use PostgreSQL's own ~/.pgpass",
            )
        host = settings.pop("host", None)
        if (host is not None and parts.hostname) or len(given) != len(dict(given)):
            raise _wrong("it says the same thing twice")
        if "%" in parts.netloc.rpartition("@")[2]:
            raise _wrong("its host has a percent sign; a socket's folder stands in ?host=")
        if strange := sorted({*settings} - {*_SETTINGS}):
            raise _wrong(f"it has a setting '{strange[0]}', and only host, {', '.join(_SETTINGS)} are known")
        host, database = host or unquote(parts.hostname or ""), unquote(parts.path.removeprefix("/"))
        user = None if parts.username is None else unquote(parts.username)
        if not host or "," in host:
            raise _wrong(
                "it names several hosts" if host else "it names no host: it must not depend on the environment"
            )
        if not all(is_text(each) for each in (host, database, user or "u", *settings.values())) or parts.fragment:
            raise _wrong("it names no database" if not database else "it cannot be read as an address")
        for name in _FILES:
            if name in settings and settings[name] != "system":
                settings[name] = str(resolve(settings[name], folder))
        return cls(host, port or PORT, database, user, tuple(sorted(settings.items())))

    @property
    def place(self) -> str:
        """Where it is, whoever asks and however: what names one database on one machine."""
        asked = {} if self._is_named else {"host": self.host}
        return self._written("", asked)

    def __str__(self) -> str:
        """Return the address, as `read` reads it again."""
        user = "" if self.user is None else f"{quote(self.user, safe='')}@"
        return self._written(user, ({} if self._is_named else {"host": self.host}) | dict(self.settings))

    def parameters(self) -> dict[str, Any]:
        """Return what libpq is asked for; and that it is not led elsewhere by the environment (``PGHOSTADDR``)."""
        asked: dict[str, Any] = {
            "host": self.host,
            "hostaddr": "",
            "port": self.port,
            "dbname": self.database,
            **dict(self.settings),
        }
        return asked if self.user is None else asked | {"user": self.user}

    @property
    def _is_named(self) -> bool:
        return not self.host.startswith(("/", "@"))

    def _written(self, user: str, asked: Mapping[str, str]) -> str:
        host = "" if not self._is_named else f"[{self.host}]" if ":" in self.host else quote(self.host, safe="")
        port = "" if self.port == PORT else f":{self.port}"
        query = f"?{urlencode(asked, safe='/')}" if asked else ""
        return f"postgresql://{user}{host}{port}/{quote(self.database, safe='')}{query}"


def connect(
    address: Address, what: str, *, autocommit: bool = False, settings: Mapping[str, str] | None = None
) -> Session:
    """Open a session: text in UTF-8, names found in the catalog alone, dead networks noticed within two minutes.

    Args:
        address: of the database.
        what: what it is needed for, if psycopg is missing.
        autocommit: whether each statement is a transaction of its own.
        settings: of the session, in PostgreSQL's words.

    Raises:
        UnfitError: the server is not reached, does not let us in, is too old, or gives no session of its own.
        InputError: psycopg is not installed.
    """
    library = optional("psycopg", what)
    try:
        opened: Session = library.connect(
            **address.parameters(),
            client_encoding="utf8",
            application_name="leeward",
            connect_timeout=10,
            keepalives=1,
            keepalives_idle=30,
            keepalives_interval=10,
            keepalives_count=5,
            tcp_user_timeout=90_000,
            autocommit=True,
        )
    except library.OperationalError as error:
        raise _not_reached(str(error)) from None
    try:
        if opened.info.server_version < _OLDEST:
            raise UnfitError("it is older than PostgreSQL 14", "Use a newer server")
        # not by `options=-c …`: what is set here wins over what a role was given. Until it is, functions are named in full,
        # because others may have made some of these names
        wanted = {**_OF_A_SESSION, **(settings or {})}
        asked = "".join(f", pg_catalog.set_config('{name}', '{value}', false)" for name, value in wanted.items())
        row = opened.execute(
            f"SELECT pg_catalog.pg_backend_pid(), pg_catalog.current_setting('server_encoding'){asked}"
        ).fetchone()
        assert row is not None
        process, encoding, *_ = row
        if process != opened.info.backend_pid:
            raise UnfitError(
                "a connection pooler stands before it, so that one session may be several",
                "Give the address of the server itself",
            )
        if encoding != "UTF8":
            raise UnfitError(
                f"its texts are kept in {encoding}", "Use a database in UTF8: CREATE DATABASE … ENCODING 'UTF8'"
            )
        opened.autocommit = autocommit
    except BaseException:
        opened.close()
        raise
    return opened


_OF_A_SESSION: Final = {
    "search_path": "pg_catalog",
    "standard_conforming_strings": "on",
    "bytea_output": "hex",
    "tcp_keepalives_idle": "30",  # the server's own side: it frees what a machine held that is gone
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "5",
    "idle_session_timeout": "0",
}


class UnfitError(Exception):
    """What answers at an address is nothing that Leeward works with; `explained` tells it like any other reason."""

    def __init__(self, because: str, instead: str) -> None:
        super().__init__(because)
        self.because, self.instead = because, instead


def explained(error: BaseException) -> tuple[str, str]:
    """Return why a database could not be used, and what to do instead. Nothing that a row might hold is repeated."""
    if isinstance(error, UnfitError):
        return error.because, error.instead
    state = getattr(error, "sqlstate", None) or ""
    if not state and type(error).__name__ in ("OperationalError", "InterfaceError"):
        state = "08"
    for start, words in _REASONS.items():
        if state.startswith(start):
            return words
    return (
        f"the database reports {state or type(error).__name__}",
        "Ask who looks after the database; its log says more",
    )


def _not_reached(said: str) -> UnfitError:
    """Say why no session was to be had: in libpq's words, which know no data by then, and no password ever."""
    reason = " ".join((said.strip().splitlines() or ["no reason is given"])[0].split())
    if "password" in reason:
        return UnfitError(*_REASONS["28"])
    _, refused, why = reason.partition("FATAL: ")
    if refused:
        if "the database system is" in why:  # starting up, shutting down, in recovery: libpq passes on no code here
            return UnfitError(*_REASONS["57P"])
        return UnfitError(
            f"the server refuses ({why.strip()})", "Check the address, or ask who looks after the database"
        )
    return UnfitError(f"it is not reached ({reason})", "Check host and port, and whether the server runs")


_REASONS: Final = {
    "28": (
        "it does not let this user in",
        "Check the user, and the password in PGPASSWORD or ~/.pgpass; an address holds none",
    ),
    "42501": (
        "this user may not do that there, or a table has policies that hide rows",
        "Ask for the rights that the page on databases names; for policies of rows, BYPASSRLS",
    ),
    "42P01": ("a table is missing", "Check the name, with its schema"),
    "42703": ("a column is missing", "Check the name"),
    "55P03": ("another process kept it locked", "Wait for that process, or end it, and run again"),
    "57014": ("the server ended the statement, as after a time limit", "Raise statement_timeout for this user"),
    "57P": ("the server is stopping or starting", "Run again when it is up"),
    "22": (
        "a value is beyond what can be counted with",
        "Correct it, or leave that row out. That it fails may be a fact about the data: do not publish it",
    ),
    "53100": ("its disk is full", "Make room there and run again; nothing was shown and nothing half-written"),
    "53300": ("it has no connection left to give", "Wait, or raise max_connections"),
    "53": ("it has not enough memory or room", "Give it more, and run again"),
    "25006": ("it is a replica, or this user may only read", "Give the address of the primary server"),
    "25P03": ("the server ended a transaction that was idle", "Raise idle_in_transaction_session_timeout"),
    "54": (
        "a name or a value is too long for it",
        "Use shorter names: at most 600 bytes for a name and a version together",
    ),
    "XX00": ("it is damaged", "Restore it from a copy you trust"),
    "08": ("the connection was lost", "Run again: what was committed is kept, and nothing was shown that was not"),
}


def _wrong(because: str) -> InputError:
    # what was given is never repeated: it may hold a password where none belongs
    return InputError("The address of the database", because, EXAMPLE)


def resolve_table(named: Any, folder: str | os.PathLike[str] | None = None) -> Any:
    """Return a source of data with the paths in it made absolute, or the address of a database, in full.

    Raises:
        InputError: it is the address of a PostgreSQL database, and holds a password or cannot be read.
    """
    if isinstance(named, list | tuple) and any(map(is_address, named)):
        raise InputError(
            "A list of tables with the address of a database among them",
            "files are one table together, and a table of a database stands alone",
            "Give the address alone, or make a view of several tables there",
        )
    return str(Address.read(named, folder)) if is_address(named) else resolve_source(named, folder)


def resolve_budget(named: str | os.PathLike[str], folder: str | os.PathLike[str] | None = None) -> str:
    """Return where a budget is kept, in full: the path of a SQLite file, or the address of a database.

    Args:
        named: a path, a ``sqlite:///`` address, or a ``postgresql://`` address.
        folder: what a path is relative to; None for the working directory.

    Raises:
        LedgerError: it is another kind of address, or names no file.
        InputError: it is the address of a PostgreSQL database, and holds a password or cannot be read.
    """
    return str(Address.read(str(named), folder) if is_address(named) else resolve_ledger(named, folder))
