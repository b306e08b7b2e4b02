"""A desk and a service end whatever they are asked by and whoever holds a request open, and need nobody who hears them."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from tests.service.conftest import SUM, at_once, write_tables

from leeward._web._loopback import listening, run
from leeward.cli._ending import ended_as_by_an_interrupt
from leeward.desk import _jobs
from leeward.desk import _serve as desk_serve
from leeward.desk._jobs import Jobs
from leeward.service import _serve
from leeward.service._answering import MOST_UNANSWERED
from leeward.service._offers import read_offers

SERVER = """
import asyncio, time
from leeward._web import _loopback
from leeward.cli._ending import ended_as_by_an_interrupt
_loopback._PATIENCE = 1

async def app(scope, receive, send):
    while (await receive()).get("more_body"):
        print("some", flush=True)
    print("whole", flush=True)
    await asyncio.to_thread(time.sleep, 0.5)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})

with ended_as_by_an_interrupt(), _loopback.listening(0) as (listener, authority):
    print(authority, flush=True)
    try:
        _loopback.run(app, listener, "It")
    except KeyboardInterrupt:
        pass
    print("ended", flush=True)
"""


@pytest.fixture(autouse=True)
def interrupted() -> Iterator[None]:
    """Ctrl-C interrupts, as at a terminal: in the background of a shell it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@contextmanager
def _asked(sent: bytes) -> Iterator[tuple[subprocess.Popen[str], socket.socket]]:
    """Start a server, and begin a request; yields when the server is at work on it."""
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    )
    assert server.stdout is not None
    try:
        host, _, port = server.stdout.readline().strip().partition(":")
        with socket.create_connection((host, int(port)), timeout=20) as asked:
            asked.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n" + sent)
            assert server.stdout.readline() == ("whole\n" if len(sent) == 4 else "some\n")
            yield server, asked
    finally:
        server.kill()
        server.wait()


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_what_is_at_work_is_answered_before_a_server_ends(by: signal.Signals) -> None:
    with _asked(b"text") as (server, asked):
        server.send_signal(by)
        assert asked.recv(1000).startswith(b"HTTP/1.1 200"), "an answer that is paid for is shown"
        said = server.communicate(timeout=20)
    assert (server.returncode, said) == (0, ("ended\n", ""))


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_nobody_holds_a_server_by_a_request_that_is_never_whole(by: signal.Signals) -> None:
    with _asked(b"te") as (server, _):
        server.send_signal(by)
        said = server.communicate(timeout=20)
    assert (server.returncode, said) == (0, ("ended\n", "")), "and no traceback is printed, which might hold rows"


class Gone:
    """Who hears what a server tells until it is at work, and is gone then."""

    def __init__(self) -> None:
        self.heard = True

    def __call__(self, _: str) -> None:
        if not self.heard:
            raise OSError(5, "Input/output error")


def test_a_service_that_nobody_hears_refuses_as_any_and_counts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tables(tmp_path)
    at_once(monkeypatch)
    terminal, statuses = Gone(), list[int]()
    offers = read_offers(tmp_path / "service.toml")
    token = offers.tokens.create("ann", {"people": Fraction(2)})

    def run(app: Any, listener: socket.socket, _: str) -> None:
        terminal.heard = False
        (tmp_path / "people.csv").unlink()
        at = f"http://127.0.0.1:{listener.getsockname()[1]}"
        browser = TestClient(app, base_url=at, headers={"authorization": f"Bearer {token}"})
        for i in range(MOST_UNANSWERED + 2):
            spec = {**SUM, "query": {**SUM["query"], "upper": 100 + i}}
            statuses.append(browser.post("/release", json={"data_set": "people", "spec": spec}).status_code)
        terminal.heard = True

    monkeypatch.setattr(_serve, "run", run)
    _serve.serve(offers, tell=terminal)
    assert statuses == [503] * (MOST_UNANSWERED + 2)


def test_work_at_a_desk_that_nobody_hears_ends_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, made, refused = Gone(), list[Jobs](), list[str]()

    class Kept(Jobs):
        def __init__(self, tell: Callable[[str], object]) -> None:
            super().__init__(tell)
            made.append(self)

    def run(*_: object) -> None:
        terminal.heard = False
        job = made[0].start("Some work", "town", lambda _: 1 / 0)
        job.wait(20)
        refused.append(job.refused)
        terminal.heard = True

    monkeypatch.setattr(_jobs, "Jobs", Kept)
    monkeypatch.setattr(desk_serve, "run", run)
    desk_serve.serve(tmp_path, tell=terminal)
    assert refused == ["An unexpected ZeroDivisionError: a defect of Leeward's; please report it."]


@pytest.mark.parametrize("where", ["service", "desk"])
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_end_that_a_library_would_swallow_comes_behind_it(
    where: str, by: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def swallowing(*_: object) -> None:
        with suppress(KeyboardInterrupt):
            signal.raise_signal(by)

    module = _serve if where == "service" else desk_serve
    monkeypatch.setattr(f"leeward.{where}._app.guarded", swallowing)
    monkeypatch.setattr(module, "run", lambda *_: pytest.fail("it goes on for ever"))
    told = list[str]()
    with ended_as_by_an_interrupt():
        if where == "service":
            write_tables(tmp_path)
            _serve.serve(read_offers(tmp_path / "service.toml"), tell=told.append)
        else:
            desk_serve.serve(tmp_path, tell=told.append)
    assert told[-1].startswith(("The service is ended.", "The desk is closed."))


def test_an_end_is_not_swallowed_while_a_server_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    import uvicorn

    def swallowing(_: object) -> None:
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(uvicorn.Config, "load", swallowing)
    monkeypatch.setattr(uvicorn.Server, "run", lambda *_, **__: pytest.fail("it goes on for ever"))
    with listening(0) as (listener, _), pytest.raises(KeyboardInterrupt):
        run(None, listener, "It")
