"""What every command reads its arguments with: a mistake is one line that says what would do."""

import argparse
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import takewhile
from typing import Any, NoReturn


class Parser(argparse.ArgumentParser):
    """Names a mistake in one line, with the nearest name that exists."""

    def error(self, message: str) -> NoReturn:
        """End with exit code 2."""
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")

    def parse_known_args(  # pyright: ignore[reportIncompatibleMethodOverride]  # of two overloads
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """As argparse does, but an argument that this very command does not have ends it here."""
        # A misspelt option is told before what is missing for want of it.
        before = takewhile(lambda each: each != "--", () if self._subparsers else args or ())
        for option in map(_option, before):
            if option and not any(name.startswith(option) for name in self._option_string_actions):
                self._refuse(option)
        given, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self._refuse(unknown[0].partition("=")[0])
        return given, unknown

    def _refuse(self, argument: str) -> NoReturn:
        self.error(f"there is no {argument}{_meant(argument, self._option_string_actions)}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = [str(each) for each in action.choices]
            meant = _meant(str(value), known) or f"; there are {', '.join(known)}"
            raise argparse.ArgumentError(action, f"there is no {str(value)!r}{meant}")


class Group:
    """Commands that stand together in the help of the program."""

    def __init__(self, commands: Any, title: str) -> None:
        self._commands = commands
        self._title = title
        self._about: dict[str, str] = {}

    def add_parser(self, name: str, *, help: str, **options: Any) -> Any:
        """Add a command, as argparse's subparsers do."""
        self._about[name] = help
        return self._commands.add_parser(name, **options)

    def __str__(self) -> str:
        lines = [f"  {name:<12}{about}" for name, about in self._about.items()]
        return "\n".join([f"{self._title}:", *lines])


def number(
    what: str, least: float, most: float | None = None, *, kind: Callable[[str], Any] = int
) -> Callable[[str], Any]:
    """A type of arguments, such as `number("a port", 0, 65535)`, whose error states its limits."""
    limits = f"{least:g} or more" if most is None else f"{least:g} to {most:g}"

    def read(text: str) -> Any:
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not least <= value <= (value if most is None else most):
            raise argparse.ArgumentTypeError(f"{what} is {limits}, not {text!r}")
        return value

    return read


def _option(argument: str) -> str:
    """The long option that an argument is, "" if it is none."""
    return argument.partition("=")[0] if re.match(r"--[a-z][^ ]*$", argument) else ""


def _meant(name: str, known: Iterable[str] | Mapping[str, Any]) -> str:
    near = get_close_matches(name, known, cutoff=0.75)
    # Swapped letters are the commonest slip: --modle is --model, though --mode has fewer others.
    near.sort(key=lambda each: sorted(each) != sorted(name))
    return f"; did you mean {near[0]}?" if near else ""
