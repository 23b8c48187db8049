"""The web server: routes, middleware, access."""
