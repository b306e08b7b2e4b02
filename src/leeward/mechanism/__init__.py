# SPDX-License-Identifier: Apache-2.0
"""Mechanisms: exact noise on exact answers, each with its exact probabilities beside its sampler."""

from leeward.mechanism._accuracy import Accuracy
from leeward.mechanism._adaptive import AdaptiveAnswers, AdaptiveSanitized
from leeward.mechanism._calibration import rate_for
from leeward.mechanism._everyone import Everyone
from leeward.mechanism._exponential import exponential_fallback, exponential_mechanism, true_scale
from leeward.mechanism._finite import FiniteMechanism
from leeward.mechanism._geometric import Geometric
from leeward.mechanism._laplace import laplace_mechanism, scaling_function
from leeward.mechanism._monitor import Monitor, MonitorState, Round
from leeward.mechanism._noisy_max import NoisyMax
from leeward.mechanism._norm import NormMechanism
from leeward.mechanism._of_papers import (
    addition_only,
    ageo,
    alap,
    graded,
    osdp_laplace,
    removal_only,
    salap,
    truncated_geometric,
    two_sided,
)
from leeward.mechanism._one_sided_components import centred, one_sided_components
from leeward.mechanism._osdp import OSDPRandomizedResponse
from leeward.mechanism._planar import Displacement, PlanarMechanism
from leeward.mechanism._predictive import Allowance, PredictiveMechanism
from leeward.mechanism._randomized_response import RandomizedResponse, mangat, warner
from leeward.mechanism._rank_selection import RankSelection
from leeward.mechanism._sanitized import Sanitized, SanitizedAnswers
from leeward.mechanism._series import SeriesMechanism
from leeward.mechanism._sparse_vector import SparseVector, SparseVectorResult
from leeward.mechanism._subsampled import (
    SubsampledCount,
    as_postprocessing,
    sample_tables,
    sampled_rows,
    subsampled,
    thin,
    thinning,
)
from leeward.mechanism._threshold_rule import (
    RandomizedSanitizer,
    ThresholdRule,
    alarm,
    randomized_sanitizer,
    sanitizer,
)
from leeward.mechanism._unknown_keys import UnknownKeys
from leeward.mechanism._utility_optimized import urap, urr

__all__ = [
    "Accuracy",
    "AdaptiveAnswers",
    "AdaptiveSanitized",
    "Allowance",
    "Displacement",
    "Everyone",
    "FiniteMechanism",
    "Geometric",
    "Monitor",
    "MonitorState",
    "NoisyMax",
    "NormMechanism",
    "OSDPRandomizedResponse",
    "PlanarMechanism",
    "PredictiveMechanism",
    "RandomizedResponse",
    "RandomizedSanitizer",
    "RankSelection",
    "Round",
    "Sanitized",
    "SanitizedAnswers",
    "SeriesMechanism",
    "SparseVector",
    "SparseVectorResult",
    "SubsampledCount",
    "ThresholdRule",
    "UnknownKeys",
    "addition_only",
    "ageo",
    "alap",
    "alarm",
    "as_postprocessing",
    "centred",
    "exponential_fallback",
    "exponential_mechanism",
    "graded",
    "laplace_mechanism",
    "mangat",
    "one_sided_components",
    "osdp_laplace",
    "randomized_sanitizer",
    "rate_for",
    "removal_only",
    "salap",
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
    "urap",
    "urr",
    "warner",
]
