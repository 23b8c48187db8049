"""Figures from files collected elsewhere."""
