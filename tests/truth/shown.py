"""What is shown, as lists of texts: the blocks of a page, and the lines of a terminal."""

from __future__ import annotations

import re
from html.parser import HTMLParser

BLOCKS = {
    "p",
    "li",
    "h1",
    "h2",
    "h3",
    "dd",
    "dt",
    "figcaption",
    "th",
    "summary",
    "label",
    "option",
    "title",
    "strong",
    "output",
    "button",
}
UNREAD = {"script", "style", "pre"}


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self._open: list[tuple[str, list[str]]] = []
        self._unread = 0
        self._table = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        self._unread += tag in UNREAD
        if tag == "table":
            self._table = told.get("class") or told.get("id") or ""
        if told.get("aria-label"):
            self.found.append(str(told["aria-label"]))
        if tag in BLOCKS and not (tag == "strong" and self._open):
            self._open.append((tag, []))

    def handle_endtag(self, tag: str) -> None:
        self._unread -= tag in UNREAD
        if self._open and self._open[-1][0] == tag:
            text = re.sub(r"\s+", " ", "".join(self._open.pop()[1])).strip()
            if text and not (tag == "th" and self._table == "table"):
                self.found.append(f"{tag}: {text}" if tag in {"dt", "dd"} else text)

    def handle_data(self, data: str) -> None:
        if self._open and not self._unread:
            self._open[-1][1].append(data)


def page(html: str) -> list[str]:
    """Return the texts of a page block by block; a term and its value are one text, ``term: value``."""
    read = _Page()
    read.feed(html)
    found: list[str] = []
    term = ""
    for text in read.found:
        if text.startswith("dt: "):
            term = text[4:] or term
        elif text.startswith("dd: "):
            found.append(f"{term}: {text[4:]}")
        else:
            found.append(text)
    return list(dict.fromkeys(found))


def terminal(text: str) -> list[str]:
    """Return the rows of a table on a terminal, their wrapped lines joined: ``term: value``."""
    found: list[str] = []
    for line in text.splitlines():
        if not line.strip():
            continue
        if line.startswith("  ") and found:
            found[-1] += " " + line.strip()
        else:
            found.append(line.rstrip())
    return [re.sub(r"\s{2,}", ": ", line, count=1) if re.match(r"\S.*?\s{2,}\S", line) else line for line in found]
