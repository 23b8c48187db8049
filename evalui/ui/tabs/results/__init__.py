"""The Results tab."""
