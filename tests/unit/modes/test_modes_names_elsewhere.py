"""No module outside `evalui/modes/` knows the name of a mode, one mode's module, or a property that
one mode alone has.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path

import pytest
from source_trees import nodes_of, tree_of

from evalui.generation import SETTINGS, declared_settings
from evalui.modes import MODES, ModeSettings, ModeTraits, traits_of
from evalui.modes.own_settings import settings_of

_PRODUCT = Path(__file__).parents[3] / "evalui"
_NAMES = tuple(name for name in MODES if not MODES.package_of(name))
_ANY = "|".join(_NAMES)
# A name alone, a sentence's key with a name in it, or SQL that compares one.
_WHOLE = re.compile(rf"(?:{_ANY})|modes?[.-](?:{_ANY})\w*")
_IN_SQL = re.compile(rf"\bmode\b[^']*'(?:{_ANY})'")

# Where such a word is no mode's name, or must be one: the file or folder, the word, and why.
_EXEMPT: tuple[tuple[str, str, str], ...] = (
    ("types.py", "multiple_choice", "the kind of a dataset"),
    ("datasets/", "multiple_choice", "the kind of a dataset"),
    ("benchmarks/", "multiple_choice", "the kind of a dataset"),
    ("store/bundle.py", "multiple_choice", "the kind of a dataset"),
    ("datasets/external_answers.py", "judge", "trials of earlier versions name it"),
    ("harnesses/helm.py", "generation", "HELM's name of an adapter"),
    ("models/base.py", "judge", "the role of a model in the catalog"),
    ("report/analyses/arena.py", "judge", "the ending of a sentence's key: who judged"),
    ("report/analyses/people.py", "judge", "a field of a sentence"),
    ("report/frames/", "judge", "a column: who judged"),
    ("report/write/", "judge", "a column: who judged"),
    ("report/figures/arena.py", "judge", "a column: who judged"),
    ("runs/signature.py", "judge", "a part of a signature: who judged"),
    ("ui/pages/evaluate/spec.py", "cloze", "the part of a prompt template"),
    ("ui/pages/evaluate/fields.py", "cloze", "the part of a prompt template"),
    ("ui/pages/evaluate/", "judge", "a style class, and reading a rubric's replies"),
    ("ui/pages/arena.py", "judge", "a field of the filter: who judged"),
    ("app/gallery_builder.py", "multiple_choice", "content of the gallery"),
    ("app/gallery_builder.py", "cloze", "content of the gallery"),
    ("app/gallery_builder.py", "question_answer", "content of the gallery"),
)

# Properties that one of our modes alone has, and others can have all the same: why they are known.
_SHARED: Mapping[str, str] = {
    "contestants": "of every mode that gives verdicts",
    "rubric": "of every mode that gives verdicts",
    "rubric_version": "of every mode that gives verdicts",
    "output": "of every mode that gives verdicts",
    "seed": "of every mode that draws something itself",
}
# Where the name of such a property is that of something else.
_NAMESAKES: tuple[tuple[str, str, str], ...] = (
    ("ui/pages/evaluate/spec.py", "unconditional", "the part of a prompt template"),
    ("ui/pages/evaluate/fields.py", "unconditional", "the part of a prompt template"),
    ("scoring/choice/options.py", "unconditional", "scores without the question"),
    ("harnesses/", "unconditional", "scores without the question"),
)


def names_of_modes(path: Path) -> Iterator[tuple[int, str]]:
    """The line and the name of each mode that a module knows: in a text, or by an import."""
    texts = {id(node.value) for node in nodes_of(path) if isinstance(node, ast.Expr)}
    for node in nodes_of(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in texts and (
                _WHOLE.fullmatch(node.value) or _IN_SQL.search(node.value)
            ):
                yield from ((node.lineno, each) for each in re.findall(_ANY, node.value))
        elif isinstance(node, ast.ImportFrom) and node.module in _OWN_MODULES:
            yield node.lineno, _OWN_MODULES[node.module]
        elif isinstance(node, ast.ImportFrom) and node.module == "evalui.modes":
            for each in node.names:
                if mode := _OWN_MODULES.get(f"evalui.modes.{each.name}"):
                    yield node.lineno, mode


def _module_of_each_mode() -> dict[str, str]:
    modules: dict[str, str] = {}
    for path in (_PRODUCT / "modes").glob("*.py"):
        for node in nodes_of(path):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "MODES.register":
                (name,) = node.args
                modules[f"evalui.modes.{path.stem}"] = ast.literal_eval(name)
    return modules


_OWN_MODULES = _module_of_each_mode()


def _is_exempt(path: str, name: str) -> Iterator[int]:
    for place, (start, word, _) in enumerate(_EXEMPT):
        if path.startswith(start) and word == name:
            yield place


def _known() -> Iterator[tuple[str, int, str]]:
    for path in sorted(_PRODUCT.rglob("*.py")):
        own = path.relative_to(_PRODUCT).as_posix()
        if not own.startswith("modes/"):
            yield from ((own, line, name) for line, name in names_of_modes(path))


def test_every_mode_of_ours_is_looked_for():
    assert set(_OWN_MODULES.values()) == set(_NAMES)


def test_no_module_outside_modes_knows_the_name_of_one():
    known = [
        f"{path}:{line} {name}"
        for path, line, name in _known()
        if not any(True for _ in _is_exempt(path, name))
    ]
    assert known == []


def test_each_exemption_is_still_needed():
    used = {place for path, _, name in _known() for place in _is_exempt(path, name)}
    assert [_EXEMPT[place] for place in range(len(_EXEMPT)) if place not in used] == []


@pytest.mark.parametrize(
    "source",
    [
        'if mode == "cloze": pass',
        'JUDGE = "judge"',
        'if cell.mode in ("x", "generation"): pass',
        'BY_MODE = {"choices_only": 1}',
        'match mode:\n    case "judge": pass',
        'def run(mode: str = "multiple_choice"): pass',
        'MODES["question_answer"]',
        't("mode.judge_short")',
        "rows(\"SELECT 1 FROM cell WHERE mode = 'judge'\")",
        "from evalui.modes.choices_only import ChoicesOnly",
        "from evalui.modes import MODES, cloze",
    ],
)
def test_a_name_is_found_wherever_it_stands(source: str, tmp_path: Path):
    path = tmp_path / "module.py"
    path.write_text(source)
    assert list(names_of_modes(path))


def test_a_docstring_and_another_word_are_no_names(tmp_path: Path):
    path = tmp_path / "module.py"
    path.write_text('"""judge"""\nVERB = "judged"\nfrom evalui.modes import MODES\n')
    assert tree_of(path)
    assert list(names_of_modes(path)) == []


# ---------------------------------------------------------------- properties of one mode alone


def properties_of_one_mode(
    traits: Mapping[str, object], reads: Mapping[str, set[str]], own: Mapping[str, set[str]]
) -> set[str]:
    """The names that belong to one mode alone: a trait that no other sets, a field of
    `ModeSettings` that no other reads, a setting that no other has. By the modes' names or modules:
    their `traits`, what they read, their `own` settings.
    """
    usual = ModeTraits()
    names: list[str] = []
    for each in traits.values():
        declared = {one.name for one in fields(ModeTraits)}
        names += [name for name in declared if getattr(each, name) != getattr(usual, name)]
    names += [name for each in (*reads.values(), *own.values()) for name in each]
    return {name for name in names if names.count(name) == 1}


def _reads() -> dict[str, set[str]]:
    """The fields of `ModeSettings` that each mode's module reads, or a mode's that it imports."""
    known = {each.name for each in fields(ModeSettings)}
    reads: dict[str, set[str]] = {}
    imports: dict[str, set[str]] = {}
    for module in _OWN_MODULES:
        path = _PRODUCT / "modes" / f"{module.rpartition('.')[2]}.py"
        nodes = list(nodes_of(path))
        reads[module] = {
            node.attr
            for node in nodes
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "setting"
            and node.attr in known
        }
        imports[module] = {
            node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)
        } & {*_OWN_MODULES}
    return {
        module: reads[module].union(*(reads[other] for other in imports[module]))
        for module in reads
    }


def names_of_properties(path: Path, names: set[str]) -> Iterator[tuple[int, str]]:
    """Where a module reads, passes, declares or names one of these."""
    for node in nodes_of(path):
        found = ""
        if isinstance(node, ast.Attribute):
            found = node.attr
        elif isinstance(node, ast.keyword):
            found = node.arg or ""
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found = node.target.id
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found = node.value
        if found in names:
            yield getattr(node, "lineno", 0), found


def _lonely() -> set[str]:
    own = {name: {*declared_settings(settings_of(name))} - {*SETTINGS} for name in _NAMES}
    traits = {name: traits_of(name) for name in _NAMES}
    return properties_of_one_mode(traits, _reads(), own)


def test_no_module_outside_modes_knows_a_property_that_one_mode_alone_has():
    names = _lonely() - {*_SHARED}
    known = [
        f"{own}:{line} {name}"
        for path in sorted(_PRODUCT.rglob("*.py"))
        if not (own := path.relative_to(_PRODUCT).as_posix()).startswith("modes/")
        for line, name in names_of_properties(path, names)
        if not any(own.startswith(place) and name == word for place, word, _ in _NAMESAKES)
    ]
    assert known == []


def test_each_shared_property_is_one_that_would_be_found():
    assert {*_SHARED} <= _lonely()


def test_a_property_is_of_one_mode_until_another_has_it():
    alone = ModeTraits(needs_references=True)
    assert properties_of_one_mode({"a": alone, "b": ModeTraits()}, {}, {}) == {"needs_references"}
    assert properties_of_one_mode({"a": alone, "b": alone}, {}, {}) == set()
    assert properties_of_one_mode({}, {"a": {"shots"}, "b": {"shots", "chat"}}, {}) == {"chat"}
    assert properties_of_one_mode({}, {}, {"a": {"tone"}}) == {"tone"}


@pytest.mark.parametrize(
    "source",
    [
        "blind = traits_of(mode).hidden_of",
        "ModeSettings(hidden_of=mode.chat)",
        "class Spec:\n    hidden_of: str | None = None",
        'TRAITS = {"hidden_of": 1}',
    ],
)
def test_a_property_is_found_wherever_it_stands(source: str, tmp_path: Path):
    path = tmp_path / "module.py"
    path.write_text(source)
    assert [name for _, name in names_of_properties(path, {"hidden_of"})] == ["hidden_of"]
