"""The Spark of a run: started when the first test asks, and shared by all workers of the run.

    python tests/spark.py FOLDER RUN SAID

is its guardian: it starts Spark, says where that is spoken to, and ends it when the process of the run is gone. Each worker
speaks to it with sessions of its own. Where there are no workers, it is started by the process of the tests. It is a server
of Spark Connect too.
"""

from __future__ import annotations

import functools
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

if __name__ == "__main__":  # as a script, it is not among the modules that pytest finds
    sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.guarded import said_by, say

from leeward._spark import _started

_SMALL = {
    "master": "local[2, 4]",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.connect.grpc.binding.port": "0",
}
"""For tables of a few rows, for which compiling a query takes longer than running it. A task that dies is tried again."""


@functools.cache
def spark() -> Any:
    """A session of it, as a caller may have one: its clocks are in another zone."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    session = _start() if run is None else _shared(run)
    session.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    return session


@functools.cache
def remote() -> Any:
    """A session of Spark Connect on the same Spark, as a caller may have one."""
    session = session_at(address())
    session.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    return session


def session_at(where: Any) -> Any:
    """A new session of Spark Connect; it ends nothing when it is forgotten, as else all others of this process would."""
    from pyspark.sql.connect.session import SparkSession

    session: Any = SparkSession(where)
    session.client.close = lambda: None
    return session


def address() -> str:
    """Where its server of Spark Connect is."""
    service: Any = spark().sparkContext._jvm.org.apache.spark.sql.connect.service
    return f"sc://127.0.0.1:{getattr(service, 'SparkConnectService$').__getattr__('MODULE$').localPort()}"


def _start() -> Any:
    with mock.patch.dict(os.environ, PYSPARK_PYTHON=sys.executable):  # as what a server's workers run
        return _started(_SMALL)


def _shared(run: str) -> Any:
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    folder = Path(tempfile.gettempdir()) / f"leeward-spark-{run}"
    folder.mkdir(0o700, exist_ok=True)
    where = said_by(__file__, folder, os.getppid())
    with mock.patch.dict(os.environ, PYSPARK_GATEWAY_PORT=where["port"], PYSPARK_GATEWAY_SECRET=where["secret"]):
        gateway = launch_gateway()
    jvm: Any = gateway.jvm
    running = jvm.org.apache.spark.api.java.JavaSparkContext.fromSparkContext(
        jvm.org.apache.spark.SparkContext.getOrCreate()
    )
    context = SparkContext(jsc=running, gateway=gateway, conf=SparkConf(_jvm=jvm, _jconf=running.getConf()))
    context.pythonExec = sys.executable
    return SparkSession(context)


def _guard(folder: Path, run: int, said: Path) -> None:
    os.chdir(Path(__file__).parent.parent)  # its workers find the tests there, wherever the test was that asked first
    spoken = _start().sparkContext._gateway.gateway_parameters
    say(said, {"port": str(spoken.port), "secret": spoken.auth_token}, run)
    for each in (folder, said.parent):
        shutil.rmtree(each, ignore_errors=True)


if __name__ == "__main__":
    _guard(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
