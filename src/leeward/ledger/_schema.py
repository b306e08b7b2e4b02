# SPDX-License-Identifier: Apache-2.0
"""The tables. Entries are only ever added: an account is the last entry of its dataset, so there is nothing to drift."""

from __future__ import annotations

from sqlalchemy import Column, Index, Integer, LargeBinary, MetaData, Table, Text, UniqueConstraint

APPLICATION_ID = int.from_bytes(b"LeeW")
"""Written in the file's header, so that a foreign database is not taken for a ledger."""

VERSION = 2
"""Of this schema. A ledger of another version is refused, never guessed at."""

metadata = MetaData()

identity = Table(
    "ledger",
    metadata,
    Column("id", Text, primary_key=True),
    Column("key", Text, nullable=False),  # the fingerprint of the key of its content digests, which lives elsewhere
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
    Column("seal", Text, nullable=False),  # reserved: hash of the content's digests; released: hash of the answer;
    # new-key: the fingerprint of the new key
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
    Column("digest_form", Text, nullable=False),  # how digest and marks were made, and with which key
    Column("digest_columns", Text, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("marks", Text, nullable=False),  # of single columns; see `content`
    Column("holder", Text, nullable=False),
    Column("payload", LargeBinary),  # null = reserved; last, so that other columns are read without it
    UniqueConstraint("dataset", "version", "key_hash"),
    Index("charges_by_content", "dataset", "version", "digest_columns"),
)
