"""Written answers beside their references: words, figures, counts."""
