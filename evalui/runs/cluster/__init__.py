"""Models on a Ray cluster."""
