"""The SQLite store, one module per noun. What is asked of runs and cells it knows as JSON alone."""
