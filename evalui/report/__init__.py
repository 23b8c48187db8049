"""Metrics become tables, charts, sentences and files."""
