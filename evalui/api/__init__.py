"""The interface for programs, `/api/v1`: what the screen does, as typed JSON."""
