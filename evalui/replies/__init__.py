"""Replies of models and judges, parsed by ordered rules."""
