"""Position bias: counts, spreads, tests, debiasing."""
