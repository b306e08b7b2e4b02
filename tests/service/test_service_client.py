"""The client of one file, against a service that listens: it asks, is refused, and keeps its token to itself."""

from __future__ import annotations

import ast
import http.server
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.service.conftest import SAFE, Stand, with_, write_tables

from leeward.service import client as module
from leeward.service.client import Client, RefusedError
from leeward.spec._draft import written


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def started(folder: Path, port: int) -> subprocess.Popen[str]:
    """Start a service as a process of its own, and wait until it listens."""
    words = [sys.executable, "-m", "leeward", "serve", str(folder / "service.toml"), "--port", str(port), "--yes"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for _ in range(1200):
        with socket.socket() as trial:
            if trial.connect_ex(("127.0.0.1", port)) == 0:
                return process
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.05)
    process.kill()
    raise AssertionError(f"it did not begin to listen: {process.communicate()[0]}")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Stand, str]]:
    """A service that listens, and its address."""
    folder = tmp_path_factory.mktemp("served")
    write_tables(folder)
    stand, port = Stand(folder), free_port()
    stand.token("ann", town="2", people="2")
    process = started(folder, port)
    try:
        yield stand, f"http://127.0.0.1:{port}"
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=60)
        assert process.returncode == 0, out
        assert "The service is ended." in out
        assert stand.tokens["ann"] not in out
    finally:
        process.kill()
        process.communicate()


def test_it_asks_and_is_refused(service: tuple[Stand, str], tmp_path: Path) -> None:
    stand, url = service
    client = Client(url, stand.tokens["ann"])
    assert stand.tokens["ann"] not in repr(client)
    (tmp_path / "question.toml").write_text(written({"data": {"visits": "not sent"}, **SAFE}), "utf-8")
    assert client.plan("town", tmp_path / "question.toml")["price"] == "1"
    first = client.release("town", tmp_path / "question.toml")
    assert first["charged"] == "1"
    assert client.release("town", SAFE)["answers"] == first["answers"]
    assert [one["entry"] for one in client.releases()] == [first["statement"]["entry"]]
    assert [one["name"] for one in client.data_sets()] == ["town", "people"]
    with pytest.raises(RefusedError, match="if_more is missing") as refused:
        client.release("town", with_(SAFE, "protect", if_more=None))
    assert (refused.value.status, refused.value.code) == (422, "spec")
    with pytest.raises(RefusedError) as unknown:
        Client(url, "leeward_wrong").data_sets()
    assert (unknown.value.status, unknown.value.code) == (401, "token")


def test_nothing_that_is_asked_is_left_out_in_silence(service: tuple[Stand, str]) -> None:
    """What the client did not know it did not send: the answer was about all rows, or another question."""
    stand, url = service
    client = Client(url, stand.tokens["ann"])
    with pytest.raises(ValueError, match=r"keep at its top, not in \[data\]"):
        client.plan("town", {"data": {"keep": {"venue": ["a"]}}, **SAFE})
    with pytest.raises(RefusedError, match=r"\[windwo\]"):
        client.plan("town", {"windwo" if name == "window" else name: keys for name, keys in SAFE.items()})


def test_it_sends_its_token_to_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """A redirection is not followed, a proxy of the environment is not used, and plain HTTP leaves no machine."""
    seen = list[str]()

    class Elsewhere(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.path)
            self.send_response(302)
            self.send_header("Location", f"http://127.0.0.1:{port}/stolen")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Elsewhere)
    port = server.server_address[1]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    try:
        with pytest.raises(RefusedError, match="302"):
            Client(f"http://127.0.0.1:{port}", "token").data_sets()
    finally:
        server.shutdown()
        server.server_close()
    assert seen == ["/data-sets"]
    for url in (
        "http://data.example.org",
        "http://data",
        "ftp://data.example.org",
        "data.example.org",
        "https://a.org/path",
    ):
        with pytest.raises(ValueError, match="https"):
            Client(url, "token")


@pytest.mark.parametrize("sent", ["{}\r\nX: y", "{}\u00e9", "{}\x00", "", " \n"])
def test_a_token_that_cannot_be_sent_is_refused_without_being_told(sent: str) -> None:
    with pytest.raises(ValueError, match="The token is one line") as refused:
        Client("https://data.example.org", sent.format("leeward_secret"))
    assert "secret" not in repr(refused.value)
    assert refused.value.__cause__ is None


def test_the_end_of_the_line_that_a_token_was_read_from_is_not_sent(service: tuple[Stand, str]) -> None:
    stand, url = service
    assert Client(url, stand.tokens["ann"] + "\n").data_sets()
    assert Client(url, f" \t{stand.tokens['ann']}").data_sets()


def test_what_would_say_next_to_nothing_is_asked_where_that_is_meant(service: tuple[Stand, str]) -> None:
    stand, url = service
    client, asked = Client(url, stand.tokens["ann"]), with_(SAFE, "protect", epsilon="1/100")
    for ask in (client.plan, client.release):
        with pytest.raises(RefusedError, match="useful_from"):
            ask("town", asked)
        assert ask("town", asked, accept_useless=True)["statement"]["price"] == "1/100"


def test_it_is_one_file_that_needs_nothing() -> None:
    tree = ast.parse(Path(module.__file__).read_text("utf-8"))
    named = [
        *(alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names),
        *(node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)),
    ]
    assert {name.partition(".")[0] for name in named} <= sys.stdlib_module_names


@pytest.mark.sweep
def test_a_service_that_is_killed_goes_on_under_its_charge(tmp_path: Path) -> None:
    """Killed while a question is at work: its charge stays, the same question goes on, and nothing is charged twice."""
    write_tables(tmp_path)
    rows = "".join(f"q{i},a,2026-01-01T18:30:00\n" for i in range(400_000))
    with (tmp_path / "visits.csv").open("a") as file:
        file.write(rows)
    stand, port = Stand(tmp_path), free_port()
    token = stand.token("ann", town="2")
    process = started(tmp_path, port)
    asking = threading.Thread(target=_ask, args=(f"http://127.0.0.1:{port}", token))
    asking.start()
    time.sleep(0.4)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    asking.join()
    again = started(tmp_path, port)
    try:
        client = Client(f"http://127.0.0.1:{port}", token)
        answer = client.release("town", SAFE)
        assert answer["yours"] == {"cap": "2", "spent": "1", "left": "1"}
        assert [one["cost"] for one in client.releases()] == ["1"]
    finally:
        again.kill()
        again.communicate()


def test_it_ends_in_peace(tmp_path: Path) -> None:
    """What the libraries hold on to is let go before Python ends, so they complain of nothing on the terminal."""
    write_tables(tmp_path)
    stand, port = Stand(tmp_path), free_port()
    token = stand.token("ann", town="2")
    process = started(tmp_path, port)
    try:
        # until it answers, a service that a shell started in the background ignores Ctrl-C
        Client(f"http://127.0.0.1:{port}", token).releases()
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 0
    assert said.splitlines()[-1].startswith("The service is ended.")


def _ask(url: str, token: str) -> None:
    with pytest.raises(Exception):  # noqa: B017, PT011 - however a connection breaks
        Client(url, token).release("town", SAFE)
