"""Keyed digests of different things never cover the same bytes: not of two people, and not of a person and a key.

Every message that a keyed hash gets is recorded, for every kind of digest and names made to be taken for something else.
Under one key all messages must differ. The names hold what separates parts, what lengths are written with, and the words
that other kinds of digest begin with.
"""

from __future__ import annotations

import hashlib
import hmac
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leeward.engine import _content as content
from leeward.ledger import MemoizedReports, PersonBudgets
from leeward.ledger import _people_store as people
from leeward.ledger import _secret as secret
from leeward.ledger._hashed_ids import hashed_ids
from leeward.ledger._parts import joined

SECRET = bytes(range(32))
WORDS = ("check", "cipher", "answer", "answers", "person", "day", "place", "1", "2", "leeward people 3")
SEPARATORS = ("\x1f", "\x00", ":", "|", ",", '", "', "\n", "\x1e")
NAMES = sorted(
    {
        *("", "ann", "ann1", "ánn", "a\u0301nn", "Ann", "ann ", "\ud800", "\U0010ffff", "x" * 300),
        *WORDS,
        *(sign.join(parts) for sign in SEPARATORS for parts in itertools.product(WORDS[:3], ("ann", "1", "2"))),
        *(f"ann{sign}1{sign}2" for sign in SEPARATORS),
        *(joined(*parts).decode("latin-1") for parts in (("ann",), ("ann", 1), ("person", "ann"), ("check",))),
        *(joined("leeward people 3", word).decode("latin-1") for word in WORDS[:5]),
    }
)
BLAKE = hashlib.blake2b
KEYS = "the keys that ids are hashed with"
POINTS = [(1, 2), (12, 0), (1, 20), (-1, 2), (0, 0)]


class Recorded:
    """A keyed hash that writes down what it covers, under a key that is the same for all stores of one secret."""

    seen: dict[bytes, list[bytes]]

    def __init__(self, key: bytes, held: bytes = b"") -> None:
        self.key, self.held = key, held

    def copy(self) -> Recorded:
        return Recorded(self.key, self.held)

    def update(self, more: bytes) -> None:
        self.held += more

    def digest(self) -> bytes:
        Recorded.seen.setdefault(self.key, []).append(self.held)
        return BLAKE(self.held, key=self.key, digest_size=16).digest()


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> dict[bytes, list[bytes]]:
    Recorded.seen = {}

    def keyed(message: bytes = b"", *, key: bytes, digest_size: int) -> Recorded:
        return Recorded(key, message)

    def mac(key: bytes, message: bytes, kind: Any) -> Any:
        Recorded.seen.setdefault(key, []).append(message)
        return real(key, message, kind)

    def hashed(keys: bytes, ids: Any) -> Any:
        Recorded.seen.setdefault(keys, []).extend(each.encode("utf-8", "surrogatepass") for each in ids)
        return hashed_ids(keys, ids)

    real = hmac.new
    monkeypatch.setattr(people, "hashed_ids", hashed)
    monkeypatch.setattr(people.hashlib, "blake2b", keyed)
    monkeypatch.setattr(hmac, "new", mac)
    return Recorded.seen


def all_kinds(folder: Path) -> dict[str, Callable[[], Any]]:
    budgets = PersonBudgets(folder / "people.db", secret=SECRET, price="1", reports_a_day=3, new=True)
    memo = MemoizedReports(folder / "memo.db", key=SECRET, law="planar", new=True)
    Recorded.seen.clear()
    kinds: dict[str, Callable[[], Any]] = {
        "the check of a secret": lambda: budgets.digest("check"),
        "the key of answers": lambda: [memo.digest("cipher", part) for part in (1, 2)],
        KEYS: lambda: [budgets.digest("ids", part) for part in (1, 2)],
        "the fingerprint": lambda: secret.fingerprint(SECRET),
        "the keys of content": lambda: content._derived(SECRET),
    }
    for name in NAMES:
        kinds[f"who pays: {name!r}"] = lambda name=name: budgets.hashed_ids([name])
        kinds[f"what was answered: {name!r}"] = lambda name=name: memo.keys([name] * len(POINTS), np.array(POINTS))
        kinds[f"the key of a ledger: {name!r}"] = lambda name=name: secret.key_of(
            name.encode("utf-8", "replace").decode(), SECRET
        )
    return kinds


def test_no_two_keyed_digests_cover_the_same(recorded: dict[bytes, list[bytes]], tmp_path: Path) -> None:
    covered: dict[tuple[bytes, bytes], str] = {}
    clashes = []
    for what, made in all_kinds(tmp_path).items():
        recorded.clear()
        made()
        messages = [(key, message) for key, listed in recorded.items() for message in listed]
        assert messages, f"{what} is not recorded"
        for one in messages:
            if one in covered and "'\\ud800'" not in what and covered[one] != KEYS:
                clashes.append((covered[one], what))
            covered.setdefault(one, what)
    assert clashes == []
    assert len(covered) > 7 * len(NAMES)


def test_the_stores_ask_for_nothing_else(recorded: dict[bytes, list[bytes]], tmp_path: Path) -> None:
    """Charging and answering use the digests above and no others."""
    for made in all_kinds(tmp_path).values():
        made()
    known = {message for listed in recorded.values() for message in listed}
    recorded.clear()
    budgets = PersonBudgets(tmp_path / "people.db", secret=SECRET, price="1", reports_a_day=3, new=True)
    with budgets.charging("withhold") as charge:
        charge(NAMES, [1] * len(NAMES))
    memo = MemoizedReports(tmp_path / "memo.db", key=SECRET, law="planar", new=True)
    points = np.array([POINTS[0]] * len(NAMES))
    memo.once(NAMES, points, lambda asked: asked)
    assert {message for listed in recorded.values() for message in listed} <= known


@pytest.mark.parametrize("parts", list(itertools.product(("", "a", "ab", "b", "\x00", 1, 11), repeat=2)))
def test_parts_can_be_read_back(parts: tuple[Any, ...]) -> None:
    """An independent reader of the form finds the parts again: so two lists are never written alike."""
    held, found = joined(*parts), []
    while held:
        size = int.from_bytes(held[:8], "big")
        found.append(held[8 : 8 + size].decode())
        held = held[8 + size :]
    assert found == [str(part) for part in parts]
