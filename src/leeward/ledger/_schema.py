# SPDX-License-Identifier: Apache-2.0
"""The tables. Entries are only ever added: an account is the last entry of its dataset, so there is nothing to drift."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Integer, LargeBinary, MetaData, Table, Text, UniqueConstraint

APPLICATION_ID = int.from_bytes(b"LeeW")
"""Written in the file's header, so that a foreign database is not taken for a ledger."""

VERSION = 2
"""Of this schema. A ledger of another version is refused, never guessed at."""

metadata = MetaData()

_Text = Text().with_variant(Text(collation="C"), "postgresql")
"""Compared and sorted by its bytes, as SQLite does, whatever the language of a database is."""

_Number = Integer().with_variant(BigInteger(), "postgresql")

identity = Table(
    "ledger",
    metadata,
    Column("id", _Text, primary_key=True),
    Column("key", _Text, nullable=False),  # the fingerprint of the key of its content digests, which lives elsewhere
)

entries = Table(
    "entries",
    metadata,
    Column("number", _Number, primary_key=True, autoincrement=False),
    Column("id", _Text, nullable=False),
    Column("time", _Text, nullable=False),
    Column("dataset", _Text, nullable=False),
    Column("version", _Text, nullable=False),
    Column("kind", _Text, nullable=False),
    Column("key", _Text, nullable=False),
    Column("cost", _Text, nullable=False),  # change of spent
    Column("seal", _Text, nullable=False),  # reserved: hash of the content's digests; released: hash of the answer;
    # new-key: the fingerprint of the new key
    Column("notion", _Text),  # this and the next two: the account after this entry; null = not open
    Column("cap", _Text),
    Column("spent", _Text, nullable=False),
    Column("hash", _Text, nullable=False),
    Index("entries_by_dataset", "dataset", "number"),
    Index("entries_by_id", "id"),
)

charges = Table(
    "charges",
    metadata,
    Column("id", _Text, primary_key=True),
    Column("dataset", _Text, nullable=False),
    Column("version", _Text, nullable=False),
    Column("key_hash", _Text, nullable=False),
    Column("key", _Text, nullable=False),
    Column("cost", _Text, nullable=False),
    Column("digest_form", _Text, nullable=False),  # how digest and marks were made, and with which key
    Column("digest_columns", _Text, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("marks", _Text, nullable=False),  # of single columns; see `content`
    Column("holder", _Text, nullable=False),
    Column("payload", LargeBinary),  # null = reserved; last, so that other columns are read without it
    UniqueConstraint("dataset", "version", "key_hash"),
    Index("charges_by_content", "dataset", "version", "digest_columns").ddl_if(
        dialect="sqlite"
    ),  # PostgreSQL's hold 2 kB
)
