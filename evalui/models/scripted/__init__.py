"""The `scripted` backend: models and judges that answer by rule."""
