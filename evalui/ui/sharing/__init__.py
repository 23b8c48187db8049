"""What people let others see: links to frozen pages, and notices on runs."""
