"""Human votes."""
