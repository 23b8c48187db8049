"""The Models tab."""
