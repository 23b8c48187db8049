"""What people let others see: links to frozen pages, and notes on runs."""
