"""What a screen and a REST interface share of HTTP: addresses, headers, status codes."""
