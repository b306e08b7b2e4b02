"""Reading a report: what a parser finds in it, and what a browser makes of it."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

FLAGS = [
    *["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"],
    *["--disable-background-networking", "--disable-component-update", "--host-resolver-rules=MAP * ~NOTFOUND"],
    *["--enable-logging=stderr", "--virtual-time-budget=8000", "--window-size=1280,2000"],
]
"""Headless, and with no name that resolves: nothing here can reach a network."""


@dataclass
class Element:
    """An element with its attributes and the text directly in it."""

    tag: str
    attributes: dict[str, str]
    text: str = ""


@dataclass
class Page(HTMLParser):
    """All elements of a page, in order."""

    source: str
    elements: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self._open: list[Element] = []
        self.feed(self.source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {key: value or "" for key, value in attrs})
        self.elements.append(element)
        if tag not in {"meta", "input", "img", "link", "br", "base"}:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop().tag != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self._open:
            self._open[-1].text += data

    def all(self, tag: str) -> list[Element]:
        """Return the elements of a tag."""
        return [element for element in self.elements if element.tag == tag]

    def by_id(self, name: str) -> Element:
        """Return the only element with an id."""
        (found,) = [element for element in self.elements if element.attributes.get("id") == name]
        return found

    def text(self) -> str:
        """Return what a reader sees: all text but that of scripts and styles."""
        return " ".join(
            " ".join(element.text for element in self.elements if element.tag not in {"script", "style"}).split()
        )

    def data(self, name: str) -> Any:
        """Return the JSON of a script element."""
        return json.loads(self.by_id(name).text)


@dataclass(frozen=True)
class Visit:
    """What a browser made of a page: its document after scripts ran, what it said, what the page asked of the network."""

    page: Page
    console: list[str]
    requests: list[str]


def visit(path: Path, scratch: Path) -> Visit:
    """Open a local page in headless Chromium. Fails, never skips, where there is none."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert browser, "Chromium is needed to see that reports work: apt-get install chromium"
    scratch.mkdir()
    log = scratch / "net.json"
    done = subprocess.run(
        [
            browser,
            *FLAGS,
            f"--user-data-dir={scratch / 'profile'}",
            f"--log-net-log={log}",
            "--dump-dom",
            path.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    events = json.loads(log.read_text())["events"]
    # What the browser asks for itself (updates, the time) has no page behind it; what a page asks for has its origin.
    found = [
        event["params"]
        for event in events
        if event.get("params", {}).get("initiator", "not an origin") != "not an origin"
    ]
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return Visit(Page(done.stdout), console, sorted({params["url"] for params in found}))
