"""Perturbing a table row by row: locations and series of readings, each as one kind of job.

`leeward.perturb.job` says what a job is and which kinds there are; each kind is one file beside it.
"""

from leeward.perturb.billing import Billing, Settled
from leeward.perturb.job import KINDS, Job, Written, check_job, read_job
from leeward.perturb.series_promise import Option, Series
from leeward.perturb.series_totals import Totals

__all__ = [
    "KINDS",
    "Billing",
    "Job",
    "Option",
    "Series",
    "Settled",
    "Totals",
    "Written",
    "check_job",
    "read_job",
]
