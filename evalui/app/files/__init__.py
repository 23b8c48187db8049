"""Uploaded files: read by processes of their own, of which only what pages show comes back."""
