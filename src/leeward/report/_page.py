# SPDX-License-Identifier: Apache-2.0
"""What the pages share: one self-contained file, with a policy that forbids every request and names every script."""

from __future__ import annotations

import base64
import functools
import hashlib
import re
from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from leeward.planner._people import a, at_most_people, there
from leeward.planner._words import epsilon, short
from leeward.report import _words as words


def asset(name: str) -> str:
    """Return a file of the folder ``assets``."""
    return (Path(__file__).parent / "assets" / name).read_text(encoding="utf-8")


def template(name: str) -> jinja2.Template:
    """Return a template of the folder ``assets``; see `environment`."""
    return environment().get_template(name)


@functools.cache  # a template is compiled once, which takes longer than to fill it
def environment() -> jinja2.Environment:
    """Return where templates are filled: what is put into them is escaped."""
    made = jinja2.Environment(
        finalize=lambda value: unturned(value) if type(value) is str else value,
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "assets"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["at_most_people"] = at_most_people
    made.filters["a"], made.filters["there"] = a, there
    made.filters["grouped"] = lambda number: f"{number:,}"
    made.filters["sentence"] = words.sentence
    made.filters["not_protected"] = words.not_protected
    made.filters["dated"] = dated
    made.filters["short"] = short
    made.filters["epsilon"] = epsilon
    return made


def dated(text: str) -> Markup:
    """Return a text for a page whose moments do not break at a hyphen."""
    return Markup(_MOMENT.sub(r"<time>\g<0></time>", str(escape(unturned(text)))))


_MOMENT = re.compile(r"\b\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?", re.ASCII)


def digest(script: str) -> str:
    """Return the digest of a script, by which the policy allows it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def unturned(text: str) -> str:
    r"""Return a text whose marks of direction and control characters are written out, as ``\u202e``.

    A name turns no word of the page around, and steers no terminal that the page is printed to.
    """
    return _TURNS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


_TURNS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_TURNS_IN_JSON = re.compile(r"(?<!\\)((?:\\\\)*)\\(u(?:061c|200[ef]|202[a-e]|206[6-9]))", re.IGNORECASE)


def embedded_as_it_is(text: str) -> Markup:
    """Make JSON safe inside a script element for programs that read it: it says the same, mark for mark."""
    return _in_script(_TURNS.sub(lambda found: f"\\u{ord(found[0]):04x}", text))  # an escape of JSON's


def embedded(text: str) -> Markup:
    """Make JSON safe inside a script element, and for being shown: only its strings can hold these characters.

    Marks of direction become what `unturned` makes of them, also those that JSON has escaped already.
    """
    if not (text.isascii() and text.isprintable()):
        text = unturned(text)
    if "\\" in text:
        text = _TURNS_IN_JSON.sub(r"\1\\\\\2", text)
    return _in_script(text)


def _in_script(text: str) -> Markup:
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))
