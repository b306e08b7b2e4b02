# SPDX-License-Identifier: Apache-2.0
"""The sources' figures, tables and worked numbers, recomputed, beside what was printed.

Names are listed in ``__init__.pyi`` and loaded when first used: they need libraries that a plain install leaves out.
"""

import lazy_loader

from leeward._optional import optional

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    for library in ("dp_accounting", "pandas", "scipy"):
        optional(library, "The papers, recomputed", "analysis,frames")
    return _load(name)
