"""Who is let in: whoever has the token, people with a password, or those a proxy names."""
