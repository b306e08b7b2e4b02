# SPDX-License-Identifier: Apache-2.0
"""The bundled census: real people's answers, long public, to try statistics of numbers on.

From the data set *Adult* (Barry Becker and Ronny Kohavi, 1996) of the UCI Machine Learning Repository,
doi 10.24432/C5XW20, licensed under CC BY 4.0. It was extracted from the census of the United States of 1994. We keep five
columns of its training part and all its rows in their order, and store whole numbers in 16 bits.
"""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from leeward._taught import taught
from leeward.errors import InputError

CREDIT = "UCI Machine Learning Repository, doi 10.24432/C5XW20 (CC BY 4.0)"
"""Whom to name where the census, or anything made from it, is shown."""

EDUCATION = (
    *("Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad", "Some-college"),
    *("Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate"),
)
"""The public levels of education, from the least to the most."""


def census() -> pa.Table:
    """Return 32,561 people: ``age`` and ``hours`` (a week), whole numbers; ``education``, ``sex`` and ``income``, texts.

    ``income`` is ``<=50K`` or ``>50K``. One row a person; nothing is missing.
    """
    with files("leeward.demo").joinpath("adult.parquet").open("rb") as file:
        return pq.read_table(file)


@taught
def write_census(path: str | os.PathLike[str]) -> Path:
    """Write the census as a Parquet file and return its path.

    Raises:
        InputError: there is another file already, or it cannot be written.
    """
    written, whole = Path(path), files("leeward.demo").joinpath("adult.parquet").read_bytes()
    try:
        with written.open("xb") as file:
            file.write(whole)
    except FileExistsError:
        if not os.path.isfile(written) or written.read_bytes() != whole:
            raise InputError(f"'{written}'", "another file is there", "Move it away, or name another one") from None
    except OSError as error:
        raise InputError(f"'{written}' cannot be written", str(error.strerror), "Name another place") from None
    return written
