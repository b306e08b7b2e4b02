"""Plugins of pydantic that a user has for other work see nothing of what the command reads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SPY = """
from pathlib import Path

class Plugin:
    def new_schema_validator(self, *asked):
        Path("seen").touch()
        return None, None, None

plugin = Plugin()
"""
SPEC = '[data]\ntable = "people.csv"\nperson = "who"\n[query]\nkind = "mean"\n'
MODEL = "from leeward._document import Part\nclass A(Part):\n    x: int\nA(x=1)"


def test_the_command_asks_no_plugin(tmp_path: Path) -> None:
    (tmp_path / "spy.py").write_text(SPY)
    about = tmp_path / "spy-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: spy\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[pydantic]\nspy = spy:plugin\n")
    (tmp_path / "spec.toml").write_text(SPEC)

    def run(*words: str) -> tuple[int, bool]:
        (tmp_path / "seen").unlink(missing_ok=True)
        beside = os.environ | {"PYTHONPATH": str(tmp_path)}
        ended = subprocess.run(
            [sys.executable, *words], cwd=tmp_path, env=beside, capture_output=True, text=True, check=False
        )
        return ended.returncode, (tmp_path / "seen").exists()

    assert run("-m", "leeward", "plan", "spec.toml") == (2, False)
    assert run("-c", MODEL) == (0, True)  # or it is no plugin
