"""What every tab works with."""
