"""Whose turn it is on a box that people share: limits, turns, decisions, and what was spent."""
