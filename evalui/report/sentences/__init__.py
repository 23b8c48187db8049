"""Sentences of reports in each language."""
