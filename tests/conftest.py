"""How thoroughly properties are tried: `make check` asks for the quick way. Neither is timed."""

from hypothesis import settings

settings.register_profile("thorough", deadline=None)
settings.register_profile("quick", deadline=None, max_examples=25)
settings.load_profile("thorough")
