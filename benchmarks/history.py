"""Print a table of results and keep it: one line of JSON a table in ``history.jsonl``, with the machine it was measured on.

A figure means little without the machine and its load. The name is that of the processor, or what the environment variable
``LEEWARD_MACHINE`` says; never the computer's own name, which may say more than its owner wants.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import leeward

HISTORY = Path(__file__).with_name("history.jsonl")


def show(benchmark: str, table: Table, *, history: Path = HISTORY) -> None:
    """Print the table, and add it to the history under the benchmark's name."""
    Console().print(table)
    line = {
        "benchmark": benchmark,
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "version": leeward.__version__,
        "commit": _commit(),
        "machine": machine(),
        "title": str(table.title or ""),
        "columns": [str(column.header) for column in table.columns],
        "rows": [list(row) for row in zip(*(map(str, column.cells) for column in table.columns), strict=True)],
    }
    with history.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line, ensure_ascii=False) + "\n")


def machine() -> dict[str, Any]:
    """Say what the figures were measured on."""
    return {
        "name": os.environ.get("LEEWARD_MACHINE") or _processor(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "system": platform.system(),
        "python": platform.python_version(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _commit() -> str:
    asked = subprocess.run(
        ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False, cwd=HISTORY.parent
    )
    return asked.stdout.strip()
