# SPDX-License-Identifier: Apache-2.0
"""Leeward: differential privacy whose neighbouring relation has a direction and a distance.

Say which side of a secret is protected, and how far; publish answers in which an error on one side is impossible, or in
which closeness is what counts. ``import leeward as lw``; the README has a five-minute tour.

The public names are listed in ``__init__.pyi`` and loaded when first used, so that importing the package costs nothing.
"""

import lazy_loader

from leeward.version import __version__ as __version__

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
