"""Connections to servers: limits, retries, circuit breakers."""
