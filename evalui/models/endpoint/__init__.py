"""The `openai` backend: models behind an OpenAI-compatible HTTP interface."""
