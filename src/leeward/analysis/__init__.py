# SPDX-License-Identifier: Apache-2.0
"""What a mechanism is worth and what it gives away, for people who study it: never on the path of a release.

Optimal mechanisms for a prior and a loss, the best remap, bounds on decisions, what an adversary learns, and what
privacy under a distance means in other words.

Names are listed in ``__init__.pyi`` and loaded when first used: a plan needs one of them, and not the rest.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
