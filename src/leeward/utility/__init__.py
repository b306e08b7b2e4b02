"""What an answer is worth, before anything is spent."""

from leeward.utility.plan import Plan, plan

__all__ = ["Plan", "plan"]
