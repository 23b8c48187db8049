"""docs/capabilities.md: evalui's column names what the code has, and where it lists, all of it."""

import argparse
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

import evalui
from evalui.api.application import create_api
from evalui.app.service import AppService
from evalui.cli.main import _parser
from evalui.datasets import ANSWER_KEYS
from evalui.harnesses import HARNESSES
from evalui.models.base import BACKENDS
from evalui.modes import MODES
from evalui.registry import PLUGINS
from evalui.report.frames.arena import RELIABILITY_SHARES
from evalui.report.frames.run import KINDS
from evalui.report.write.formats import FORMATS
from evalui.runs.contest import JudgingSpec
from evalui.runs.spec import DatasetSpec, ModeSpec, RunSpec
from evalui.scoring.metrics import known_metrics
from evalui.settings import Settings
from evalui.store.connection import Database
from evalui.types import DatasetKind, Pattern

PAGE = (Path(__file__).parents[2] / "docs" / "capabilities.md").read_text(encoding="utf-8")
PROGRAMS = ("evalui", "OpenCompass", "EvalScope", "SWIFT web-ui", "lm-eval", "Inspect")
NOT_LOOKED_AT = "·"


def _one_name(metric: str) -> str:
    """The metric, those of a family that goes on and on under one name."""
    if metric.endswith("_spread"):
        return "*_spread"
    metric = re.sub(r"^(rouge|bleu)-[12l\d]", r"\1-N", metric)
    return re.sub(r"^(\w+_)?pass_at_\d+$", r"\1pass_at_k", metric)


# Rows that list a registry: each has to name all of it, in whatever order, and nothing else.
WHOLE: Mapping[str, Sequence[str]] = {
    "modes": list(MODES),
    "orders of options": get_args(Pattern),
    "figures of choices": [
        _one_name(name) for name, one in known_metrics().items() if one.answers == "choices"
    ],
    "normalisations of options in cloze": MODES["cloze"].readings,
    "figures of written answers": [
        _one_name(name) for name, one in known_metrics().items() if one.answers == "texts"
    ],
    "trust in a judge": list(RELIABILITY_SHARES),
    "formats of questions": list(get_args(DatasetKind)),
    "answer keys": [*ANSWER_KEYS, PLUGINS["answer key"].name],
    "backends": list(BACKENDS),
    "finished results of others": list(HARNESSES),
    "exports": list(FORMATS),
    "packages can add": [group.name for group in PLUGINS.values()],
}
COLUMNS = {
    name
    for table in ("standings", "positions", "metrics", "pairs")
    for name in KINDS[table].columns
}
FIELDS = {
    name for spec in (RunSpec, ModeSpec, DatasetSpec, JudgingSpec) for name in spec.model_fields
}


@dataclass(frozen=True)
class Row:
    """A capability with what stands of it in each column."""

    capability: str
    cells: Mapping[str, str]

    @property
    def names(self) -> list[str]:
        """What evalui's column names."""
        return re.findall(r"`([^`]+)`", self.cells["evalui"])


def rows(page: str) -> Iterator[Row]:
    """The rows of the tables that compare the programs."""
    head = f"| capability | {' | '.join(PROGRAMS)} |\n"
    for table in page.split(head)[1:]:
        for line in table.partition("\n\n")[0].splitlines()[1:]:
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            yield Row(cells[0], dict(zip(PROGRAMS, cells[1:], strict=True)))


def _subparsers(parser: argparse.ArgumentParser) -> Mapping[str, argparse.ArgumentParser]:
    return {
        name: each
        for action in parser._actions
        if isinstance(action, argparse._SubParsersAction)
        for name, each in action.choices.items()
    }


def is_command(words: Sequence[str]) -> bool:
    """Whether `evalui WORDS` is a command, the last words of it perhaps its options."""
    parser = _parser(words)
    for word in words:
        if word.startswith("--"):
            if word not in parser._option_string_actions:
                return False
        elif (commands := _subparsers(parser)) and word in commands:
            parser = commands[word]
        else:
            return False
    return True


@pytest.fixture(scope="module")
def routes(tmp_path_factory: pytest.TempPathFactory) -> frozenset[str]:
    """The routes of the interface for programs: "POST /runs"."""
    folder = tmp_path_factory.mktemp("desk")
    settings = Settings(data_dir=folder)
    database = Database(settings.database)
    try:
        document = create_api(AppService(settings, database)).openapi()
    finally:
        database.close()
    return frozenset(
        f"{method.upper()} {path.removeprefix('/api/v1')}"
        for path, methods in document["paths"].items()
        for method in methods
    )


@cache
def _public() -> frozenset[str]:
    groups = (group.name for group in PLUGINS.values())
    return frozenset({f"evalui.{name}" for name in evalui.__all__} | {*groups})


def is_known(name: str, routes: frozenset[str]) -> bool:
    """Whether the code has what a cell names."""
    if name.startswith("evalui "):
        return is_command(name.split()[1:])
    return name in routes or name in _public() | COLUMNS | FIELDS


def problems(page: str, routes: frozenset[str]) -> list[str]:
    """Everything in evalui's column that is not so."""
    found = {row.capability: row for row in rows(page)}
    wrong = [f"{name}: no row" for name in WHOLE if name not in found]
    for row in found.values():
        if row.capability in WHOLE:
            named, has = set(row.names), set(WHOLE[row.capability])
            wrong += [f"{row.capability}: lacks {name}" for name in sorted(has - named)]
            wrong += [f"{row.capability}: has no {name}" for name in sorted(named - has)]
        elif not row.names and row.cells["evalui"] != "no":
            wrong.append(f"{row.capability}: nothing that can be looked up")
        else:
            wrong += [
                f"{row.capability}: no {name}" for name in row.names if not is_known(name, routes)
            ]
    return wrong


def test_the_column_of_evalui_is_what_the_code_has(routes: frozenset[str]):
    assert len(list(rows(PAGE))) > 25
    assert problems(PAGE, routes) == []


@pytest.mark.parametrize(
    ("said", "instead", "wrong"),
    [
        ("`cloze`, ", "", "modes: lacks cloze"),
        ("`cloze`, ", "`cloze`, `agent`, ", "modes: has no agent"),
        ("`helm`, ", "`helm`, `lighteval`, ", "finished results of others: has no lighteval"),
        ("`near_ties`, ", "", "figures of choices: lacks near_ties"),
        ("`xlsx`, ", "", "exports: lacks xlsx"),
        ("| exports |", "| files |", "exports: no row"),
        ("`rstd`, ", "`rstd_of_today`, ", "position bias of options: no rstd_of_today"),
        ("`evalui gate`", "`evalui guess`", "a gate for a CI: no evalui guess"),
        ("`evalui run --only`", "`evalui run --never`", "no evalui run --never"),
        ("`evalui benchmarks list`", "`evalui benchmarks lose`", "no evalui benchmarks lose"),
        ("`POST /runs`", "`POST /walks`", "a run begun in the browser: no POST /walks"),
        ("`evalui.open`", "`evalui.shut`", "no evalui.shut"),
        ("`evalui gate`", "yes", "a gate for a CI: nothing that can be looked up"),
    ],
)
def test_what_the_code_does_not_have_is_noticed(
    routes: frozenset[str], said: str, instead: str, wrong: str
):
    assert said in PAGE
    assert any(wrong in problem for problem in problems(PAGE.replace(said, instead), routes))


def test_what_is_said_of_others_has_a_place_where_it_was_read():
    places = dict(re.findall(r"^\| ([oelsi]\d+) \| (.+) \|$", PAGE, re.MULTILINE))
    used: set[str] = set()
    for row in rows(PAGE):
        for program in PROGRAMS[1:]:
            cell = row.cells[program]
            read = re.findall(r"\[([a-z]\d+)\]", cell)
            assert read or cell == NOT_LOOKED_AT, (row.capability, program)
            assert {each[0] for each in read} <= {program[0].lower()}, (row.capability, program)
            used.update(read)
    assert used == set(places)


TRIED_BY = tomllib.loads(
    Path(__file__).with_name("source_documents.toml").read_text(encoding="utf-8")
)


def test_each_capability_of_the_source_documents_has_a_test_that_is_there():
    (table,) = re.findall(r"\n\| capability \| note \|\n\|---.*?\n\n", PAGE, re.DOTALL)
    assert [line.split("|")[1].strip() for line in table.split("\n")[3:-2]] == list(TRIED_BY)
    root = Path(__file__).parents[2]
    for capability, test in TRIED_BY.items():
        file, _, name = test.partition("::")
        assert re.search(rf"^def {name}\(", (root / file).read_text("utf-8"), re.M), capability
