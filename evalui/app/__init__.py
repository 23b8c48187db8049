"""Every use case of the product, for whoever offers it: a screen, a REST interface, a command."""
