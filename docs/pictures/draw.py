"""Draw the pictures of the guide from the formulas they show: ``python docs/pictures/draw.py FOLDER``.

The drawings are kept beside this file; a test draws them again and compares. Plain SVG, so that they open anywhere.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path

INK, PALE, LEE, WIND = "#263238", "#b0bec5", "#00796b", "#c0562b"


def svg(width: int, height: int, title: str, parts: Sequence[str]) -> str:
    """A picture on a white card, with a title for those who cannot see it."""
    arrow = (
        '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0 0L8 4L0 8z" fill="{LEE}"/></marker>'
    )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" font-family="sans-serif"'
    card = f'<rect width="{width}" height="{height}" rx="6" fill="#fff"/>'
    return "\n".join(
        [
            f'{head} font-size="13" fill="{INK}">',
            f"<title>{title}</title><defs>{arrow}</defs>",
            card,
            *parts,
            "</svg>\n",
        ]
    )


def text(x: float, y: float, words: str, *, anchor: str = "middle", colour: str = INK, size: int = 13) -> str:
    """Words at a point."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" font-size="{size}">{words}</text>'


def line(x1: float, y1: float, x2: float, y2: float, *, colour: str = PALE, more: str = "") -> str:
    """A line between two points."""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" {more}/>'


def bar(x: float, base: float, width: float, height: float, colour: str) -> str:
    """A bar standing on a base line."""
    return f'<rect x="{x:.1f}" y="{base - height:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"/>'


def cover() -> str:
    """Who can pass as whom under presence: the visits of one person, at two places."""
    spots = {"at a and b": (110, 120), "at a": (330, 60), "at b": (330, 180), "at neither": (550, 120)}
    fewer = {"at a and b": ["at a", "at b", "at neither"], "at a": ["at neither"], "at b": ["at neither"]}
    steps = [(start, end) for start, ends in fewer.items() for end in ends]
    parts = [text(330, 22, "d(x → x′) = ε along each arrow, ∞ against it", size=14)]
    for start, end in steps:
        (x1, y1), (x2, y2) = spots[start], spots[end]
        parts.append(line(x1 + 62, y1, x2 - 64, y2, colour=LEE, more='stroke-width="2" marker-end="url(#tip)"'))
    for name, (x, y) in spots.items():
        parts += [
            f'<rect x="{x - 60}" y="{y - 18}" width="120" height="36" rx="18" fill="#fff" stroke="{INK}"/>',
            text(x, y + 5, name),
        ]
    parts.append(
        text(
            330,
            224,
            "a truth passes as what is on its right; nobody is passed off as having visited",
        )
    )
    return svg(660, 240, "Arrows from more visits to fewer: visits are protected, their absence is not", parts)


def noise() -> str:
    """The law of the noise at ε = 1: one-sided for a directed line, two-sided for a symmetric one."""
    ratio = math.exp(-1)
    one_sided = {k: (1 - ratio) * ratio**k for k in range(7)}
    two_sided = {k: (1 - ratio) / (1 + ratio) * ratio ** abs(k) for k in range(-6, 7)}
    parts = []
    for left, law, name, colour in [
        (20, one_sided, "rise = ∞, fall = 1: never too low", LEE),
        (345, two_sided, "rise = fall = 1: both sides", WIND),
    ]:
        parts += [text(left + 150, 22, name, size=14), line(left, 170, left + 300, 170, colour=INK)]
        for k in range(-6, 7):
            x = left + 150 + 22 * k
            parts += [bar(x - 8, 170, 16, 200 * law.get(k, 0), colour), text(x, 186, f"{k:+d}" if k else "0", size=11)]
    parts.append(text(330, 210, "published count − true count"))
    return svg(660, 224, "One-sided and two-sided geometric noise at rate 1", parts)


def best_curve(epsilon: float, wrong: float, length: int) -> list[float]:
    """The best Pr[safe] at distance 0, 1, … from unsafe under ε-DP, when it may be `wrong` at distance 0."""
    curve = [wrong]
    while len(curve) <= length:
        last = curve[-1]
        curve.append(min(math.exp(epsilon) * last, 1 - math.exp(-epsilon) * (1 - last), 1))
    return curve


def decision() -> str:
    """Pr[safe | c] for "at most 2" at ε = 1: presence, and the best that ε-DP can do with error 10⁻⁴."""
    top, best = 2, best_curve(1, 1e-4, 3)
    parts = [
        text(330, 22, "Pr[“safe” | true count], “safe” meaning at most 2, ε = 1", size=14),
        line(80, 180, 600, 180, colour=INK),
    ]
    for level in (0.25, 0.5, 0.75, 1):
        parts += [
            line(80, 180 - 140 * level, 600, 180 - 140 * level),
            text(72, 184 - 140 * level, f"{level:g}", anchor="end", size=11),
        ]
    for count in range(6):
        x = 130 + 86 * count
        under = 1 - math.exp(-(top + 1 - count)) if count <= top else 0.0
        dp = best[top + 1 - count] if count <= top else best[0]
        for offset, value, colour in ((-17, under, LEE), (17, dp, WIND)):
            shown = f"{value:.2f}" if value >= 0.005 else f"{value:.4f}" if value else "0"
            parts += [bar(x + offset - 15, 180, 30, 140 * value, colour)]
            parts += [text(x + offset, 175 - 140 * value, shown, colour=colour, size=11)]
        parts.append(text(x, 198, f"{count}"))
    parts += [bar(150, 222, 12, 12, LEE), text(168, 221, "presence: 0 above the threshold, exactly", anchor="start")]
    parts += [bar(420, 222, 12, 12, WIND), text(438, 221, "the best under ε-DP", anchor="start")]
    return svg(660, 236, "The chance that a place is called safe, by its true count", parts)


PICTURES = {"cover.svg": cover, "noise.svg": noise, "decision.svg": decision}

if __name__ == "__main__":
    for name, draw in PICTURES.items():
        Path(sys.argv[1], name).write_text(draw())
