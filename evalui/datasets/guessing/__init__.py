"""The guess of which column is what, from what the cells are like."""
