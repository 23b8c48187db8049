"""The SQLite store, one module per noun."""
