# SPDX-License-Identifier: Apache-2.0
"""``leeward`` and ``python -m leeward``: the command."""

import gc
import os
import sys


def main() -> None:
    """Run the command; the entry point of the installed script. Ctrl-C while it is being loaded ends it in one line, too."""
    # what a command loads stays until it ends: to look for cycles among it takes a tenth of a short release
    gc.set_threshold(1_000_000)
    # plugins of pydantic, which a user may have for other work, would see each value that is read
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    try:
        from leeward.cli import main as run
    except KeyboardInterrupt:
        sys.stderr.write("leeward: interrupted; nothing was done\n")
        sys.exit(130)
    try:
        run()
    finally:
        gc.disable()  # its end looks among what is left of the modules, and need not look among all of them before


if __name__ == "__main__":
    main()
