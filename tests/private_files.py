"""Files that only their owner may read, as the secrets of `leeward perturb` must be."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path


def write_private(path: Path, content: bytes) -> None:
    """Write a file anew that nobody else may read."""
    path.unlink(missing_ok=True)
    with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        file.write(content)


def open_to_others(paths: Iterable[Path]) -> list[Path]:
    """Those that anybody but their owner may read, write or list."""
    return [path for path in paths if stat.S_IMODE(path.stat().st_mode) & 0o077]
