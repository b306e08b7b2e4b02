# SPDX-License-Identifier: Apache-2.0
"""DuckDB functions that Ibis has no name for, as Ibis functions."""

from __future__ import annotations

from typing import Any

import ibis


def _one(value: Any) -> None: ...
def _two(first: Any, second: Any) -> None: ...
def _three(first: Any, second: Any, third: Any) -> None: ...


def _function(name: str, shape: Any, arity: int, result: str = "int64") -> Any:
    """The function of that name, for arguments of any type, with results declared as 64-bit integers or as said."""
    return ibis.udf.scalar.builtin(shape, name=name, signature=((None,) * arity, result))


#: Microseconds since 1970 of a date or time.
epoch_us = _function("epoch_us", _one, 1)

#: Nanoseconds since 1970 of a time.
epoch_ns = _function("epoch_ns", _one, 1)

#: The whole part of a quotient of integers, exactly; Ibis's own goes through floats.
whole_quotient = _function("divide", _two, 2)

#: The H3 cell of a latitude and a longitude, of a resolution; the connection must have it registered.
leeward_h3 = _function("leeward_h3", _three, 3)

#: The decimal of fewest digits that is a float of 32 bits, as text; DuckDB has it from `leeward.engine._sql.DECIMAL`.
leeward_decimal = _function("leeward_decimal", _one, 1, "string")

#: How many bytes of UTF-8 a text has.
strlen = _function("strlen", _one, 1)
