"""Uploaded files: archives, encodings, configurations, and which reader each file finds."""
