"""The command line, see `evalui.cli.main`."""
