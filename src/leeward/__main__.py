"""``python -m leeward``: the command."""

from leeward.cli import main

main()
