"""Written answers."""
