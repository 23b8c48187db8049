"""Chinese and English texts cut into words."""
