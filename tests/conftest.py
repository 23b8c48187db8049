"""How thoroughly properties are tried: `make check` asks for the quick way."""

from hypothesis import settings

settings.register_profile("quick", max_examples=25)
