"""The quick tests that a change reaches, for `make check`: their files, a line each.

    python scripts/reached_tests.py [COMMIT]

What has changed since the last commit, or since COMMIT (`main`), is followed through the imports of
the package: a test is reached that imports a changed module or one that imports it in turn, that
has changed, uses a helper that has, or is named after a module that has. A file of data counts as a
change of the modules in its folder, and reaches the tests that name it. Where a change reaches more
than two cores do in a minute, those of the changed modules and of their direct users are taken, or
of the changed packages alone, and stderr says what is left to `make test`. A small set shows that
the package starts.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[1]
SMOKE = ("test_imports.py", "test_registry.py", "test_errors.py")  # of tests/unit
MOST = 60  # files of tests, which two cores do within a minute
_PACKAGE = "evalui"
# What is read as data far from where it stands.
_READERS = {
    "evalui/messages/": ("tests/unit/messages", "tests/unit/test_project_rules.py"),
    "evalui/report/analyses/": ("tests/unit/messages",),
    "evalui/ui/templates/": ("tests/unit/ui/components",),
    "evalui/report/templates/": ("tests/unit/report/render",),
    "assets/": ("tests/unit/test_assets.py",),
    "docs/": ("tests/unit/test_project_rules.py", "tests/unit/test_capabilities.py"),
}


def main(since: str = "HEAD") -> None:
    """Print the files."""
    changed = changed_files(since)
    reached, left = reached_tests(changed)
    if left:
        sys.stderr.write(
            f"The change reaches {left + len(reached)} files of unit tests; the nearest "
            f"{len(reached)} are run here, the others by `make test`.\n"
        )
    sys.stdout.write("".join(f"{path}\n" for path in reached))


def changed_files(since: str) -> list[str]:
    """The files that differ from a commit, with those that git does not know yet."""
    commands = (
        ["git", "diff", "--name-only", "--no-renames", since],
        ["git", "ls-files", "--others", "--exclude-standard"],
    )
    listed = (
        subprocess.run(each, cwd=ROOT, capture_output=True, text=True, check=True)
        for each in commands
    )
    return sorted({name for each in listed for name in each.stdout.splitlines()})


def reached_tests(changed: Sequence[str]) -> tuple[list[str], int]:
    """Files of unit tests that a change reaches, and how many more it does that are left out."""
    graph = grimp.build_graph(_PACKAGE, include_external_packages=False)
    modules = {each for name in changed for each in _modules_of(name, graph.modules)}
    named = _named_tests(changed)
    near = {
        *modules,
        *(user for each in modules for user in graph.find_modules_that_directly_import(each)),
    }
    far = {*near, *(user for each in modules for user in graph.find_downstream_modules(each))}
    every = _tests_importing(far) | named
    own = {
        path for path in _unit_tests() if str(Path(path).parent) in map(_folder_of_tests, changed)
    }
    for chosen in (
        every,
        _tests_importing(near) | named,
        _tests_importing(modules) | named,
        own | named,
    ):
        if len(chosen) <= MOST:
            break
    chosen = {path for path in chosen if (ROOT / path).exists()}
    smoke = {f"tests/unit/{name}" for name in SMOKE}
    return sorted(chosen | smoke), len(every - chosen)


def _modules_of(name: str, known: Collection[str]) -> Iterable[str]:
    """The modules that a changed file is, or that stand beside it."""
    path = Path(name)
    if path.parts[:1] != (_PACKAGE,):
        return ()
    dotted = ".".join(path.with_suffix("").parts).removesuffix(".__init__")
    if path.suffix in (".py", ".toml") and dotted in known:
        return (dotted,)
    if path.suffix == ".py":
        return ()
    folder = ".".join(path.parent.parts)
    return (each for each in known if each == folder or each.rpartition(".")[0] == folder)


def _folder_of_tests(name: str) -> str:
    """Where the tests of a module stand."""
    return str(Path("tests/unit", *Path(name).parts[1:-1])) if name.startswith(_PACKAGE) else ""


def _named_tests(changed: Sequence[str]) -> set[str]:
    """Unit tests that have changed, that use a helper that has, that are named after a module that
    has, or that read a file that has.
    """
    names = {
        Path(name).stem for name in changed if name.startswith("tests/") and name.endswith(".py")
    }
    found = {path for path in _unit_tests() if Path(path).stem in names or names & _helpers(path)}
    for name in changed:
        # A module that a registry loads is imported by none.
        own = "_".join(("test", *Path(name).with_suffix("").parts[1:])).removesuffix("___init__")
        if name.startswith(f"{_PACKAGE}/"):
            found |= {path for path in _unit_tests() if Path(path).stem.startswith(own)}
        for folder, readers in _READERS.items():
            if name.startswith(folder):
                found |= {path for path in _unit_tests() if path.startswith(readers)}
        if not name.endswith(".py"):
            file = Path(name).name
            found |= {path for path in _unit_tests() if file in (ROOT / path).read_text("utf-8")}
    return found


@cache
def _unit_tests() -> tuple[str, ...]:
    paths = sorted((ROOT / "tests" / "unit").rglob("test_*.py"))
    return tuple(str(path.relative_to(ROOT)) for path in paths)


def _tests_importing(modules: Collection[str]) -> set[str]:
    named = {"_".join(("test", *each.split(".")[1:])) for each in modules}
    return {
        path
        for path in _unit_tests()
        if Path(path).stem in named or not _imported(path).isdisjoint(modules)
    }


@cache
def _helper_files() -> dict[str, str]:
    """Modules of helpers below tests/, by the name under which tests import them."""
    paths = (ROOT / "tests").rglob("*.py")
    return {
        path.stem: str(path.relative_to(ROOT)) for path in paths if "test_" not in path.name[:5]
    }


def _helpers(path: str) -> set[str]:
    """The helpers of a test, with those that they use."""
    return {name.partition(".")[0] for name in _names(path)} & _helper_files().keys()


@cache
def _imported(path: str) -> set[str]:
    """What a test imports of the package, itself and by its helpers, and the page that it draws."""
    text = (ROOT / path).read_text(encoding="utf-8")
    drawn = {f"{_PACKAGE}.ui.pages.{name}" for name in re.findall(r'DrawnPage\(\s*"(\w+)"', text)}
    return drawn | {name for name in _names(path) if name.startswith(_PACKAGE)}


@cache
def _names(path: str) -> frozenset[str]:
    """Every dotted name that a file of tests may import, also by its helpers."""
    names: set[str] = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    for helper in {name.partition(".")[0] for name in names} & _helper_files().keys():
        if _helper_files()[helper] != path:
            names |= _names(_helper_files()[helper])
    return frozenset(names)


if __name__ == "__main__":
    main(*sys.argv[1:])
