"""Several questions about one table in PostgreSQL, or for Spark: it is opened once, and each sees what it does alone."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.engine.test_shared_sources import PEOPLE, questions, seen
from tests.sources import describe_by
from tests.spark import spark

import leeward as lw
from leeward.engine import _in_postgres, _in_spark, open_data, read_keys, sources_of
from leeward.errors import DataError

Session = tuple[psycopg.Connection[Any], str]


def in_postgres(_folder: Path, session: Session) -> dict[str, Any]:
    connection, address = session
    connection.execute("CREATE TABLE people (who text, age float8, hours int, sex text, town text, at timestamp)")
    with connection.cursor().copy(b"COPY people FROM STDIN") as copy:
        for row in PEOPLE.itertuples(index=False):
            copy.write_row(tuple(row))
    return {"table": address, "of": {"table": "people", "engine": "postgres"}}


def in_spark(folder: Path, _session: Session) -> dict[str, Any]:
    spark()
    PEOPLE.assign(at=PEOPLE["at"].astype("datetime64[us]")).to_parquet(folder / "people.parquet")
    return {"table": folder / "people.parquet", "of": {"engine": "spark"}}


@pytest.mark.parametrize(
    ("held", "engine"), [(in_postgres, _in_postgres), pytest.param(in_spark, _in_spark, marks=pytest.mark.sweep)]
)
@pytest.mark.filterwarnings("ignore:unclosed.*socket:ResourceWarning")
def test_each_is_what_it_is_alone_and_the_table_is_opened_once(
    held: Any, engine: Any, tmp_path: Path, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All are open before any is counted, and the last is counted first; a text is no number to any of them."""
    there = held(tmp_path, session)
    asked = [questions(there["table"], **there["of"])[i] for i in (0, 2, 3)]
    alone = []
    for query in asked:
        with open_data(query, read_keys(query)) as table:
            alone.append(seen(table, query))
    opened, (name, kind) = list[Any](), next((n, k) for n, k in vars(engine).items() if n in ("InPostgres", "InSpark"))
    monkeypatch.setattr(engine, name, lambda *how: opened.append(how) or kind(*how))
    of_texts = lw.statistic(
        describe_by(lw.records, there["table"], person="who", **there["of"]), "mean", column="town", lower=0, upper=1
    )
    with ExitStack() as stack:
        sources = stack.enter_context(sources_of([(query, read_keys(query)) for query in [*asked, of_texts]]))
        every = [stack.enter_context(open_data(query, read_keys(query), sources)) for query in asked]
        found = [seen(table, query) for table, query in zip(every[::-1], asked[::-1], strict=True)]
        refused = open_data(of_texts, read_keys(of_texts), sources)
        with pytest.raises(DataError, match="column = 'town': its numbers are texts"):
            refused.__enter__()
    assert found[::-1] == alone
    assert len(opened) == 1
