# SPDX-License-Identifier: Apache-2.0
"""What every kind of perturbation does, and which kinds there are.

A kind is a module of this folder with a function ``read(given, folder) -> Job``: it checks the nested dicts of a spec file
(``given``, without ``[perturb]``) against models of its own and returns the job. One file and one row in `KINDS`.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, Protocol

from leeward._document import Document
from leeward._paths import resolve
from leeward._plain import echo
from leeward._postgres import is_address
from leeward._progress import Progress
from leeward._toml import read_toml
from leeward.errors import SpecError

KINDS: Final[Mapping[str, str]] = {
    "location": "leeward.local.location._job",
    "series": "leeward.local.series._job",
}
"""The kinds, ``[perturb] kind``, and the modules that hold them; a module is loaded when its kind is asked for."""


@dataclass(frozen=True)
class Written:
    """What a job has done.

    Attributes:
        files: what was written, the table first.
        rows: how many rows had a position, or a reading, that was reported with noise.
        fit_for_release: whether the noise was drawn from a cryptographic stream.
        notes: warnings in plain words.
    """

    files: tuple[Path, ...]
    rows: int
    fit_for_release: bool
    notes: tuple[str, ...]

    def public(self) -> Perturbed:
        """Return what ``leeward perturb --json`` prints."""
        names = tuple(str(file) for file in self.files)
        return Perturbed(format=1, files=names, rows=self.rows, fit_for_release=self.fit_for_release)


class Perturbed(Document):
    """What was written, as ``leeward perturb --json`` prints it.

    Attributes:
        format: 1.
        files: the files, the table first.
        rows: how many rows had a position, or a reading, that was reported with noise.
        fit_for_release: whether the noise was drawn from a cryptographic stream.
    """

    format: Literal[1]
    files: tuple[str, ...]
    rows: int
    fit_for_release: bool


@dataclass(frozen=True)
class OpensStores:
    """The stores about people that a run would make.

    Attributes:
        stores: what each is for, ``"budgets"`` or ``"reports"``, and its file.
        doubt: why they may have been there before; None where nothing says so.
    """

    stores: Mapping[str, Path]
    doubt: str | None

    def __str__(self) -> str:
        return _in_words(self.stores)

    def made(self) -> str:
        """Return in a sentence which of them were made by now; nothing where none was."""
        there = {kind: path for kind, path in self.stores.items() if os.path.isfile(path) and path.stat().st_size}
        return f"Opened {_in_words(there)}." if there else ""


def _in_words(stores: Mapping[str, Path]) -> str:
    return " and ".join(f"a new store of {kind}, {path}" for kind, path in stores.items())


class Job(Protocol):
    """A table to perturb, as a spec describes it: what it promises can be read before any data is."""

    def statement(self) -> Document:
        """Return the privacy statement; it reads no data."""

    def facts(self) -> list[tuple[str, str]]:
        """Return the statement in short, as (title, sentence), for the terminal."""

    def opens(self) -> OpensStores | None:
        """Return the stores about people that a run would make; None where it would make none."""

    def attack(self, published: Path) -> list[str]:
        """Return, for the curator only, what an attacker makes of a file that the spec wrote; it reads private data.

        Args:
            published: the file.

        Raises:
            SpecError: the spec names no attacker, or none is known for its kind.
        """

    def run(self, out: Path, progress: Progress, *, new: bool = False) -> Written:
        """Perturb the table and write it, whole or not at all.

        Args:
            out: the file to write.
            progress: called with a stage and, where it is known, the share of it that is done.
            new: whether stores about people may be made where there are none.
        """


def read_job(path: str | os.PathLike[str]) -> Job:
    """Read and check a spec file with a section ``[perturb]``.

    Raises:
        SpecError: it is missing, is not TOML, or a key or value is not as described.
    """
    given, folder = read_toml(path)
    return check_job(given, folder=folder)


def check_job(given: Mapping[str, Any], *, folder: str | os.PathLike[str] = ".") -> Job:
    """Check a spec given as nested dicts, as TOML reads it.

    Raises:
        SpecError: a key or value is not as described; the message names the first such key.
    """
    section = given.get("perturb")
    kinds = " or ".join(f'"{kind}"' for kind in KINDS)
    if not isinstance(section, Mapping) or "kind" not in section:
        raise SpecError("[perturb] kind is missing", "it says what is perturbed", f"Add kind = {kinds}")
    if unknown := set(section) - {"kind"}:
        raise SpecError(f"[perturb] {min(unknown)}", "this key is not known", "Its only key is kind")
    if not isinstance(section["kind"], str) or section["kind"] not in KINDS:
        raise SpecError("[perturb] kind", "there is no such kind", f"Write kind = {kinds}")
    data = given.get("data")
    if isinstance(data, Mapping) and is_address(data.get("table")):
        raise SpecError(
            "[data] table is the address of a database",
            "it is read by `leeward release` alone, where counts leave it and no row does",
            "Write the rows to a file, such as .parquet or .csv, and name that",
        )
    if isinstance(data, Mapping) and "://" in str(data.get("table")):
        raise SpecError(
            f"[data] table = {echo(data['table'])}",
            "only files on this machine are perturbed: by their stamps it is seen whether they change meanwhile",
            "Copy it here, or name it by its path where it is mounted; or give, in Python, what your own Spark reads there"
            " to perturb_in_spark",
        )
    if isinstance(data, Mapping) and section["kind"] == "series" and "engine" in data:
        raise SpecError(
            '[data] engine beside kind = "series"',
            "noise on readings is drawn for a meter and a window at once, and Spark may read their rows apart",
            "Leave it out: this machine does it. Or write some meters to a file each, and perturb these one after another",
        )
    module = importlib.import_module(KINDS[section["kind"]])
    rest = {key: value for key, value in given.items() if key != "perturb"}
    job: Job = module.read(rest, resolve(folder))
    return job
