"""Judged duels."""
