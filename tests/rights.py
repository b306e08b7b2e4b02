"""What root may not do without the right to read and look into everything: as everybody else."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

_VERSION, _OVERRIDES = 0x20080522, 0b110  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH


class _Header(ctypes.Structure):
    _fields_: ClassVar = [("version", ctypes.c_uint32), ("process", ctypes.c_int)]


class _Rights(ctypes.Structure):
    _fields_: ClassVar = [("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("passed", ctypes.c_uint32)]


@contextmanager
def held_to_modes() -> Iterator[None]:
    """Hold this thread, and those that it starts meanwhile, to what the modes of files and folders say."""
    library = ctypes.CDLL(None, use_errno=True)

    def change(how: int) -> None:
        rights = (_Rights * 2)()
        header = _Header(_VERSION, 0)
        assert library.capget(ctypes.byref(header), rights) == 0, os.strerror(ctypes.get_errno())
        rights[0].effective = (rights[0].effective & ~_OVERRIDES) | (how & rights[0].permitted)
        assert library.capset(ctypes.byref(header), rights) == 0, os.strerror(ctypes.get_errno())

    change(0)
    try:
        yield
    finally:
        change(_OVERRIDES)
