"""Mechanisms: exact noise on exact answers, each with its exact probabilities beside its sampler."""

from leeward.mechanism.accuracy import Accuracy
from leeward.mechanism.calibration import rate_for
from leeward.mechanism.decision import (
    Alarm,
    RandomizedSanitizer,
    Sanitizer,
    alarm,
    randomized_sanitizer,
    sanitizer,
)
from leeward.mechanism.fallback import exponential_fallback, exponential_mechanism, true_scale
from leeward.mechanism.finite import FiniteMechanism
from leeward.mechanism.forms import (
    addition_only,
    ageo,
    alap,
    graded,
    osdp_laplace,
    removal_only,
    truncated_geometric,
    two_sided,
)
from leeward.mechanism.geometric import Geometric
from leeward.mechanism.halves import centred, halves
from leeward.mechanism.laplace import laplace_mechanism, scaling_function
from leeward.mechanism.monitor import Monitor, MonitorState, Round
from leeward.mechanism.norm import NormMechanism
from leeward.mechanism.osdp import OSDPRandomizedResponse
from leeward.mechanism.planar import Displacement, PlanarMechanism
from leeward.mechanism.randomized_response import RandomizedResponse, mangat, warner
from leeward.mechanism.sanitized import Sanitized, SanitizedAnswers
from leeward.mechanism.sparse_vector import AboveThreshold, SparseVector
from leeward.mechanism.subsampled import (
    SubsampledCount,
    as_postprocessing,
    sample_tables,
    sampled_rows,
    subsampled,
    thin,
    thinning,
)

__all__ = [
    "AboveThreshold",
    "Accuracy",
    "Alarm",
    "Displacement",
    "FiniteMechanism",
    "Geometric",
    "Monitor",
    "MonitorState",
    "NormMechanism",
    "OSDPRandomizedResponse",
    "PlanarMechanism",
    "RandomizedResponse",
    "RandomizedSanitizer",
    "Round",
    "Sanitized",
    "SanitizedAnswers",
    "Sanitizer",
    "SparseVector",
    "SubsampledCount",
    "addition_only",
    "ageo",
    "alap",
    "alarm",
    "as_postprocessing",
    "centred",
    "exponential_fallback",
    "exponential_mechanism",
    "graded",
    "halves",
    "laplace_mechanism",
    "mangat",
    "osdp_laplace",
    "randomized_sanitizer",
    "rate_for",
    "removal_only",
    "sample_tables",
    "sampled_rows",
    "sanitizer",
    "scaling_function",
    "subsampled",
    "thin",
    "thinning",
    "true_scale",
    "truncated_geometric",
    "two_sided",
    "warner",
]
