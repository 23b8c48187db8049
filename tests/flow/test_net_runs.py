"""Ten recorded runs: everything that they say, in figures and in words, is what was recorded.

A difference names the run, the thing, the place in it, what was recorded and what is now.
"""

import io
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from functools import cached_property
from pathlib import Path
from typing import Any

import net_examples as net
import net_pages as pages
import pandas as pd
import pytest
from library_charts import charts_of
from net_pages import Document
from recorded_runs import NAMES, RecordedRuns, settings_of
from starlette.testclient import TestClient

import evalui
from evalui.app.service import AppService
from evalui.harnesses.importing import import_run
from evalui.report.frames.run import KINDS
from evalui.store.connection import Database
from evalui.types import Language

pytestmark = pytest.mark.slow

# float32 products differ from one library to the next.
TOLERANCE = {"letters": 1e-4}
WITH_ARCHIVE = ("open", "voted")  # those without pictures
FRAMES = (*KINDS, "trials", "questions")
# A bundle has nothing of people, and what its models took and replied is that of its store.
OF_PEOPLE = {
    *("standings", "dimensions", "win_matrix", "win_rates", "reliability"),
    *("people", "agreement", "powered", "disagreements", "votes"),
}
OF_STORES = {"expenses", "reply_counts"}
ROUTES = ("", "/figures", "/voters", "/votes", "/disagreements", "/ballot")
PASSING = ("created", "started", "finished", "last", "revision")  # fields of REST that hold a time


class Recorded:
    """A server on the ten runs, and what it says of each, made once."""

    def __init__(self, runs: RecordedRuns, folder: Path) -> None:
        self.runs = runs
        # A server writes a little, such as the moment it began; nobody else is to see that.
        self.settings = runs.copy(folder)
        self._stack = ExitStack()
        self._documents: dict[tuple[str, Language], dict[str, Document]] = {}

    @cached_property
    def client(self) -> TestClient:
        """A browser without cookies."""
        data, models = self.settings.data_dir, self.settings.models
        return self._stack.enter_context(net.served(data, models))

    @cached_property
    def service(self) -> AppService:
        """The use cases, beside the server."""
        database = self._stack.enter_context(closing(Database(self.settings.database)))
        return AppService(self.settings, database)

    @property
    def words(self) -> Mapping[str, str]:
        """The ids of runs with the word that stands for each in a record."""
        return {run_id: f"<{name}>" for name, run_id in self.runs.ids.items()}

    def export(self, name: str, extension: str, language: str = "en") -> bytes:
        """What the page offers for download."""
        return net.exported(self.client, self.runs.ids[name], extension, language)

    def documents(self, name: str, language: Language) -> dict[str, Document]:
        """What pages and report.html of a run say, of "store" the pages of several runs."""
        if (name, language) not in self._documents:
            shown = dict(pages.documents(self.service, name, self.runs.ids, language))
            if name in NAMES:
                shown["report.html"] = self.export(name, "html", language).decode()
            read = {address: pages.read(each, self.words) for address, each in shown.items()}
            self._documents[name, language] = read
        return self._documents[name, language]

    def close(self) -> None:
        self._stack.close()


@pytest.fixture(scope="module")
def recorded(
    recorded_runs: RecordedRuns, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Recorded]:
    opened = Recorded(recorded_runs, tmp_path_factory.mktemp("net"))
    yield opened
    opened.close()


@pytest.mark.parametrize("name", NAMES)
def test_figures_stay(name: str, recorded: Recorded):
    """Of the library, of every export and of REST."""
    found = {
        "library": _library(recorded, name),
        "exports": _exports(recorded, name),
        "rest": _answers(recorded, name),
    }
    net.check_figures(name, found, tolerance=TOLERANCE.get(name, 1e-9))


@pytest.mark.parametrize("name", [*NAMES, "store"])
def test_charts_of_pages_stay(name: str, recorded: Recorded):
    shown = recorded.documents(name, "en").items()
    found = {address: each.charts for address, each in shown if each.charts}
    net.check_figures(f"{name}.charts", found, tolerance=TOLERANCE.get(name, 1e-9))


@pytest.mark.parametrize("name", [*NAMES, "store"])
def test_sentences_stay(name: str, recorded: Recorded):
    """What the command printed, the files in words, and every page with its links and tables."""
    parts = {}
    if name in NAMES:
        printed = recorded.runs.printed.get(name, "")
        parts["command"] = printed.replace(recorded.runs.ids[name], "ID")
        for extension in ("md", "tex"):
            parts[f"report.{extension}"] = recorded.export(name, extension).decode()
        sentences = net.sentences_apart(json.loads(recorded.export(name, "json")))[1]
        parts["report.json"] = "\n".join(dict.fromkeys(sentences))
    parts |= {address: each.text for address, each in recorded.documents(name, "en").items()}
    whole = "".join(f"== {place}\n{text.strip()}\n\n" for place, text in parts.items())
    net.check_text(f"{name}.en.txt", whole, tolerance=TOLERANCE.get(name, 1e-9))


@pytest.mark.parametrize("name", [*NAMES, "store"])
def test_chinese_sentences_stay(name: str, recorded: Recorded):
    """Each line with Chinese letters once: figures and links are those of the English page."""
    texts = [each.text for each in recorded.documents(name, "zh").values()]
    if name in NAMES:
        texts += [recorded.export(name, kind, "zh").decode() for kind in ("md", "tex")]
    english = {line for each in recorded.documents(name, "en").values() for line in each.lines}
    lines = [re.sub(r"\]\([^)]*\)", "]", line) for text in texts for line in text.splitlines()]
    chinese = dict.fromkeys(line for line in lines if re.search("[\u4e00-\u9fff]", line))
    plain = {re.sub(r"\]\([^)]*\)", "]", line) for line in english}
    whole = "".join(f"{line}\n" for line in chinese if line not in plain)
    net.check_text(f"{name}.zh.txt", whole, tolerance=TOLERANCE.get(name, 1e-9))


@pytest.mark.parametrize("name", [*NAMES, "store"])
def test_pages_have_the_same_links_and_figures_in_each_language(name: str, recorded: Recorded):
    english, chinese = recorded.documents(name, "en"), recorded.documents(name, "zh")
    assert list(english) == list(chinese)
    for address, page in english.items():
        for one, other in zip(page.links, chinese[address].links, strict=True):
            assert re.sub("lang=(en|zh)", "", one) == re.sub("lang=(en|zh)", "", other), address
        assert pages.numbers_of(page.charts) == pages.numbers_of(chinese[address].charts), address
        assert page.figures == chinese[address].figures, address


@pytest.mark.parametrize("name", ["judged", "failed"])
def test_tables_are_the_same_in_each_language(name: str, recorded: Recorded):
    """But for the first sheets of a workbook, which are for people."""
    made = {language: recorded.export(name, "csv", language) for language in ("en", "zh")}
    assert net.csv_columns(made["en"]) == net.csv_columns(made["zh"])
    books = [net.xlsx_columns(recorded.export(name, "xlsx", each)) for each in ("en", "zh")]
    for_people = [[title for title in book if title not in KINDS] for book in books]
    leads = len([title for title in books[0] if title not in books[1]])
    assert leads
    assert [each[:leads] for each in for_people] == [[*book][:leads] for book in books]
    english, chinese = ([*book.items()][leads:] for book in books)
    assert english == chinese


@pytest.mark.parametrize("name", NAMES)
def test_the_page_offers_what_the_command_wrote(name: str, recorded: Recorded):
    if name not in recorded.runs.outputs:
        pytest.skip("no command wrote it")
    written = recorded.runs.outputs[name]
    for file in ("report.json", "report.md", "trials.jsonl"):
        if name != "voted" or file == "trials.jsonl":  # people voted after it was written
            extension = file.removeprefix("report.")
            assert recorded.export(name, extension) == (written / file).read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_rest_gives_what_the_files_have(name: str, recorded: Recorded):
    address = f"/api/v1/runs/{recorded.runs.ids[name]}"
    trials = recorded.client.get(f"{address}/trials?limit=10000").content.splitlines()
    # Cell by cell as they were done, those of the file question by question.
    assert sorted(trials) == sorted(recorded.export(name, "trials.jsonl").splitlines())
    for extension in ("csv", "json", "md"):
        answer = recorded.client.get(f"{address}/report.{extension}")
        assert answer.content == recorded.export(name, extension)


@pytest.mark.parametrize("name", NAMES)
def test_its_bundle_says_the_same(name: str, recorded: Recorded, tmp_path: Path):
    """A store with this run alone, taken into a new one."""
    (tmp_path / "run.sqlite").write_bytes(recorded.export(name, "sqlite"))
    (tmp_path / "models.toml").write_bytes(recorded.runs.models.read_bytes())
    settings = settings_of(tmp_path)
    with closing(Database(settings.database)) as database:
        run_id = import_run(database, [tmp_path / "run.sqlite"]).run_id
    opened = evalui.open(settings.database, run=run_id, models_file=settings.models)
    first = evalui.open(
        recorded.runs.store, run=recorded.runs.ids[name], models_file=recorded.runs.models
    )
    with opened, first:
        for frame in {*FRAMES} - OF_PEOPLE - OF_STORES:
            pd.testing.assert_frame_equal(_own(opened, frame), _own(first, frame))


def test_every_record_belongs_to_a_run():
    kinds = {"figures": ("json", "charts.json"), "texts": ("en.txt", "zh.txt")}
    found = {f"{folder}/{path.name}" for folder in kinds for path in (net.NET / folder).iterdir()}
    known = {
        f"{folder}/{n}.{kind}" for folder, each in kinds.items() for kind in each for n in NAMES
    }
    known |= {"figures/store.charts.json", "texts/store.en.txt", "texts/store.zh.txt"}
    assert known <= found
    assert not {name for name in found - known if name.split("/")[1].split(".")[0] in NAMES}


# ------------------------------------------------------------ what a run says, as data


def _library(recorded: Recorded, name: str) -> dict[str, Any]:
    """Every frame with the types of its columns, and every chart."""
    run_id, models = recorded.runs.ids[name], recorded.runs.models
    with evalui.open(recorded.runs.store, run=run_id, models_file=models) as run:
        found = {frame: _frame(_own(run, frame)) for frame in FRAMES}
        charts = charts_of(run)
    return {**found, "charts": charts, "votes": _without(found["votes"], "created")}


def _own(run: evalui.Run, name: str) -> pd.DataFrame:
    return run.frame(name) if name in KINDS else getattr(run, name)()


def _frame(frame: pd.DataFrame) -> dict[str, Any]:
    kinds = {str(name): str(kind) for name, kind in frame.dtypes.items()}
    rows = json.loads(
        frame.to_json(orient="split", double_precision=15, date_format="iso", force_ascii=False)
    )
    columns = zip(*rows["data"], strict=True) if rows["data"] else [()] * len(rows["columns"])
    cells = {name: [*cells] for name, cells in zip(rows["columns"], columns, strict=True)}
    return {"rows": len(frame), "types": kinds, "columns": cells}


def _exports(recorded: Recorded, name: str) -> dict[str, Any]:
    """Every format but those in words, which are compared as text."""
    parquet = pd.read_parquet(io.BytesIO(recorded.export(name, "trials.parquet")))
    found = {
        "json": net.report_json(json.loads(recorded.export(name, "json"))),
        "csv": net.csv_columns(recorded.export(name, "csv")),
        "xlsx": net.xlsx_columns(recorded.export(name, "xlsx")),
        "trials.jsonl": net.json_lines(recorded.export(name, "trials.jsonl").decode()),
        "trials.csv": net.csv_columns(recorded.export(name, "trials.csv")),
        "trials.parquet": _frame(parquet),
        "metrics.csv": net.csv_columns(recorded.export(name, "metrics.csv")),
        "metrics.json": net.table_of(json.loads(recorded.export(name, "metrics.json"))),
        "eee.zip": _archive(recorded.export(name, "eee.zip")),
    }
    if name in WITH_ARCHIVE:
        found["zip"] = _archive(recorded.export(name, "zip"))
    if written := recorded.runs.outputs.get(name):
        found["folder"] = sorted(path.name for path in written.iterdir())
    return found


def _archive(content: bytes) -> dict[str, Any]:
    """The files of a zip, those that are tables or JSON with what they hold."""
    readers = {
        "csv": net.csv_columns,
        "xlsx": net.xlsx_columns,
        "jsonl": lambda file: net.json_lines(file.decode()),
        "json": lambda file: net.sentences_apart(json.loads(file))[0],
        "txt": lambda file: file.decode().splitlines(),
    }
    held = net.archive(content)
    kinds = {file: file.rpartition(".")[2] for file in held}
    return {
        file: net.report_json(json.loads(each))
        if file == "report.json"
        else readers[kinds[file]](each)
        if kinds[file] in readers
        else None
        for file, each in held.items()
    }


def _answers(recorded: Recorded, name: str) -> dict[str, Any]:
    """Routes that read the run, without their times."""
    found: dict[str, Any] = {}
    for route in ROUTES:
        answer = recorded.client.get(f"/api/v1/runs/{recorded.runs.ids[name]}{route}")
        is_lines = route == "/votes" and answer.status_code == 200
        body = net.json_lines(answer.text) if is_lines else answer.json()
        body = net.report_json(body) if route == "/figures" else net.sentences_apart(body)[0]
        found[route or "/"] = {"status": answer.status_code, "body": _steady(body)}
    return found


def _steady(body: Any, key: str = "") -> Any:
    if isinstance(body, list):
        return [_steady(each, key) for each in body]
    if isinstance(body, dict):
        return {name: _steady(each, name) for name, each in body.items()}
    return "TIME" if key in PASSING and body else body


def _without(table: dict[str, Any], column: str) -> dict[str, Any]:
    columns = {name: cells for name, cells in table["columns"].items() if name != column}
    return {**table, "columns": columns}
