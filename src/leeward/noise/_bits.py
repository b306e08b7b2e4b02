# SPDX-License-Identifier: Apache-2.0
"""Where randomness comes from: the operating system's entropy, stretched by a stream cipher.

`SystemBits` is the only source fit for a release. `SeededBitsForTests` repeats itself, and says so in its name and in
`Bits.fit_for_release`; a release made with it is marked unfit.
"""

from __future__ import annotations

import abc
import hashlib
import os
import threading
from typing import Any, Final, NoReturn

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from leeward.errors import InputError, NoiseError

_ZEROS: Final = memoryview(bytes(1 << 18))


class Bits(abc.ABC):
    """A source of independent uniform bits. A subclass gives `fill`; a source is unfit for a release unless it says so."""

    fit_for_release: bool = False

    @abc.abstractmethod
    def fill(self, out: NDArray[Any]) -> None:
        """Overwrite every byte of the C-contiguous array ``out`` (any shape, an unsigned dtype) with random bits."""

    def words(self, n: int) -> NDArray[np.uint64]:
        """Return ``n`` fresh 64-bit words."""
        out = np.empty(n, np.uint64)
        self.fill(out)
        return out

    def integer(self, width: int) -> int:
        """Return a uniform integer of ``width`` bits; ``width`` is a multiple of 8."""
        out = np.empty(width // 8, np.uint8)
        self.fill(out)
        return int.from_bytes(out.tobytes(), "little")


class _Keystream:
    """AES-256 in counter mode: its output on zeros is the stream."""

    def __init__(self, key: bytes, start: bytes) -> None:
        self._encryptor = Cipher(algorithms.AES(key), modes.CTR(start)).encryptor()

    def fill(self, out: NDArray[Any]) -> None:
        if not out.size:
            return
        view = out.data.cast("B")
        for at in range(0, len(view), len(_ZEROS)):
            part = view[at : at + len(_ZEROS)]
            self._encryptor.update_into(_ZEROS[: len(part)], part)


class SystemBits(Bits):
    """The source for releases: AES-256-CTR, keyed afresh from `os.urandom` for each object; make one for each release.

    Safe in threads, which each get a keystream of their own and so never wait for one another, and after a fork, where
    the child keys itself anew. It refuses to be pickled or copied: two copies would draw the same noise twice.
    """

    fit_for_release = True

    def __init__(self) -> None:
        self._local = threading.local()

    def fill(self, out: NDArray[Any]) -> None:
        """Overwrite every byte of the C-contiguous array ``out`` with random bits."""
        local, process = self._local, this_process()
        if getattr(local, "process", None) != process:
            local.stream, local.process = _Keystream(os.urandom(32), os.urandom(16)), process
        local.stream.fill(out)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise NoiseError(
            "A source of release noise was copied or pickled",
            "two copies would draw the same noise, and the difference of two answers would show the truth",
            "Make a SystemBits() where it is used",
        )


_fork_epoch = 0


def _forked() -> None:
    global _fork_epoch  # the process id alone may come round again among the descendants of one process
    _fork_epoch += 1


os.register_at_fork(after_in_child=_forked)


def this_process() -> tuple[int, int]:
    """Return what no other process has: noise that was drawn in another one must not be used here too."""
    return _fork_epoch, os.getpid()


class SeededBitsForTests(Bits):
    """A reproducible source, for tests only: AES-256-CTR keyed by SHA-256 of the seed. Not safe in threads.

    Whoever knows the seed can take the noise off again, so what is made with it is never fit for release.

    Raises:
        InputError: if the seed is not an integer.
    """

    fit_for_release = False

    def __init__(self, seed: int) -> None:
        if not isinstance(seed, int):
            raise InputError("A seed that is not an integer", "a test must be repeatable", "Give an int")
        self._stream = _Keystream(hashlib.sha256(f"leeward test stream {seed}".encode()).digest(), bytes(16))

    def fill(self, out: NDArray[Any]) -> None:
        """Overwrite every byte of the C-contiguous array ``out`` with the next bits of the stream."""
        self._stream.fill(out)
