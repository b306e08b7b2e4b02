# SPDX-License-Identifier: Apache-2.0
"""What the privacy statement of every perturbed table says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from leeward._document import Part


def order_stays(value: str) -> str:
    """Return what no promise covers wherever rows are published in the order that they had."""
    return (
        f"The order of rows, which stays: where many are sorted by {value}, it tells each {value} more closely than the"
        " noisy one does"
    )


class Perturbation(Part):
    """What every statement of a perturbed table says.

    Attributes:
        format: 1.
        leeward: the version that made it.
        created: on which day, in UTC.
        unit: whom, or what, the promise is about.
        post_processing: what is done with noisy values.
        assumptions: what is taken for granted.
        theorems: what the promise rests on.
        not_guaranteed: what is not promised.
        fit_for_release: whether the noise was drawn from a cryptographic stream.
        columns_as_they_are: the columns that were passed on unchanged; None before a table was read.
        files: what was written, with SHA-256 digests; None before that.
    """

    format: Literal[1]
    leeward: str
    created: str
    unit: str
    post_processing: tuple[str, ...]
    assumptions: tuple[str, ...]
    theorems: tuple[str, ...]
    not_guaranteed: tuple[str, ...]
    fit_for_release: bool
    columns_as_they_are: tuple[str, ...] | None
    files: Mapping[str, str] | None
