"""Pairwise battles: ratings, agreement, categories."""
