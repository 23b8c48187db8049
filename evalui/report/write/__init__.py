"""Files of a run: tables for people and programs, lines that are read again, archives."""
