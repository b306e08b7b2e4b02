# SPDX-License-Identifier: Apache-2.0
"""Libraries that a plain install leaves out: where one is needed and missing, the message holds the command for it."""

from __future__ import annotations

import importlib
from typing import Any, Final

from leeward.errors import InputError

REQUIREMENTS: Final = {
    "h3": "h3>=4.1",
    "shapely": "shapely>=2.0",
    "geopandas": "geopandas>=1.0",
    "psycopg": "psycopg[binary]>=3.2",
    "pandas": "pandas>=2.2",
    "polars": "polars>=1.0",
    "pyspark": "pyspark>=4.0,<4.1",
    "fastapi": "fastapi>=0.120",
    "uvicorn": "uvicorn>=0.35",
    "scipy": "scipy>=1.13",
    "dp_accounting": "dp-accounting>=0.5",
}
"""The optional libraries, each as pip is asked for it, in the extras ``geo``, ``postgres`` (``psycopg``), ``frames``,
``spark``, ``desk`` (``fastapi`` and ``uvicorn``) and ``analysis`` (``scipy`` and ``dp_accounting``)."""


class NotInstalledError(InputError):
    """A library that a plain install leaves out is needed; the message holds the command that installs it."""


def optional(module: str, what: str) -> Any:
    """Return a module of an optional library.

    Args:
        module: its name, such as ``h3.api.basic_str``.
        what: what it is needed for, as the first words of the message.

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
        f'Install it: pip install "{REQUIREMENTS[library]}"',
    )
