"""A registry is a dictionary with a good error, which other packages can add to.

A package adds to a registry by an entry point in the group of its kind, see `PLUGINS`. It names a
module, which registers by itself what it brings when it is imported, or an object, which is
registered under the entry point's name. Entry points are loaded at the first look-up.
"""

import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from inspect import get_annotations
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Generic, TypeVar

from evalui.errors import UnknownName
from evalui.messages import add_label, sentence
from evalui.types import Language

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PluginGroup:
    """The group of the entry points of one kind, and under which keys the catalogue has its labels.

    `label_keys` hold the registered name in place of {name}. Where a plug-in brings no sentence of
    such a key, the object's own `label` serves, a mapping of languages to texts, else its name.
    """

    name: str
    label_keys: tuple[str, ...] = ()


PLUGINS: Mapping[str, PluginGroup] = {
    "dataset format": PluginGroup("evalui.formats"),
    "model backend": PluginGroup("evalui.backends", ("backend.{name}",)),
    "answer key": PluginGroup("evalui.answer_keys", ("key.{name}",)),
    "mode": PluginGroup(
        "evalui.modes", ("mode.{name}", "mode.{name}_short", "mode.{name}_about", "mode-{name}")
    ),
    "metric": PluginGroup("evalui.metrics"),
    "scorer": PluginGroup("evalui.scorers"),
    "analysis": PluginGroup("evalui.analyses"),
    "harness": PluginGroup("evalui.harnesses", ("harness.{name}",)),
}

# Protects the loading of plug-ins, for all registries: a plug-in of one may look into another, and
# with a lock each two threads could wait for one another. Reentrant for the same reason.
_LOADING = threading.RLock()
_GROUP_HEADER = re.compile(rb"^\[\s*(evalui\.\w+)\s*\]", re.MULTILINE)


class Registry(Generic[T]):
    """Things by name; `kind` is what an error calls them.

    `role` is the protocol that each of them has to have, where that can be checked. `check` raises
    where something cannot stand beside those there are.

    >>> sizes: Registry[int] = Registry("size")
    >>> _ = sizes.register("small")(1)
    >>> sizes["small"]
    1
    """

    def __init__(
        self,
        kind: str,
        role: type | None = None,
        check: Callable[[T, Iterable[T]], None] | None = None,
    ) -> None:
        self.kind = kind
        self._role = role
        self._check = check
        self._entries: dict[str, T] = {}
        self._packages: dict[str, str] = {}
        self._plugins = PLUGINS.get(kind)
        self._has_plugins_loaded = self._plugins is None

    def register(self, name: str) -> Callable[[T], T]:
        """Return a decorator that stores a thing under `name`.

        Raises:
            ValueError: when it is used, if `name` is taken.
            TypeError: when it is used, if the thing lacks a part of its role.
        """

        def store(thing: T) -> T:
            if name in self._entries:
                raise ValueError(f"{self.kind} {name!r} is registered twice")
            if missing := self._missing_parts(thing):
                raise TypeError(f"{self.kind} {name!r} does not declare {', '.join(missing)}")
            if self._check:
                self._check(thing, self._entries.values())
            self._entries[name] = thing
            return thing

        return store

    def __getitem__(self, name: str) -> T:
        """The thing called `name`; raises `UnknownName` with the known names."""
        self._load_plugins()
        if name not in self._entries:
            known = ", ".join(sorted(self._entries)) or "none"
            raise UnknownName(
                "unknown-name",
                kind=self.kind,
                name=name,
                known=known,
            )
        return self._entries[name]

    def __contains__(self, name: object) -> bool:
        """Whether something is registered under `name`."""
        self._load_plugins()
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        """The names in the order they were registered, those of other packages last."""
        self._load_plugins()
        return iter(tuple(self._entries))

    def package_of(self, name: str) -> str:
        """The package that brought what is called `name` with its version, "" for our own."""
        self._load_plugins()
        return self._packages.get(name, "")

    def _missing_parts(self, thing: T) -> list[str]:
        if self._role is None or isinstance(thing, self._role):
            return []
        parts = (*get_annotations(self._role), *vars(self._role))
        return [name for name in parts if not name.startswith("_") and not hasattr(thing, name)]

    def _load_plugins(self) -> None:
        if self._has_plugins_loaded:
            return
        with _LOADING:
            plugins, self._plugins = self._plugins, None  # None: this thread is loading them
            if plugins is None:
                return
            if plugins.name in plugin_groups():
                for entry_point in _entry_points(plugins.name):
                    self._load(entry_point)
                self._add_labels(plugins)
            self._has_plugins_loaded = True

    def _load(self, entry_point: "EntryPoint") -> None:
        """Register what an entry point brings; a broken one is reported and left out."""
        before = frozenset(self._entries)
        try:
            brought = entry_point.load()
            if not isinstance(brought, ModuleType):
                self.register(entry_point.name)(brought)
            if entry_point.dist:
                package = f"{entry_point.dist.name} {entry_point.dist.version}"
                self._packages |= dict.fromkeys(self._entries.keys() - before, package)
        except Exception as error:  # noqa: BLE001 (other people's code; one line reports it)
            for name in self._entries.keys() - before:
                del self._entries[name]
            _report_broken(entry_point, error)

    def _add_labels(self, plugins: PluginGroup) -> None:
        """Give each entry the labels that the catalogue lacks.

        Ours have them all. Of the others no entry point may be new: a module that brings things of
        several kinds registers them all when the first kind is loaded.
        """
        for name, entry in self._entries.items():
            label: Mapping[Language, str] = getattr(entry, "label", {})
            for key in plugins.label_keys:
                add_label(key.replace("{name}", name), label, name)


@cache
def plugin_groups() -> frozenset[str]:
    """The groups of ours that installed packages name in their entry_points.txt.

    Looks into the files first, since most often there are none, and `importlib.metadata` takes a
    tenth of a second to import.
    """
    names: set[str] = set()
    for folder in map(Path, sys.path):
        for path in folder.glob("*.dist-info/entry_points.txt"):
            names |= {each.decode() for each in _GROUP_HEADER.findall(path.read_bytes())}
    return frozenset(names)


def plugin_versions(group: str) -> tuple[str, ...]:
    """The packages that add to a group, each with its version."""
    if group not in plugin_groups():
        return ()
    packages = {one.dist for one in _entry_points(group) if one.dist}
    return tuple(sorted(f"{one.name} {one.version}" for one in packages))


def _entry_points(group: str) -> "list[EntryPoint]":
    from importlib.metadata import entry_points

    return sorted(entry_points(group=group), key=lambda each: each.name)


def _report_broken(entry_point: "EntryPoint", error: Exception) -> None:
    import logging

    logging.getLogger(__name__).warning(
        "%s",
        sentence(
            "error.plugin-broken",
            name=entry_point.name,
            group=entry_point.group,
            package=entry_point.dist.name if entry_point.dist else "?",
            reason=f"{type(error).__name__}: {error}",
        ),
    )
