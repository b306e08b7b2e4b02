"""The tables. Entries are only ever added: an account is the last entry of its dataset, so there is nothing to drift."""

from __future__ import annotations

from sqlalchemy import Column, Index, Integer, LargeBinary, MetaData, Table, Text, UniqueConstraint

APPLICATION_ID = int.from_bytes(b"LeeW")
"""Written in the file's header, so that a foreign database is not taken for a ledger."""

VERSION = 1
"""Of this schema. A ledger of a later version is refused, never guessed at."""

metadata = MetaData()

identity = Table("ledger", metadata, Column("id", Text, primary_key=True))

secrets = Table(
    "secrets",
    metadata,
    Column("dataset", Text, primary_key=True),
    Column("secret", LargeBinary, nullable=False),
)

entries = Table(
    "entries",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("id", Text, nullable=False),
    Column("time", Text, nullable=False),
    Column("dataset", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("cost", Text, nullable=False),  # change of spent
    Column("seal", Text, nullable=False),  # reserved: hash of the content digest; released: hash of the answer
    Column("notion", Text),  # this and the next two: the account after this entry; null = not open
    Column("cap", Text),
    Column("spent", Text, nullable=False),
    Column("hash", Text, nullable=False),
    Index("entries_by_dataset", "dataset", "number"),
    Index("entries_by_id", "id"),
)

charges = Table(
    "charges",
    metadata,
    Column("id", Text, primary_key=True),
    Column("dataset", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("key_hash", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("cost", Text, nullable=False),
    Column("digest_columns", Text, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("holder", Text, nullable=False),
    Column("payload", LargeBinary),  # null = reserved; last, so that other columns are read without it
    UniqueConstraint("dataset", "version", "key_hash"),
    Index("charges_by_content", "dataset", "version", "digest_columns"),
)
