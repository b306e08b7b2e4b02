"""Mechanisms: exact noise on exact answers, each with its exact probabilities beside its sampler."""

from leeward.mechanism.decision import Sanitizer, sanitizer
from leeward.mechanism.finite import FiniteMechanism
from leeward.mechanism.geometric import Geometric
from leeward.mechanism.sanitized import Sanitized, SanitizedAnswers

__all__ = ["FiniteMechanism", "Geometric", "Sanitized", "SanitizedAnswers", "Sanitizer", "sanitizer"]
