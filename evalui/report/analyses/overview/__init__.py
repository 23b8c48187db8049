"""The overview of a run."""
