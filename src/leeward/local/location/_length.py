# SPDX-License-Identifier: Apache-2.0
"""Exact lengths: "200 m", "1/2 km", in metres."""

from __future__ import annotations

import re

from leeward._plain import echo
from leeward.errors import InputError
from leeward.exact._real import Exact, Real, exact, positive

_METRES = {"m": 1, "km": 1000}
_FARTHEST = 10**9
"""Metres: more than any way on the Earth. A billionth of a metre is less than any position is known to."""


def metres(value: str | Exact, name: str) -> Real:
    """Read a length above 0 and return it in metres; a number without a unit is refused."""
    written = re.fullmatch(r"\s*(\S+?)\s*(k?m)\s*", value) if isinstance(value, str) else None
    if written is None:
        raise InputError(
            f"{name} = {echo(value)}", "it is not a length", f'Write a number and m or km: {name} = "200 m"'
        )
    length = positive(exact(written[1]), name) * _METRES[written[2]]
    if length.is_infinite:
        raise InputError(f"{name} = {echo(value)}", "it is not finite", f'Write {name} = "200 m"')
    return length


def on_earth(value: str | Exact, name: str) -> Real:
    """Read a length in metres, of those that floats of a promise about positions hold and that a map may have."""
    length = metres(value, name)
    if not 1 <= length * _FARTHEST <= _FARTHEST**2:
        raise InputError(
            f"{name} = {echo(value)}",
            "lengths on the Earth are below a million km, and not so small that no position is known to them",
            f'Write {name} = "200 m"',
        )
    return length


def off(distance: float) -> str:
    """Write how far off something is, in whole metres; only what is not off at all is 0 m off."""
    return "under 1" if 0 < distance < 1 else f"{distance:,.0f}"


def round_below(limit: float) -> str:
    """Return the largest of 1, 2 and 5 times a power of ten that is at most ``limit``, as an exact decimal."""
    digits, power = f"{limit:.12e}".split("e")
    digit = next(d for d in (5, 2, 1) if d <= float(digits))
    shift = int(power)
    return f"{digit}{'0' * shift}" if shift >= 0 else f"0.{'0' * (-shift - 1)}{digit}"
