# SPDX-License-Identifier: Apache-2.0
from ._accuracy import Accuracy
from ._adaptive import AdaptiveAnswers, AdaptiveSanitized
from ._calibration import rate_for
from ._everyone import Everyone
from ._exponential import exponential_fallback, exponential_mechanism, true_scale
from ._finite import FiniteMechanism
from ._geometric import Geometric
from ._laplace import laplace_mechanism, scaling_function
from ._monitor import Monitor, MonitorState, Round
from ._noisy_max import NoisyMax
from ._norm import NormMechanism
from ._of_papers import (
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
from ._one_sided_components import centred, one_sided_components
from ._osdp import OSDPRandomizedResponse
from ._planar import Displacement, PlanarMechanism
from ._predictive import Allowance, PredictiveMechanism
from ._randomized_response import RandomizedResponse, mangat, warner
from ._rank_selection import RankSelection
from ._sanitized import Sanitized, SanitizedAnswers
from ._series import SeriesMechanism
from ._sparse_vector import SparseVector, SparseVectorResult
from ._subsampled import SubsampledCount, as_postprocessing, sample_tables, sampled_rows, subsampled, thin, thinning
from ._threshold_rule import RandomizedSanitizer, ThresholdRule, alarm, randomized_sanitizer, sanitizer
from ._tree import TreeMechanism
from ._unknown_keys import UnknownKeys
from ._utility_optimized import urap, urr

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
    "TreeMechanism",
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
