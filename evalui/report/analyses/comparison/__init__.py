"""Models of one or several runs on the same questions."""
