"""Tables as every format sees them, from delimited text, JSON Lines and workbooks."""
