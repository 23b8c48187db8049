"""A format, a backend, a mode and a metric for evalui, one file each."""
