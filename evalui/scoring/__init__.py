"""Pure numbers: trials in, metrics out."""
