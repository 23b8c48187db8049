"""Blocks as HTML, for the screen and for report.html, and as Markdown."""
