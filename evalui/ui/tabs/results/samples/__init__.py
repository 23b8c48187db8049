"""Results, Samples."""
