"""Sources of bits: the cipher's published answers, threads, forks, and what must not be copied."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Barrier

import numpy as np
import pytest

from leeward.errors import InputError, NoiseError
from leeward.noise import Bits, SeededBitsForTests, SystemBits
from leeward.noise._bits import _Keystream


def test_the_keystream_is_aes_256_in_counter_mode() -> None:
    """NIST SP 800-38A, F.5.5 (CTR-AES256.Encrypt): plaintext xor ciphertext, first two blocks."""
    key = bytes.fromhex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
    stream = _Keystream(key, bytes(range(0xF0, 0x100)))
    plain = bytes.fromhex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51")
    cipher = bytes.fromhex("601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5")
    out = np.empty(32, np.uint8)
    stream.fill(out)
    assert out.tobytes() == bytes(a ^ b for a, b in zip(plain, cipher, strict=True))


def test_the_stream_does_not_depend_on_how_it_is_asked_for() -> None:
    whole = np.empty(600_000, np.uint8)
    SeededBitsForTests(7).fill(whole)
    parts = SeededBitsForTests(7)
    pieces = [np.empty(shape, np.uint8) for shape in (1, 5, 0, 300_000, (10, 29_000))]
    for piece in pieces:
        parts.fill(piece)
    joined = np.concatenate([piece.reshape(-1) for piece in pieces])
    assert np.array_equal(joined, whole[: joined.size])
    assert parts.integer(24) == int.from_bytes(whole[joined.size : joined.size + 3].tobytes(), "little")
    rest = whole[joined.size + 3 :][:16].view(np.uint64)
    assert np.array_equal(parts.words(2), rest)


def test_seeds_repeat_and_differ_and_say_they_are_unfit() -> None:
    assert np.array_equal(SeededBitsForTests(1).words(4), SeededBitsForTests(1).words(4))
    assert not np.array_equal(SeededBitsForTests(1).words(4), SeededBitsForTests(2).words(4))
    assert not SeededBitsForTests(1).fit_for_release
    assert SystemBits().fit_for_release
    with pytest.raises(InputError, match="seed"):
        SeededBitsForTests(None)  # type: ignore[arg-type]


def test_a_source_of_ones_own_is_unfit_unless_it_says_otherwise() -> None:
    class Own(Bits):
        def fill(self, out: np.ndarray) -> None:
            out[...] = 0

    assert not Own().fit_for_release


@pytest.mark.parametrize("duplicate", [pickle.dumps, copy.copy, copy.deepcopy, lambda b: pickle.dumps(b, 0)])
def test_release_noise_is_never_duplicated(duplicate: object) -> None:
    bits = SystemBits()
    bits.words(1)
    with pytest.raises(NoiseError, match="same noise"):
        duplicate(bits)  # type: ignore[operator]


def test_two_sources_share_nothing() -> None:
    """Sixty-four bits twice: equal by chance once in 2^64."""
    assert SystemBits().words(1)[0] != SystemBits().words(1)[0]


def test_threads_draw_from_streams_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """32,000 words of 64 bits: two equal by chance with probability 3e-11."""
    keyed = count()
    urandom = os.urandom
    monkeypatch.setattr(os, "urandom", lambda n: (next(keyed), urandom(n))[1])
    bits, together = SystemBits(), Barrier(8)

    def draw(_: int) -> list[int]:
        together.wait()
        return [int(bits.words(1)[0]) for _ in range(4_000)]

    with ThreadPoolExecutor(8) as pool:
        words = [word for drawn in pool.map(draw, range(8)) for word in drawn]
    assert len(set(words)) == 32_000
    assert next(keyed) == 8 * 2  # a key and a first counter for each thread, once


def test_one_process_keys_one_stream_once(monkeypatch: pytest.MonkeyPatch) -> None:
    bits = SystemBits()
    bits.words(1)
    monkeypatch.setattr(os, "urandom", lambda n: pytest.fail("keyed again"))
    bits.words(1)


def test_another_process_id_keys_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fork made outside Python runs no hook: the process id tells."""
    bits = SystemBits()
    bits.words(1)
    keyed: list[int] = []
    monkeypatch.setattr(os, "getpid", lambda: -1)
    monkeypatch.setattr(os, "urandom", lambda n: (keyed.append(n), bytes(n))[1])
    bits.words(1)
    assert keyed == [32, 16]


FORK = """
    import os
    from leeward.noise import SystemBits
    same_id = {same_id}
    if same_id:
        os.getpid = lambda: 1234
    bits = SystemBits()
    bits.words(1)
    read, write = os.pipe()
    child = os.fork()
    words = bits.words(4).tobytes()
    if not child:
        os.write(write, words)
        os._exit(0)
    os.waitpid(child, 0)
    theirs = os.read(read, 32)
    assert len(theirs) == 32
    print("differ" if theirs != words else "SAME")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.parametrize("same_id", [False, True], ids=["own id", "an id come round again"])
def test_a_forked_child_draws_other_noise(same_id: bool) -> None:
    """In a process of its own: this one may have threads. Equal by chance once in 2^256."""
    script = textwrap.dedent(FORK.format(same_id=same_id))
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert run.stdout.strip() == "differ"
