"""Ids that are hashed many at a time are hashed as each is alone, by a library's CMAC and AES."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB
from cryptography.hazmat.primitives.cmac import CMAC

from leeward.ledger import _hashed_ids
from leeward.ledger._hashed_ids import hashed_ids

KEYS = [bytes(range(seed, seed + 32)) for seed in range(4)]  # doubling carries for some of them, and for others not
IDS = [
    *("x" * size for size in range(50)),
    *("é" * size for size in range(1, 20)),
    *("", "ann", "ann\0", "ann\x80", "\ud800", "\U0010ffff", "y" * 1000),
]


def alone(keys: bytes, text: str) -> bytes:
    """Return the hash of one id, as the definition says it."""
    mac = CMAC(AES(keys[:16]))
    mac.update(text.encode("utf-8", "surrogatepass"))
    made = mac.finalize()
    again = Cipher(AES(keys[16:]), ECB()).encryptor().update(made)
    return bytes(a ^ b for a, b in zip(made, again, strict=True))


@pytest.mark.parametrize("at_once", [7, 1 << 15])
def test_each_of_many_is_hashed_as_alone(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_hashed_ids, "_AT_ONCE", at_once)
    for keys in KEYS:
        for ids in (IDS, IDS[::-1], [*filter(str.isascii, IDS)], IDS[:1], []):
            found = np.ascontiguousarray(hashed_ids(keys, ids))
            assert found.tobytes() == b"".join(alone(keys, one) for one in ids)


def test_ids_and_keys_have_hashes_of_their_own() -> None:
    made: list[Any] = [hashed_ids(keys, sorted({*IDS})).tolist() for keys in [*KEYS, KEYS[0][::-1]]]
    assert len({one for listed in made for one in listed}) == sum(map(len, made))
