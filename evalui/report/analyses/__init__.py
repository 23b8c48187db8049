"""What a run shows: figures and findings."""
