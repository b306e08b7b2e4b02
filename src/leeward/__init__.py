"""Leeward."""
