"""All mutants, room by room: the files of `tests.mutants.rooms` hold one list each."""

from __future__ import annotations

import importlib
import pkgutil

from tests.mutants import rooms
from tests.mutants.mutant import Mutant

MUTANTS: list[Mutant] = [
    mutant
    for found in sorted(pkgutil.iter_modules(rooms.__path__), key=lambda found: found.name)
    for mutant in importlib.import_module(f"{rooms.__name__}.{found.name}").MUTANTS
]
