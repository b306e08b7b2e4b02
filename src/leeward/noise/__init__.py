# SPDX-License-Identifier: Apache-2.0
"""Exact noise: bits, coins of exact probability, and noise laws with their exact pmf beside the sampler.

No floating-point number decides anything here. A base layer: it knows exact reals and errors, and nothing of
data, notions or budgets.

Names are listed in ``__init__.pyi`` and loaded when first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
