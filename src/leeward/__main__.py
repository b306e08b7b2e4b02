# SPDX-License-Identifier: Apache-2.0
"""``python -m leeward``: the command."""

from leeward.cli import main

main()
