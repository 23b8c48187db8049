"""The formats: each registers its reader."""
