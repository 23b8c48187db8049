"""The shipped index of published sets: what each is, where its data lies, how a row is read."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast

from evalui.errors import UnknownName

_ALIKE = 0.75  # of two names; below, one of pictures is like one of texts (coco_val, ceval)
# What the sets of pictures of one entry share, in the folder and layout that VLMEvalKit gives them.
_OF_PICTURES: Mapping[str, Any] = {
    "pictures": True,
    "folder": "LMUData",
    "source": "github.com/open-compass/VLMEvalKit",
    "licence": "see the source",
    "topic": "pictures",
    "languages": ("en",),
    "subject": "category",
    "question": "{hint?}{question}",
    "options": "A-Z",
    "answer": "answer",
    "answer_as": "letter",
}
_INDEX = Path(__file__).with_name("index.toml")

# "text" has references, "choice" has options, "code" has tests of the program that is written.
Kind = Literal["choice", "text", "code"]
# What the answer's field holds: the place of the right option counted from 0 or one of
# `answer_names`, the same counted from 1, its letter, its label, its text, a 1 among 0s for each
# option, or a solution whose last \boxed{} is the reference.
AnswerForm = Literal["place", "index1", "letter", "label", "text", "marks", "boxed"]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One published set.

    `hub` is its id on the hub; one that is not there has the `folder` in which its files are
    expected, and the `source` they are from. `configs` are the parts of a hub dataset that belong
    to it, ("*",) for all. `split` is scored, `shots` gives the worked examples; `questions` counts
    the scored split as published, 0 where that is not known. `lm_eval` is the harness's task or
    group. `stands_for` names the set that its other names mean elsewhere, "" if that is this one.
    `unsupported` says why no model is asked its questions as a dataset, "" if it can be.

    A set of `pictures` is a table of VLMEvalKit. `circular`: it has each question in every order,
    too. `rows` is the `split` whose rows count, "" for all. A question of several subjects, which
    `subjects_by` separates, is one of each. `metadata` are further fields of a question, each
    "name=column" or "name=column/n", the n-th part between underscores. `metric` is the figure of
    written answers that leads; `judged`: its authors have them rated by a judge.
    """

    name: str
    title: str
    topic: str
    languages: tuple[str, ...]
    licence: str
    split: str
    names: tuple[str, ...] = ()
    hub: str = ""
    folder: str = ""
    source: str = ""
    configs: tuple[str, ...] = ()
    layouts: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    shots: str = ""
    questions: int = 0
    kind: Kind = "choice"
    subject: str = ""
    question: str = ""
    options: str | tuple[str, ...] = ()
    option_columns: tuple[str, ...] = ()
    answer: str = ""
    answer_as: AnswerForm = "place"
    answer_names: tuple[str, ...] = ()
    answer_pattern: str = ""
    tests: str = ""
    starter: str = ""
    labels: str = ""
    lm_eval: str = ""
    lm_eval_hub: str = ""
    stands_for: str = ""
    unsupported: str = ""
    pictures: bool = False
    circular: bool = False
    rows: str = ""
    subjects_by: str = ""
    metadata: tuple[str, ...] = ()
    metric: str = ""
    judged: bool = False

    @property
    def place(self) -> str:
        """The folder of its files, as the hub lays them out."""
        return self.hub or self.folder


@cache
def read_index() -> Mapping[str, Benchmark]:
    """Every set by its name, in the order of the names."""
    tables = tomllib.loads(_INDEX.read_text(encoding="utf-8"))
    made = [each for name, table in tables.items() for each in _sets(name, table)]
    return {each.name: each for each in sorted(made, key=lambda each: each.name.lower())}


def find(name: str) -> Benchmark:
    """The set of a name, which may be one of its other names, in any letter case.

    Raises:
        UnknownName: there is none; the message lists those whose names are like it.
    """
    if benchmark := _by_name().get(_folded(name)):
        return benchmark
    by_letters = {known.lower(): known for known in read_index()}
    alike = get_close_matches(name.lower(), by_letters, cutoff=_ALIKE)
    near = [each.name for each in search(name)] or [by_letters[each] for each in alike]
    if not near:
        raise UnknownName("benchmark-unlike", name=name)
    raise UnknownName("benchmark-unknown", name=name, known=", ".join(near))


def is_name(name: str) -> bool:
    """Whether a set has this name."""
    return _folded(name) in _by_name()


def search(text: str) -> tuple[Benchmark, ...]:
    """The sets of whose names, titles, topics and languages each word of the text is a part."""
    words = text.lower().split()
    return tuple(each for each in read_index().values() if all(w in _words(each) for w in words))


@cache
def _by_name() -> Mapping[str, Benchmark]:
    return {
        _folded(name): each
        for each in read_index().values()
        for name in (*each.names, each.name)  # its own name wins
    }


def _folded(name: str) -> str:
    return name.strip().lower().replace("-", "_")


def _words(benchmark: Benchmark) -> str:
    own = (benchmark.name, benchmark.title, benchmark.topic, benchmark.hub)
    return " ".join((*own, *benchmark.names, *benchmark.languages)).lower()


def _sets(name: str, table: Mapping[str, Any]) -> Iterator[Benchmark]:
    """The set of an entry, or the sets of pictures that it stands for."""
    fields = _fields(table)
    names = cast("tuple[str, ...]", fields.pop("sets", ()))
    if not names:
        yield Benchmark(name=name, **fields)
    for own in names:
        title = f"{fields['title']} ({own})" if len(names) > 1 else fields["title"]
        named = {"name": own, "split": own, "title": title}
        yield Benchmark(**cast("dict[str, Any]", {**_OF_PICTURES, **fields, **named}))


def _fields(table: Mapping[str, Any]) -> dict[str, Any]:
    lists = cast(
        "dict[str, Any]",
        {k: tuple(cast("list[str]", v)) for k, v in table.items() if isinstance(v, list)},
    )
    return {**table, **lists}
