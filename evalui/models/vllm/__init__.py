"""The `vllm` backend."""
