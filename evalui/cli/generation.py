"""The options of `evalui run` that say how models write: the settings of all modes."""

import argparse

from evalui.generation import GenerationSettings, declared_settings
from evalui.modes.own_settings import all_settings


def add_generation_options(run: argparse.ArgumentParser) -> None:
    """Add an option for each setting; it holds for every mode that it means something to."""
    group = run.add_argument_group("how models write", "for all modes, whatever the file says")
    for name, declared in declared_settings(all_settings()).items():
        option = f"--{name.replace('_', '-')}"
        about = str(declared.help).replace("%", "%%")
        if declared.kind == "lines":
            group.add_argument(option, dest=name, metavar="TEXT", action="append", help=about)
        elif declared.kind == "choice":
            choices = [each for each in declared.choices if each]
            group.add_argument(option, dest=name, choices=choices, help=about)
        else:
            metavar = "TEXT" if declared.kind == "text" else "N"
            group.add_argument(option, dest=name, metavar=metavar, help=about)


def read_generation(given: argparse.Namespace) -> GenerationSettings:
    """The settings that the options give.

    Raises:
        SpecError: a value is none of its setting.
    """
    kind = all_settings()
    declared = declared_settings(kind)
    texts: dict[str, str | list[str] | None] = {name: getattr(given, name) for name in declared}
    read = {
        name: declared[name].read("\n".join(text) if isinstance(text, list) else text)
        for name, text in texts.items()
        if text is not None
    }
    return kind.model_validate(read)
