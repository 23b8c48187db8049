"""The people of a shared box, their teams, and the secrets by which they are known."""
