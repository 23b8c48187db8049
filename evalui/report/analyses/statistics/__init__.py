"""Comparisons between models."""
