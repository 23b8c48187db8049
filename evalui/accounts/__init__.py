"""People, what they may do, and what belongs to them, as the store keeps it."""
