"""evalui: evaluate language models on your own files, and believe the numbers."""

__version__ = "0.1.0"
