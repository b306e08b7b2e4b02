# SPDX-License-Identifier: Apache-2.0
"""The one public data set that comes with Leeward: a house's electric power, minute by minute."""

from importlib.resources import files

import pandas as pd
import pyarrow.parquet as pq

CREDIT = "UCI Machine Learning Repository, doi 10.24432/C58K54, Hebrail and Berard (CC BY 4.0)"


def household_power() -> pd.DataFrame:
    """The power drawn by one house near Paris: 37,283 readings of a minute each, 16 December 2006 to 11 January 2007.

    Columns: ``datetime`` (local time, to the second) and ``watts`` (whole numbers). Two gaps of three minutes. The data are
    of the UCI Machine Learning Repository (Individual Household Electric Power Consumption, doi 10.24432/C58K54, Georges
    Hebrail and Alice Berard), under CC BY 4.0; we keep the first 26 days of one column, in watts instead of kilowatts.
    """
    with files("leeward.papers").joinpath("data/household_power.parquet").open("rb") as file:
        table: pd.DataFrame = pq.read_table(file).to_pandas()
    return table
