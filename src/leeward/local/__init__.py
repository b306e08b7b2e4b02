# SPDX-License-Identifier: Apache-2.0
"""One person's own record, made private before it is sent: positions, and series of readings."""

import lazy_loader

from leeward.local._job import KINDS, Job, Perturbed, Written, check_job, read_job

__all__ = ["KINDS", "Job", "Perturbed", "Written", "check_job", "read_job"]

__getattr__, __dir__, _ = lazy_loader.attach(__name__, submodules=["location", "series"])
