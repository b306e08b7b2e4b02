"""Mechanisms: exact noise on exact answers, each with its exact probabilities beside its sampler."""

from leeward.mechanism.decision import Sanitizer, sanitizer
from leeward.mechanism.finite import FiniteMechanism
from leeward.mechanism.geometric import Geometric
from leeward.mechanism.halves import centred, halves
from leeward.mechanism.sanitized import Sanitized, SanitizedAnswers
from leeward.mechanism.subsampled import (
    SubsampledCount,
    as_postprocessing,
    sample_tables,
    sampled_people,
    subsampled,
    thin,
    thinning,
)

__all__ = [
    "FiniteMechanism",
    "Geometric",
    "Sanitized",
    "SanitizedAnswers",
    "Sanitizer",
    "SubsampledCount",
    "as_postprocessing",
    "centred",
    "halves",
    "sample_tables",
    "sampled_people",
    "sanitizer",
    "subsampled",
    "thin",
    "thinning",
]
