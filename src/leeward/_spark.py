# SPDX-License-Identifier: Apache-2.0
"""Spark: which tables are its DataFrames, and sessions in which our queries mean what they say.

A session of ours is always a new one, beside those of the caller, on the Spark that already runs in this process; where none
does, one is started, once, and ends with the process. Or it is one of Spark Connect, on a Spark elsewhere (`_spark_remote`).
What the settings of a session can change is set, for our session alone, and read back. What an older Spark did, and can be
switched on again (``spark.sql.legacy.*``), is refused.

Spark repeats data values in its errors and its logs. Of an error we hand on what kind it is, and never its words. The Spark
that is started here writes no log; that of a caller writes what and where the caller says.
"""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Final

from leeward._optional import optional
from leeward._plain import echo
from leeward._spark_remote import check_remote, is_remote, session_at, session_beside
from leeward.errors import DataError, EngineError, InputError, SpecError, nearest

_WHAT: Final = 'engine = "spark"'

_OF_SESSION: Final = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.enforceReservedKeywords": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.session.collation.default": "UTF8_BINARY",
    "spark.sql.caseSensitive": "true",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.variable.substitute": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.parquet.mergeSchema": "false",
    "spark.sql.parquet.filterPushdown": "false",
    "spark.sql.parquet.aggregatePushdown": "false",
    "spark.sql.parquet.binaryAsString": "false",
    "spark.sql.parquet.inferTimestampNTZ.enabled": "true",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.groupByOrdinal": "true",
    "spark.sql.orderByOrdinal": "true",
}
"""What could change an answer: what casts, divisions and sums do at their ends; the zone of times; which names are one;
whether texts in a query are looked through for variables; and whether notes in a file are believed, or files left out."""

_OF_ANOTHER_SPARK: Final = "spark.sql.legacy."

_OF_OURS: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}
"""Of a Spark on this machine alone: it listens to nobody else, and draws no bars on the terminal."""

_LOGGERS: Final = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""Loggers of pyspark on stderr, which repeat what an error says, data values and all."""

_LOGGERS_OF_JAVA: Final = ("py4j.clientserver", "py4j.java_gateway")
"""Those of what speaks to Java: they repeat what is said, texts of errors among it, and tell with a traceback that a run was
ended meanwhile. This it says on the root logger, too."""

_LOGGER_OF_CONNECT: Final = "pyspark.sql.connect.logging"
"""That of its client, and its module: it is silent unless a variable says otherwise, which is read when it is imported."""

MASTER: Final = "local[*]"
"""Where Spark runs if nothing says so: on this machine, on all its cores."""


SETTINGS: Final = (
    "master",
    "remote",
    *("spark.cores.max", "spark.default.parallelism", "spark.sql.shuffle.partitions"),
    *("spark.driver.memory", "spark.executor.memory", "spark.executor.cores", "spark.executor.instances"),
    *(
        "spark.driver.host",
        "spark.driver.bindAddress",
        "spark.driver.port",
        "spark.blockManager.port",
        "spark.local.dir",
    ),
)
"""What may be said of a Spark: how large it is started and where, or where one runs that is reached by Spark Connect. None
of these runs code, or is a secret."""


def is_frame(source: object) -> bool:
    """Whether this is a DataFrame of Spark. Nothing is imported to see it."""
    return any(
        one.__module__.partition(".")[0] == "pyspark" and one.__name__ == "DataFrame" for one in type(source).__mro__
    )


@dataclass(frozen=True)
class Spark:
    """Spark as what counts, and how it is started where none runs in this program yet.

    Attributes:
        settings: ``master``, where it runs (``local[*]``, this machine, by default), and others by Spark's own names, such
            as ``spark.executor.memory``: texts all. Or ``remote``, where one is reached by Spark Connect: ``sc://host:port``.

    Raises:
        SpecError: they are no texts by names that may be set; or an address is no address, or holds a secret.
    """

    settings: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", _checked(self.settings))

    def __hash__(self) -> int:
        return hash(frozenset(self.settings.items()))


def _checked(given: object) -> dict[str, str]:
    if not isinstance(given, Mapping):
        raise SpecError(
            "spark" if isinstance(given, str) else f"spark = {echo(given)}",
            "it must be a table of settings",
            'Give the setting master, such as "local[2]", or remote, such as "sc://host:15002"',
        )
    for key, value in given.items():
        if key not in SETTINGS:
            raise SpecError(
                f"The setting {echo(key)} of spark",
                "a spec says how large Spark is and where it runs; what runs code in it, and secrets, have no place there",
                f"{nearest(str(key), SETTINGS)} All else goes into spark-defaults.conf, in the folder that the variable"
                " SPARK_CONF_DIR names",
            )
        if not isinstance(value, str) or not value.isprintable() or not value:
            raise SpecError(
                f'spark: "{key}"', "it must be a text", f'Write it as Spark does, as text: {{ "{key}" = "2" }}'
            )
    if given.get("master", "").lower().startswith("sc:"):
        raise SpecError(
            "The setting master of spark", "that is an address of Spark Connect", 'Write remote = "sc://host:15002"'
        )
    if "remote" in given:
        check_remote(given["remote"])
        if len(given) > 1:
            raise SpecError(
                "spark: remote, and other settings",
                "that Spark runs already, and was told how large it is when it was started",
                "Leave out remote, or all else",
            )
    return dict(given)


@contextmanager
def session_of(started: Spark, frame: Any = None) -> Iterator[Any]:
    """Open a session of our own.

    Args:
        started: how a Spark is started here, or reached.
        frame: a DataFrame of Spark whose session's Spark is to be used; None for the one that runs here, or is started.

    Raises:
        InputError: Spark or Java is not installed.
        EngineError: Spark cannot be started or reached, or holds on to settings under which queries mean something else.
    """
    settings = started.settings
    sql = optional("pyspark.sql", _WHAT, "spark-connect" if "remote" in settings else None)
    if frame is not None and is_remote(frame.sparkSession):
        opened = session_beside(frame.sparkSession)
    elif frame is None and "remote" in settings:
        opened = session_at(settings["remote"])
    else:
        opened = _session_here(sql, settings, frame)
    with in_plain_words(), opened as made:
        _set(made)
        yield made


@contextmanager
def _session_here(sql: Any, settings: Mapping[str, str], frame: Any) -> Iterator[Any]:
    beside = _running(settings) if frame is None else frame.sparkSession
    active = sql.SparkSession.getActiveSession() or beside
    made = beside.newSession()
    try:
        yield made
    finally:
        # to hand over a table makes ours the one that others are given; theirs is again
        made.sparkContext._jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession(active._jsparkSession)
        sql.SparkSession._activeSession = active


def _running(settings: Mapping[str, str]) -> Any:
    """Return a session of the Spark that runs in this process, and start one if none does."""
    core = optional("pyspark", _WHAT)
    if not hasattr(core, "SparkContext"):
        raise InputError(
            _WHAT,
            "of Spark there is only the client of Spark Connect here, which starts none",
            'Say where one runs, by the setting remote = "sc://host:15002". Or install one: pip install "leeward[spark]"',
        )
    context = core.SparkContext._active_spark_context
    if context is None:
        return _started(settings)
    if settings.get("master", context.master) != context.master:
        raise EngineError(
            f"The setting master = {echo(settings['master'])} of spark",
            f"a Spark at {context.master} runs in this program already, and one program has one",
            "Leave master out, or stop that Spark",
        )
    return optional("pyspark.sql", _WHAT).SparkSession.builder.getOrCreate()


def _set(session: Any) -> None:
    with warnings.catch_warnings():  # Spark Connect says of one that it is deprecated, also of its only sound value
        warnings.simplefilter("ignore")
        for key, value in _OF_SESSION.items():
            session.conf.set(key, value)
    found = session.conf.getAll
    odd = [key for key in found if key.startswith(_OF_ANOTHER_SPARK)]
    odd += [key for key, value in _OF_SESSION.items() if found.get(key, "").lower() != value.lower()]
    if odd:
        raise EngineError(
            f"Spark with {', '.join(sorted(odd))} set",
            "the same query would mean something else than on every other engine",
            "Leave these settings out. Nothing was read",
        )


def _started(settings: Mapping[str, str]) -> Any:
    """Start Spark, with its log turned off: in it stand data values."""
    java = os.path.join(os.environ["JAVA_HOME"], "bin", "java") if "JAVA_HOME" in os.environ else "java"
    if shutil.which(java) is None:
        raise InputError(
            _WHAT,
            "Spark runs on Java, version 17 or 21, and there is none here"
            + (" where JAVA_HOME says" if "JAVA_HOME" in os.environ else ""),
            "Install it: apt-get install openjdk-17-jre-headless (Debian, Ubuntu)",
        )
    core, sql = optional("pyspark", _WHAT), optional("pyspark.sql", _WHAT)
    master = settings.get("master", MASTER)
    given = {key: value for key, value in settings.items() if key != "master"}
    ours = _OF_OURS if master.startswith("local") else {}
    conf = core.SparkConf(loadDefaults=False).setAll((ours | given).items()).setMaster(master).setAppName("leeward")
    # what it moves from task to task, and has no room for in memory, are rows in files among the temporary ones
    quietly = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "umask": 0o077}
    gateway = optional("pyspark.java_gateway", _WHAT).launch_gateway(conf, quietly)
    context = core.SparkContext(conf=conf, gateway=gateway)
    if master.startswith("local") and "PYSPARK_PYTHON" not in os.environ:
        context.pythonExec = sys.executable  # or workers on this machine would be of whatever Python is called python3
    return sql.SparkSession(context)


_ENDED: Final = "cannot schedule new futures"


@contextmanager
def in_plain_words() -> Iterator[None]:
    """Turn Spark's exceptions, whose texts hold data values, into ours without them, and keep pyspark from logging them."""
    errors = optional("pyspark.errors", _WHAT)
    try:
        with _unlogged():
            yield
    except (errors.PySparkException, *_of_channels()) as error:
        condition = (error.getCondition() or "") if isinstance(error, errors.PySparkException) else ""
    except RuntimeError as error:  # of the threads that all clients of Spark Connect share; what ends one ends them
        if not str(error).startswith(_ENDED):
            raise
        condition = _ENDED
    else:
        return
    if condition == _ENDED:
        raise EngineError(
            "Spark Connect",
            "a session of it was closed or forgotten elsewhere in this program, and with it what all of them ask through",
            "Run it again, if need be in a new program, and neither close nor forget a session of it meanwhile",
        )
    if condition == "JAVA_GATEWAY_EXITED":
        raise EngineError(
            "Spark cannot be started",
            "its Java ended at once",
            "Check java -version (17 or 21), and the settings of spark. Nothing was read",
        )
    raise DataError(*_meaning(condition))


@contextmanager
def _unlogged() -> Iterator[None]:
    """Keep pyspark, and what it speaks to Java through, from logging."""
    of_pyspark = optional("pyspark.logger", _WHAT).PySparkLogger  # a plain logger of that name would break its logging
    names = [*_LOGGERS, *(name for name in (_LOGGER_OF_CONNECT,) if name in sys.modules)]
    loggers = [*map(of_pyspark.getLogger, names), *map(logging.getLogger, _LOGGERS_OF_JAVA)]
    before, root, nowhere = [logger.disabled for logger in loggers], logging.getLogger(), logging.NullHandler()

    def of_others(record: logging.LogRecord) -> bool:
        return "py4j" not in PurePath(record.pathname).parts

    root.addFilter(of_others)
    root.addHandler(nowhere)  # or one that prints would be made for what is said there
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled
        root.removeHandler(nowhere)
        root.removeFilter(of_others)


def _of_channels() -> list[type[Exception]]:
    """What the libraries raise through which Spark is spoken to: that to its Java, and that of Spark Connect."""
    known = [("py4j.protocol", "Py4JError"), ("grpc", "RpcError")]
    return [getattr(sys.modules[module], name) for module, name in known if module in sys.modules]


def _meaning(condition: str) -> tuple[str, str, str]:
    """What an error means, by the name that Spark has for its kind."""
    if condition.partition(".")[0] in {
        "ARITHMETIC_OVERFLOW",
        "BINARY_ARITHMETIC_OVERFLOW",
        "CAST_OVERFLOW",
        "NUMERIC_VALUE_OUT_OF_RANGE",
        "DATETIME_OVERFLOW",
    }:
        return (
            "The data cannot be read",
            "a time or a number is beyond what can be counted (that it is refused is a fact about the data: do not publish"
            " it)",
            "Make such values missing",
        )
    return (
        "The data cannot be read by Spark",
        f"it stopped with {condition}" if condition else "it stopped, or is not reached any more",
        "Read the table in Spark itself: its own message and log say more, and hold data values. That it stopped may be a"
        " fact about the data: do not publish it",
    )
