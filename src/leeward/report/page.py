"""What the pages share: one self-contained file, with a policy that forbids every request and names every script."""

from __future__ import annotations

import base64
import functools
import hashlib
from pathlib import Path

import jinja2
from markupsafe import Markup

from leeward.report import words
from leeward.utility.plan_words import short


def asset(name: str) -> str:
    """Return a file of the folder ``assets``."""
    return (Path(__file__).parent / "assets" / name).read_text(encoding="utf-8")


def template(name: str) -> jinja2.Template:
    """Return a template of the folder ``assets``; what is put into it is escaped."""
    return _environment().get_template(name)


@functools.cache  # a template is compiled once, which takes longer than to fill it
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "assets"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["grouped"] = lambda number: f"{number:,}"
    environment.filters["sentence"] = words.sentence
    environment.filters["short"] = short
    return environment


def digest(script: str) -> str:
    """Return the digest of a script, by which the policy allows it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def embedded(text: str) -> Markup:
    """Make JSON safe inside a script element: only its strings can hold these characters."""
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))
