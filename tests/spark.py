"""The Spark of a run: started by the first test that asks, in the process that runs it, and shared by all after it."""

from __future__ import annotations

import functools
from typing import Any

from leeward._spark import _started

_SMALL = {
    "master": "local[2, 4]",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}
"""For tables of a few rows, for which compiling a query takes longer than running it. A task that dies is tried again."""


@functools.cache
def spark() -> Any:
    """A session of it, as a caller may have one: its clocks are in another zone."""
    session = _started(_SMALL)
    session.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    return session
