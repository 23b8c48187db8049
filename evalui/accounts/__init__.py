"""The people of a shared box, and the secrets by which they are known."""
