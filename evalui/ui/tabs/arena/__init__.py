"""The Arena tab."""
