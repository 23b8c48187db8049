"""Blocks rendered for readers."""
