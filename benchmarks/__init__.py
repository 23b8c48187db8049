"""How long the work takes, beside the programs people use today."""
