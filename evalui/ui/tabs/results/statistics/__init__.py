"""Results, Statistics."""
