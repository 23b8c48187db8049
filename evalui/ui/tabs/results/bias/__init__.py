"""Results, Bias."""
