"""Files become samples."""
