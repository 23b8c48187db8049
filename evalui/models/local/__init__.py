"""The `transformers` backend: models of a folder, computed in this process."""
