# SPDX-License-Identifier: Apache-2.0
"""Libraries that a plain install leaves out: where one is needed and missing, the message holds the command for it."""

from __future__ import annotations

import importlib
from typing import Any, Final

from leeward.errors import InputError

EXTRAS: Final = {
    "h3": "geo",
    "shapely": "geo",
    "geopandas": "geo",
    "psycopg": "postgres",
    "pandas": "frames",
    "polars": "frames",
    "pyspark": "spark",
    "fastapi": "desk",
    "uvicorn": "desk",
    "scipy": "analysis",
    "dp_accounting": "analysis",
}
"""The optional libraries, and the extra of Leeward that brings each, with all else that is needed for the same."""


class NotInstalledError(InputError):
    """A library that a plain install leaves out is needed; the message holds the command that installs it."""


def optional(module: str, what: str, extra: str | None = None) -> Any:
    """Return a module of an optional library.

    Args:
        module: its name, such as ``h3.api.basic_str``.
        what: what it is needed for, as the first words of the message.
        extra: the extras that bring all of what that needs, if its own is not enough.

    Raises:
        NotInstalledError: the library is not installed; the message holds the command that installs it.
    """
    library = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != library:
            raise  # the library is there, and lacks one of its own
    raise NotInstalledError(
        what,
        f"it needs the library {library}, which is not installed",
        f'Install all that is needed: pip install "leeward[{extra or EXTRAS[library]}]"',
    )
