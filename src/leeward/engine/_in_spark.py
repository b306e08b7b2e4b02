# SPDX-License-Identifier: Apache-2.0
"""A table counted by Spark: rows stay where Spark reads them, and aggregates over public keys come back.

The questions are those that DuckDB answers (`_visits`, `_numbers`), in Spark's SQL. Two kinds of tables are counted:

- **Parquet files** of a file system that every machine of the cluster sees by the same paths. They are stamped, as for
  DuckDB: if one changes while it is read, there is no answer.
- **A DataFrame** of a session. Spark works one out anew each time that it is asked, and the table behind it may have changed
  by then. So its columns are read once, into the storage of Spark's executors (``localCheckpoint``): whatever is asked is
  asked of these. If an executor is lost, its part of them is, and Spark stops; it never reads the table a second time. Two
  attempts at one part may be two tables, so a plan that draws at random, or speculation, is refused.

Types are Spark's own, from a list. Refused, because the engines read them differently: numbers and times that are texts, and
files of text.
"""

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import ibis
import pyarrow as pa

from leeward._optional import optional
from leeward._spark import Spark, in_plain_words, is_frame, session_of
from leeward._spark_remote import active, hurry, is_remote
from leeward.engine import _row_sums
from leeward.engine._bound import Bound
from leeward.engine._roles import holds_numbers, holds_times
from leeward.engine._spark_sql import compiled, listed
from leeward.errors import DataError, EngineError, LeewardError
from leeward.tables._columns import check_columns
from leeward.tables._files import File
from leeward.tables._parquet import declared
from leeward.tables._schema import check_one_schema
from leeward.tables._spark_files import (
    files_for_spark,
    kind_in_spark,
    may_be_read,
    no_type,
    quoted,
    read_in_spark,
    refuse_moved,
)

if TYPE_CHECKING:
    import ibis.expr.types as ir

    from leeward.engine._row_sums import Asked, Sums

_SOURCE: Final = "leeward_rows_asked_for"


class InSpark(Bound):
    """One table, within one session of our own. `in_spark` makes it."""

    __slots__ = ("_files", "_schema", "_session", "_views")

    def __init__(self, session: Any, schema: pa.Schema, files: Sequence[File]) -> None:
        self._session, self._schema, self._files = session, schema, files
        self._views = {_SOURCE}

    @property
    def rows(self) -> ir.Table:
        return ibis.table(ibis.Schema.from_pyarrow(self._schema), name=_SOURCE)

    def check_roles(self, columns: Mapping[str, str]) -> None:
        for role, name in columns.items():
            _refuse_text(role, name, is_text=pa.types.is_string(self._schema.field(name).type))

    def fetch(self, expression: ir.Expr) -> pa.Table:
        with in_plain_words():
            # never to_pyarrow, which goes through pandas: NaN becomes None there, and the year 1500 an error
            found: pa.Table = self._session.sql(compiled(expression)).toArrow()
            return found

    def staged(self, name: str, rows: ir.Table) -> ir.Table:
        with in_plain_words():
            self._session.sql(compiled(rows)).createOrReplaceTempView(name)
        self._views.add(name)
        return ibis.table(rows.schema(), name=name)

    def register(self, name: str, data: pa.Table) -> ir.Table:
        with in_plain_words():
            self._session.createDataFrame(listed(data)).createOrReplaceTempView(name)
        self._views.add(name)
        return ibis.table(ibis.Schema.from_pyarrow(data.schema), name=name)

    def summed(self, rows: ir.Table, asked: Asked) -> Sequence[Sums]:
        with in_plain_words(), _sent_whole():
            sent = self._session.sql(compiled(rows)).mapInArrow(partial(_row_sums.parts_of, asked=asked), "sums string")
            try:
                parts = sent.collect()
            except optional("pyspark.errors", "Spark").PySparkException:
                _check_workers(self._session)
                raise
        return [_row_sums.Sums(**json.loads(part[0])) for part in parts]

    def read_files(self) -> Sequence[File]:
        return self._files

    def forget(self) -> None:
        """Take our views away: Spark keeps sessions that have ended, and by their views the rows that were read for them."""
        if is_remote(self._session):
            hurry(self._session)
        with suppress(LeewardError), in_plain_words():
            for name in self._views:
                self._session.catalog.dropTempView(name)


@contextmanager
def _sent_whole() -> Iterator[None]:
    """Send what hashes rows to the workers as it stands: Leeward need not be there."""
    pickler = optional("pyspark.cloudpickle", "Spark")
    pickler.register_pickle_by_value(_row_sums)
    try:
        yield
    finally:
        pickler.unregister_pickle_by_value(_row_sums)


def _check_workers(session: Any) -> None:
    """Refuse a Spark whose workers cannot hash rows.

    Raises:
        EngineError: they have no Python as here, or not the libraries that this takes.
    """
    none = _row_sums.Asked((), rows=False, values=(), times=(), key=bytes(48))
    try:
        session.range(1).mapInArrow(partial(_row_sums.parts_of, asked=none), "sums string").collect()
    except optional("pyspark.errors", "Spark").PySparkException:
        raise EngineError(
            "The workers of this Spark",
            "they hash the rows, by which content is recognised, and cannot import numpy, pyarrow and cryptography in the"
            " same version of Python as here",
            f"Install these there, for Python {sys.version_info[0]}.{sys.version_info[1]}: where the variable PYSPARK_PYTHON"
            " of that Spark says. Nothing was charged",
        ) from None


@contextmanager
def in_spark(source: Any, columns: Mapping[str, str], names: Sequence[str], started: Spark) -> Iterator[InSpark]:
    """Open a table, to be counted by Spark.

    Args:
        source: the Parquet files; or a DataFrame of Spark.
        columns: what each column is for (a spec key, for messages) and its name.
        names: the columns, each once.
        started: how Spark is started; see `session_of`.

    Raises:
        DataError: there is no such file or column, or one that Spark is not asked to read.
        EngineError: Spark cannot be started; or its settings give queries another meaning.
        InputError: Spark or Java is not installed.
    """
    if is_frame(source):
        with session_of(started, source) as session, _read_once(session, source, columns, names) as read:
            yield read
        return
    files = files_for_spark(source)
    check_one_schema("parquet", files, columns)
    types = dict(declared(files[0]))
    for role, name in columns.items():  # what need not wait until Spark is started
        if not may_be_read(types[name]):
            raise no_type(role, name, types[name])
        _refuse_text(role, name, is_text=types[name] == "text")
    with session_of(started) as session:
        frame = read_in_spark(session, files)
        schema = _checked(frame, columns, names, types)
        refuse_moved(frame, files, names)
        with in_plain_words():
            frame.select(*(quoted(name) for name in names)).createOrReplaceTempView(_SOURCE)
            _refuse_no_utf8(session, schema)
        yield InSpark(session, schema, files)


@contextmanager
def _read_once(session: Any, frame: Any, columns: Mapping[str, str], names: Sequence[str]) -> Iterator[InSpark]:
    check_columns(columns, frame.columns)
    theirs = frame.sparkSession
    with in_plain_words(), _handed_over(session, frame) as asked:
        _check_repeatable(session, theirs, asked)
        table = theirs.table(asked)  # as it was understood when it was checked, whatever its views are by now
        schema = _checked(table, columns, names)
        with active(theirs) if is_remote(theirs) else nullcontext():
            held = table.select(*(quoted(name) for name in names)).localCheckpoint(eager=True)
    read = InSpark(session, schema, ())
    try:
        with in_plain_words(), _handed_over(session, held) as name:
            session.table(name).createOrReplaceTempView(_SOURCE)
        if is_remote(theirs):  # our view keeps it there; if it were kept here, the end would wait for a dead server
            held = None
        with in_plain_words():
            _refuse_no_utf8(session, schema)
        yield read
    finally:
        read.forget()
        if held is not None and not is_remote(theirs):
            with in_plain_words():  # the rows themselves: DataFrame.unpersist is about cached queries, and leaves these
                held._jdf.queryExecution().logical().rdd().unpersist(False)


@contextmanager
def _handed_over(session: Any, frame: Any) -> Iterator[str]:
    """Give a table to all sessions of its Spark, under a name that nobody is told of; a view that is made of it stays.

    Ours takes it away: where the server of Spark Connect is gone, that of a caller tries for ten minutes.
    """
    name = f"leeward_{uuid.uuid4().hex}"
    frame.createGlobalTempView(name)
    try:
        yield f"global_temp.{name}"
    finally:
        session.catalog.dropGlobalTempView(name)


def _check_repeatable(session: Any, theirs: Any, table: str) -> None:
    """Refuse a table of which two parts, or two attempts at one part, may be of two tables, or whose sums wrap."""
    if str(theirs.conf.get("spark.sql.ansi.enabled")).lower() != "true":
        raise DataError(
            "A DataFrame of a session with spark.sql.ansi.enabled = false",
            "its sums wrap and its casts make numbers up, without a word",
            "Set it to true, which it is in Spark 4 unless somebody changes it, and make the DataFrame anew",
        )
    if session.conf.get("spark.speculation", "false").lower() != "false":
        raise DataError(
            "A DataFrame of a Spark with spark.speculation",
            "two attempts at one part may read two tables",
            "Turn it off",
        )
    if not _may_draw(session, "SELECT rand()"):
        raise EngineError(
            "A DataFrame of a Spark that does not tell which tables draw at random",
            "another one does, and such a table is not the same each time that it is worked out",
            "Write it into Parquet files, and give these",
        )
    if _may_draw(session, f"SELECT count(*) FROM {table}"):
        raise DataError(
            "A DataFrame that is not the same each time that it is worked out",
            "it draws at random, or numbers its rows, and Spark may work a part of it out twice",
            "Write it into a table or into Parquet files, and give these",
        )


def _may_draw(session: Any, query: str) -> bool:
    """Whether Spark takes a query for one that need not give the same twice: it joins by none such, and says so at once."""
    try:
        session.sql(f"SELECT 1 FROM range(1) JOIN range(1) ON ({query}) >= 0").schema  # noqa: B018  # it is understood then
    except optional("pyspark.errors", "Spark").AnalysisException as error:
        if error.getCondition() != "INVALID_NON_DETERMINISTIC_EXPRESSIONS":
            raise
        return True
    return False


def _checked(
    frame: Any, columns: Mapping[str, str], names: Sequence[str], declared: Mapping[str, str] | None = None
) -> pa.Schema:
    """Return what the columns are from then on.

    Raises:
        DataError: one is of a type that is not listed, or that Spark reads as another.
    """
    kinds = dict[str, pa.DataType]()
    fields = {field.name: field for field in frame.schema.fields}
    for role, name in columns.items():
        if name not in fields:
            raise DataError(
                f"{role} = '{name}'", "Spark sees no column of that name", "Rename it, in letters and digits"
            )
        kind = kind_in_spark(fields[name], None if declared is None else declared[name])
        if kind is None:
            raise no_type(role, name, (declared or {}).get(name, fields[name].dataType.simpleString()))
        _refuse_text(role, name, is_text=pa.types.is_string(kind))
        kinds[name] = kind
    return pa.schema([(name, kinds[name]) for name in names])


def _refuse_text(role: str, name: str, *, is_text: bool) -> None:
    if is_text and (holds_numbers(role) or holds_times(role)):
        what, cast = ("times", "timestamp") if role == "time" else ("numbers", "double")
        raise DataError(
            f"{role} = '{name}'",
            f"its {what} are texts, which Spark reads by rules of its own",
            f"Store them as {what}: cast('{cast}'). Or leave engine out: DuckDB then counts the table",
        )


def _refuse_no_utf8(session: Any, schema: pa.Schema) -> None:
    """Refuse bytes that are no text: two of them may be shown, and counted, as one."""
    texts = [f"NOT is_valid_utf8({quoted(field.name)})" for field in schema if pa.types.is_string(field.type)]
    if texts and session.sql(f"SELECT coalesce(bool_or({' OR '.join(texts)}), false) FROM {_SOURCE}").collect()[0][0]:
        raise DataError(
            "The data cannot be read",
            "a text is not UTF-8 (that it is refused is a fact about the data: do not publish it)",
            "Write the table again, with its texts in UTF-8",
        )
