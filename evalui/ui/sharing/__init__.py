"""What people let others see: links to frozen pages, rights of teams, and notices on runs."""
