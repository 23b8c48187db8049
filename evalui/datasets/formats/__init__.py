"""The formats of files, each a module of this folder that registers itself.

They are tried in the order of their names; the first that recognises a file reads it.
"""

from importlib import import_module
from pkgutil import iter_modules

for _module in sorted(iter_modules(__path__), key=lambda module: module.name):
    import_module(f"{__name__}.{_module.name}")
