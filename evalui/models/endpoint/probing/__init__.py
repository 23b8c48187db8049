"""What a server can do, established by requests."""
