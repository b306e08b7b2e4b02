# SPDX-License-Identifier: Apache-2.0
"""A fence named ``math`` holds a formula in TeX and becomes MathML when the site is built; browsers set it by themselves."""

from __future__ import annotations

from typing import Any

from latex2mathml.converter import convert


def on_config(config: Any) -> Any:
    """Add the fence to those of the site."""
    fences = config.mdx_configs.setdefault("pymdownx.superfences", {}).setdefault("custom_fences", [])
    fences.append({"name": "math", "class": "math", "format": formula})
    return config


def formula(source: str, *_: Any, **__: Any) -> str:
    """Return the formula as MathML, on lines of its own, in a box that a keyboard can scroll."""
    return f'<div class="math" tabindex="0" role="group" aria-label="formula">{convert(source, display="block")}</div>'
