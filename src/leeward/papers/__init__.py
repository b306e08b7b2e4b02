"""The sources' figures, tables and worked numbers, recomputed, beside what was printed."""

from leeward.papers.household import household_power as household_power
