"""Versioned prompt templates and judge rubrics."""
