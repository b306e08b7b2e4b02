# SPDX-License-Identifier: Apache-2.0
"""Accounting that knows its direction: what releases cost, each way, and what is left.

Names are listed in ``__init__.pyi`` and loaded when first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
