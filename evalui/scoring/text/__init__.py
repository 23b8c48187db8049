"""Written answers compared with references."""
