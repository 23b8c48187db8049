"""The version of evalui; every module takes it from here, so that none imports the public names."""

__version__ = "0.1.0"
