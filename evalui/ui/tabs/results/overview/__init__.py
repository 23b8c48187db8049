"""Results, Overview."""
