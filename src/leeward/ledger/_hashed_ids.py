# SPDX-License-Identifier: Apache-2.0
"""Keyed hashes of millions of ids, a block of 16 bytes of all of them at a time: one call for each would take seconds.

The hash of an id m, under two keys of AES, is y ⊕ AES₂(y) for y = CMAC₁(m).

* To whoever has no key it is a random function (NIST SP 800-38B; Iwata and Kurosawa 2003, theorem 5.1, if AES is a random
  permutation): it says nothing of an id, and any two of n ids of up to b blocks have one hash by a chance below
  (5b² + 2)·n²/2¹²⁸. Of a thousand million ids of up to 64 bytes that is 2⁻⁶¹. People whose hashes are one share one budget.
* Whoever has the keys finds ids only by trying them, as with any hash: CMAC alone could be computed backwards, and
  y ⊕ AES₂(y) cannot (Matyas, Meyer and Oseas 1985, with one key).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB
from numpy.typing import NDArray

Blocks = NDArray[np.uint64]
"""Blocks of 16 bytes, shape (n, 2)."""

_SIZE: Final = 16
_AT_ONCE: Final = 1 << 15  # what a processor keeps near


def hashed_ids(keys: bytes, ids: Sequence[str]) -> NDArray[np.bytes_]:
    """Return a hash of each id, dtype ``S16``; under other keys it is another.

    Args:
        keys: 32 bytes, the two keys.
        ids: texts, of any length.
    """
    first, second = _Aes(keys[:_SIZE]), _Aes(keys[_SIZE:])
    found = np.empty((len(ids), 2), np.uint64)
    for i in range(0, len(ids), _AT_ONCE):
        made = _cmac(first, ids[i : i + _AT_ONCE])
        found[i : i + _AT_ONCE] = made ^ second(made)
    return found.view(f"S{_SIZE}").ravel()


def encoded(texts: Sequence[str]) -> tuple[bytes, NDArray[np.int64]]:
    """Return texts in UTF-8, one after the other, and how many bytes each takes."""
    together = "".join(texts)
    if together.isascii():
        return together.encode(), np.fromiter(map(len, texts), np.int64, len(texts))
    each = [text.encode("utf-8", "surrogatepass") for text in texts]
    return b"".join(each), np.fromiter(map(len, each), np.int64, len(each))


class _Aes:
    """AES of blocks, each by itself."""

    def __init__(self, key: bytes) -> None:
        self._encrypt = Cipher(AES(key), ECB()).encryptor().update

    def __call__(self, blocks: Blocks) -> Blocks:
        return np.frombuffer(self._encrypt(blocks.tobytes()), np.uint64).reshape(-1, 2)


def _cmac(aes: _Aes, ids: Sequence[str]) -> Blocks:
    """Return CMAC of each id: each block is added to what is encrypted of those before it; to the last, a key as well."""
    raw, sizes = encoded(ids)
    begins = np.cumsum(sizes) - sizes
    held = np.frombuffer(raw + bytes(_SIZE), np.uint8)
    at_byte = np.ndarray(len(raw) + 1, f"V{_SIZE}", held, strides=(1,))  # the 16 bytes from each byte on
    kept = _blocks([b"\xff" * size + bytes(_SIZE - size) for size in range(_SIZE + 1)])
    whole = _doubled(aes(np.zeros((1, 2), np.uint64)).tobytes())
    cut = _blocks([_doubled(whole)])
    ends = _blocks([bytes(size) + b"\x80" + bytes(_SIZE - 1 - size) for size in range(_SIZE)]) ^ cut
    ends = np.concatenate([ends, _blocks([whole])])
    found = np.zeros((len(ids), 2), np.uint64)
    done, rows = 0, np.arange(len(ids))
    while len(rows):
        left = sizes[rows] - done
        size = np.minimum(left, _SIZE)
        block = at_byte[begins[rows] + done].view(np.uint64).reshape(-1, 2) & kept[size]
        is_last = left <= _SIZE
        block[is_last] ^= ends[size[is_last]]
        found[rows] = aes(found[rows] ^ block)
        rows, done = rows[~is_last], done + _SIZE
    return found


def _doubled(block: bytes) -> bytes:
    """Return a block times x in the field of 2¹²⁸ elements, as CMAC counts it."""
    twice = int.from_bytes(block) << 1
    return ((twice ^ 0x87) % 2**128 if twice >> 128 else twice).to_bytes(_SIZE)


def _blocks(listed: Sequence[bytes]) -> Blocks:
    return np.frombuffer(b"".join(listed), np.uint64).reshape(-1, 2)
