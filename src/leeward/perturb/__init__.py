"""Perturbing a table row by row: locations and series of readings, each as one kind of job.

`leeward.perturb.job` says what a job is and which kinds there are; each kind is one file beside it.
"""

from leeward.perturb.job import KINDS, Job, Written, check_job, read_job

__all__ = ["KINDS", "Job", "Written", "check_job", "read_job"]
