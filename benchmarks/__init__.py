"""Speed of evalui's own parts at three sizes each; `make bench` prints and keeps the table."""
