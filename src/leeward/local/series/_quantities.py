# SPDX-License-Identifier: Apache-2.0
"""Exact amounts with their units: "10 W", "0.5 kWh"; and lengths of time: "1 min"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final

from leeward._plain import echo, own_decimals
from leeward.errors import InputError
from leeward.exact._real import exact

UNITS: Final[Mapping[str, tuple[str, Fraction]]] = {
    "W": ("power", Fraction(1)),
    "kW": ("power", Fraction(1000)),
    "MW": ("power", Fraction(10**6)),
    "Wh": ("energy", Fraction(1)),
    "kWh": ("energy", Fraction(1000)),
    "MWh": ("energy", Fraction(10**6)),
    "A": ("current", Fraction(1)),
    "V": ("voltage", Fraction(1)),
    "L": ("volume", Fraction(1)),
    "l": ("volume", Fraction(1)),
    "m3": ("volume", Fraction(1000)),
}
"""Units of readings that are known: what they measure, and how many of the first of its kind each is.

Any other word is a unit too ("bpm", "mg/dl"), and goes with itself alone."""

_WORD: Final = r"[^\W\d_][^\s\"'\\,;]*|[%°‰][^\s\d\"'\\,;]*"

_SECONDS: Final = {"s": 1, "min": 60, "h": 3600, "d": 86_400}


@dataclass(frozen=True)
class Quantity:
    """An amount: an exact rational in the unit it was written in."""

    number: Fraction
    unit: str

    @property
    def measures(self) -> str:
        """What it is an amount of: power, energy and so on."""
        return _kind(self.unit)[0]

    def into(self, unit: str) -> Fraction:
        """Return the number in another unit of the same kind."""
        kind, size = _kind(check_unit(unit, "unit"))
        if kind != self.measures:
            raise InputError(
                f"{self} beside readings in {unit}",
                f"{self.unit} measures {self.measures}, and {unit} {kind}",
                f"Give an amount of {kind}: one in {', '.join(u for u, (k, _) in UNITS.items() if k == kind) or unit}",
            )
        return self.number * _kind(self.unit)[1] / size

    def __str__(self) -> str:
        return f"{plain(self.number)} {self.unit}"


def in_digits(number: float) -> str:
    """Return a number in four digits, and large ones without an exponent: ``20,750``."""
    return f"{float(f'{number:.4g}'):,.15g}"


@own_decimals()
def plain(number: Fraction) -> str:
    """Return a rational as a decimal where it is one, else as a fraction."""
    rest = number.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return str(number) if rest > 1 else f"{Decimal(number.numerator) / number.denominator:f}"


def _kind(unit: str) -> tuple[str, Fraction]:
    """What a unit measures, and its size: of one that is not known, itself."""
    return UNITS.get(unit) or (f"what is counted in {unit}", Fraction(1))


def check_unit(unit: str, name: str) -> str:
    """Return a unit: one that is known, or any other word that is not nearly one."""
    if not isinstance(unit, str) or not re.fullmatch(_WORD, unit):
        raise InputError(f"{name} = {echo(unit)}", "it is not a unit", 'Write one word, such as "kW", "bpm" or "mg/dl"')
    near = [known for known in UNITS if known.casefold() == unit.casefold()]
    if near and unit not in UNITS:
        raise InputError(
            f"{name} = {echo(unit)}",
            f"units are written with their capitals, and {near[0]} is known",
            f'Write "{near[0]}" if it is meant; or another word',
        )
    return unit


def quantity(value: str, name: str) -> Quantity:
    """Read an amount such as ``"10 W"``; a number without a unit is refused."""
    written = re.fullmatch(rf"\s*([^\s%°‰]+?)\s*({_WORD})\s*", value) if isinstance(value, str) else None
    if written is None:
        raise InputError(
            f"{name} = {echo(value)}", "it is not an amount", f'Write a number and a unit: {name} = "10 W"'
        )
    number = exact(written[1]).rational
    if number is None:
        raise InputError(f"{name} = {echo(value)}", "it is not a finite rational amount", f'Write {name} = "10 W"')
    return Quantity(number, check_unit(written[2], name))


def positive_quantity(value: str, name: str) -> Quantity:
    """Read an amount above 0."""
    amount = quantity(value, name)
    if amount.number <= 0:
        raise InputError(f"{name} = {echo(value)}", "it must be above 0", f'Write {name} = "10 W"')
    return amount


def microseconds(value: str, name: str) -> int:
    """Read a length of time such as ``"10 s"``, ``"1 min"``, ``"1/2 h"``, ``"1 d"`` as whole microseconds."""
    written = re.fullmatch(r"\s*(\S+?)\s*(s|min|h|d)\s*", value) if isinstance(value, str) else None
    number = None if written is None else exact(written[1]).rational
    if written is None or number is None or number <= 0:
        raise InputError(f"{name} = {echo(value)}", "it is not a length of time", f'Write it like {name} = "15 min"')
    length = number * _SECONDS[written[2]] * 10**6
    if length.denominator != 1:
        raise InputError(f"{name} = {echo(value)}", "it is not a whole number of microseconds", "Take a longer time")
    return int(length)
