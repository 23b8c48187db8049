"""Charts from plain metrics."""
