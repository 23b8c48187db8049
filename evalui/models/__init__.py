"""Requests become responses."""
