"""Formats for evalui: quizzes of learning platforms, and tables in Markdown."""
