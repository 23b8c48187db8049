"""Both languages say everything, and say it about the same figures.

The sentences are those of the catalogue and of the files beside modules, as they stand there: what
`messages` has of the latter depends on which modules are imported.
"""

import ast
import re
import string
import tomllib
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import pytest
from source_trees import nodes_of

import evalui
from evalui.datasets.answers import ANSWER_KEYS
from evalui.errors import DataError, EvaluiError
from evalui.messages import (
    LANGUAGES,
    Messages,
    Sentence,
    language_of,
    localized,
    messages,
    sentence,
)
from evalui.modes import MODES
from evalui.report.write.formats import ON_PAGE
from evalui.store.question_pages import OutcomeFilter
from evalui.types import Ability, CellState, DatasetKind, Language, Pattern, RunState

PRODUCT = Path(evalui.__file__).parent
SOURCES = sorted(PRODUCT.rglob("*.py"))
TEMPLATES = sorted(PRODUCT.rglob("*.html"))
# Of one module each, with a table for each language.
BESIDE = [
    path.with_suffix(".toml")
    for path in SOURCES
    if 'add_messages(Path(__file__).with_suffix(".toml"))' in path.read_text(encoding="utf-8")
]
# Chinese writes the tenths in its own numerals, and does not name the kind of what is unknown.
OTHER_FIELDS = ("overview.loses", "error.unknown-name")


def fields(sentence: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name}


def flat(prefix: str, tree: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in tree.items():
        yield from (
            flat(f"{prefix}{key}.", value) if isinstance(value, dict) else [(prefix + key, value)]
        )


def texts_of(path: Path, language: Language) -> list[tuple[str, str]]:
    """The keys of a file with their sentences in a language, as `messages` would have them."""
    tree = tomllib.loads(path.read_text(encoding="utf-8"))
    return list(flat("", tree.get(language, {}) if path in BESIDE else tree))


def texts_by_file(language: Language) -> dict[Path, list[tuple[str, str]]]:
    paths = [*sorted((PRODUCT / "messages" / language).glob("*.toml")), *BESIDE]
    return {path: texts_of(path, language) for path in paths}


WORDS = {key.partition(".")[0] for path in BESIDE for key, _ in texts_of(path, "en")}
ENGLISH = {key: text for texts in texts_by_file("en").values() for key, text in texts}
CHINESE = {key: text for texts in texts_by_file("zh").values() for key, text in texts}


def literals() -> Iterator[str]:
    """Every text of code and templates; where an f-string puts something in, a tab."""
    for path in (PRODUCT / "ui" / "templates").rglob("*.html"):
        yield from re.findall(r'"([\w.-]+)"', path.read_text(encoding="utf-8"))
    for path in SOURCES:
        for node in nodes_of(path):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
            elif isinstance(node, ast.JoinedStr):
                parts = (p.value if isinstance(p, ast.Constant) else "\t" for p in node.values)
                yield "".join(str(part) for part in parts)


def template_keys() -> Iterator[tuple[str, bool]]:
    """What templates hand to `t`; whether it is a whole key, or the beginning of one."""
    for path in TEMPLATES:
        for call in re.finditer(r"\bt(?:\.count)?\(([^,)]*)", path.read_text(encoding="utf-8")):
            for text, rest in re.findall(r'(?<!~ )"([\w.-]+)"( ~)?', call[1]):
                yield text, not rest


def used() -> tuple[set[str], list[re.Pattern[str]]]:
    """The keys that stand in the code, and patterns of those that it puts together."""
    texts = {text for text in literals() if re.fullmatch(r"[\w.\t-]+", text)}
    texts |= {key if is_whole else key + "\t" for key, is_whole in template_keys()}
    whole = {text for text in texts if "\t" not in text}
    texts -= {word + ".\t" for word in WORDS}
    put_together = [
        re.compile(re.escape(text).replace("\\\t", ".+"))
        for text in texts - whole
        if re.search(r"[a-z]{2}", text)
    ]
    prefixes = [re.compile(re.escape(text) + "-.+") for text in whole if "-" in text]
    return whole | {f"error.{text}" for text in whole}, [*put_together, *prefixes]


def test_no_key_stands_in_two_files():
    for language in LANGUAGES:
        counted = Counter(key for texts in texts_by_file(language).values() for key, _ in texts)
        assert [key for key, number in counted.items() if number > 1] == []


def test_a_file_beside_a_module_is_read_by_it_and_has_a_table_for_each_language():
    reports = {*(PRODUCT / "report").rglob("*.toml")}
    assert sorted(reports - set(BESIDE)) == []
    for path in BESIDE:
        assert set(tomllib.loads(path.read_text(encoding="utf-8"))) == set(LANGUAGES), path


@pytest.mark.parametrize("path", BESIDE, ids=lambda path: path.stem)
def test_the_keys_of_a_file_beside_a_module_begin_with_one_word(path: Path):
    assert len({key.partition(".")[0] for key, _ in texts_of(path, "en")}) == 1


@pytest.mark.parametrize("path", BESIDE, ids=lambda path: path.stem)
def test_who_uses_the_sentences_of_a_module_imports_it(path: Path):
    module = ".".join(path.relative_to(PRODUCT.parent).with_suffix("").parts)
    keys = {key for key, _ in texts_of(path, "en")}
    for source in SOURCES:
        nodes = nodes_of(source)
        texts = {node.value for node in nodes if isinstance(node, ast.Constant)}
        imported = {
            name
            for node in nodes
            if isinstance(node, ast.ImportFrom) and node.module
            for name in (node.module, *(f"{node.module}.{each.name}" for each in node.names))
        }
        if source != path.with_suffix(".py") and keys & texts:
            assert module in imported, f"{source} says {sorted(keys & texts)}"


def test_messages_has_the_sentences_of_modules_once_they_are_imported():
    for path in BESIDE:
        import_module(".".join(path.relative_to(PRODUCT.parent).with_suffix("").parts))
    assert ENGLISH.items() <= messages("en").by_key.items()
    assert CHINESE.items() <= messages("zh").by_key.items()


def test_both_languages_have_the_same_keys():
    # English alone tells one from many.
    assert {key for key in ENGLISH if not key.endswith(".one")} == set(CHINESE)


def test_both_languages_put_in_the_same_figures():
    shared = (ENGLISH.keys() & CHINESE.keys()) - set(OTHER_FIELDS)
    assert {k: fields(ENGLISH[k]) for k in shared} == {k: fields(CHINESE[k]) for k in shared}


def test_no_sentence_is_empty():
    assert [key for by_key in (ENGLISH, CHINESE) for key, said in by_key.items() if not said] == []


def test_no_key_is_unused():
    whole, patterns = used()

    def is_named(key: str) -> bool:
        word, _, name = key.partition(".")
        # Where code puts the word of its file before a name, that name stands elsewhere in it.
        names = {key, name} if word in WORDS else {key}
        return any(each in whole or any(p.fullmatch(each) for p in patterns) for each in names)

    assert [key for key in ENGLISH if not is_named(key.removesuffix(".one"))] == []


def test_every_key_that_the_code_names_exists():
    named = {
        node.args[0].value
        for path in SOURCES
        for node in nodes_of(path)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in ("t", "t.count", "localized", "sentence")
        and isinstance(node.args[0], ast.Constant)
    }
    named |= {key for key, is_whole in template_keys() if is_whole}
    assert len(named) > 1000
    assert sorted(key for key in named if key not in ENGLISH) == []


def test_chinese_has_no_half_width_punctuation_between_its_characters():
    assert [k for k, text in CHINESE.items() if re.search(r"[\u4e00-\u9fff][,;:?!()]", text)] == []


def test_no_sentence_shouts_or_begs():
    both = [*ENGLISH.items(), *CHINESE.items()]
    loud = re.compile(r"!(?!r\b)|please|oops|！", re.IGNORECASE)
    assert [key for key, text in both if loud.search(text)] == []


def test_foreign_braces_are_left_alone():
    assert localized("error.empty-file", "en", file="{x}") == "{x} is empty."


@pytest.mark.parametrize(
    "key",
    [
        *(f"key.{name}" for name in ANSWER_KEYS),
        *(f"mode.{mode}{part}" for mode in MODES for part in ("", "_about", "_short")),
        *(f"reading.{name}" for mode in MODES for name in MODES[mode].readings),
        *(f"ability.{name}" for name in get_args(Ability)),
        *(f"orders.{name}{part}" for name in get_args(Pattern) for part in ("", "_about")),
        *(f"state.{name}" for name in get_args(CellState)),
        *(f"runstate.{name}" for name in get_args(RunState)),
        *(f"outcome.{name or 'all'}" for name in get_args(OutcomeFilter)),
        *(f"kind.{name}" for name in get_args(DatasetKind)),
        *(f"language.{name}" for name in get_args(Language)),
        *(f"report.{name}{part}" for name in ON_PAGE for part in ("", "_about")),
    ],
)
def test_every_name_of_the_product_is_translated(key: str):
    assert key in messages("en")
    assert key in messages("zh")


@pytest.mark.parametrize(
    "rule", ["counts-from-0", "counts-from-1", "place-or-text", "text-or-place"]
)
def test_a_note_on_the_answer_key_names_it_as_the_page_and_as_the_command_do(rule: str):
    named = re.search("“([^”]+)” \\((\\w+)\\)", ENGLISH[f"note.{rule}"])
    assert named
    assert named[1] == ENGLISH[f"key.{named[2]}"]
    assert f"“{ENGLISH['file.columns']}”" in ENGLISH[f"note.{rule}"]


def test_one_is_told_from_many():
    t = messages("en")
    assert t.count("file.rows", 1) == "1 row"
    assert t.count("file.rows", 1240) == "1,240 rows"


def test_a_noun_follows_its_own_number_where_a_sentence_has_several():
    t = Messages("en", {"said": "{votes} {votes:vote|votes} of {people} {people:person|people}"})

    assert t("said", votes=1, people="3") == "1 vote of 3 people"
    assert t("said", votes="1,001", people="1") == "1,001 votes of 1 person"


def test_a_verb_goes_with_the_count_that_it_names():
    said = Messages("en", ENGLISH)("texts.partial-ended", done="1", total="40")
    assert said.startswith("1 of 40 questions was answered;")


@pytest.mark.parametrize(
    ("wish", "default", "expected"),
    [("zh", "en", "zh"), (None, "zh", "zh"), ("fr", "zh", "zh"), ("fr", "fr", "en")],
)
def test_a_language_we_lack_falls_back(wish: str | None, default: str, expected: str):
    assert language_of(wish, default) == expected


def test_an_error_is_told_in_the_language_of_the_page():
    error = DataError("empty-file", file="题{1}.csv")
    assert str(error) == "题{1}.csv is empty."
    assert messages("en").translate(error.sentence) == "题{1}.csv is empty."
    assert messages("zh").translate(error.sentence) == "题{1}.csv 是空文件。"


def test_a_sentence_within_a_sentence_is_told_too():
    why = sentence("error.lacks-generate")
    whole = sentence("error.cannot-do", model="m", why=why)
    assert whole == "m cannot do this mode: it does not write replies."
    assert messages("zh").translate(whole) == "m 不能用这种方式：它不写回复。"


def test_a_sentence_kept_by_a_version_with_other_fields_stays_english():
    kept = Sentence("a.csv has nothing.", "error.empty-file", {"name": "a.csv"})
    assert messages("zh").translate(kept) == "a.csv has nothing."


def test_other_peoples_words_stay_as_they_are():
    assert messages("zh").translate("OSError: {x}") == "OSError: {x}"
    assert messages("zh").translate(EvaluiError(Sentence("As {it} is.")).sentence) == "As {it} is."
