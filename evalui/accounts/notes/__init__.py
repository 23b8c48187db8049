"""Notes to people that their runs have ended: kept, seen in the browser, and sent on."""
