"""Votes of people on pairs of answers: what is voted on, by whom, and what was voted."""
