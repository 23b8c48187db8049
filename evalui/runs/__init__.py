"""Evaluations as durable work."""
