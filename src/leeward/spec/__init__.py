# SPDX-License-Identifier: Apache-2.0
"""The spec file: a release described in TOML, checked key by key before anything is read.

Sections: ``[data]``, ``[query]`` (or several ``[[query]]``), ``[places]``, ``[window]`` (or ``windows``), ``[protect]``,
``[decide]``, ``[publish]``, ``[budget]``. Paths are relative to the spec file. Unknown keys are refused with the nearest
known one; numbers that a promise depends on are strings, because a TOML float is not the decimal it prints as.

Names are listed in ``__init__.pyi`` and loaded when first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
