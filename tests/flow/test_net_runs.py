"""Recorded runs: every file that a run leaves or offers, in figures and in words."""

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import net_examples as net
import pytest
from endpoint_flow_examples import Place
from starlette.testclient import TestClient

pytestmark = pytest.mark.slow

RUNS = ("choice", "pair", "endpoint", "open", "rated")
# float32 products differ from one library to the next.
TOLERANCE = {"pair": 1e-4}


class Recorded:
    """Runs of the command line in one store, each done once, and a server on that store."""

    def __init__(self, folder: Path, models: Path) -> None:
        self.folder = folder
        self._models = models
        self._stack = ExitStack()
        self._kept: dict[tuple[str, ...], bytes] = {}
        self._said: dict[str, tuple[int, str]] = {}
        self._client: TestClient | None = None

    def files(self, name: str, capsys: pytest.CaptureFixture[str]) -> Path:
        """The folder with what `evalui run` left."""
        kept = self.folder / name
        if not kept.exists():
            out = self.folder / "out"
            capsys.readouterr()
            code = net.run(net.INPUTS / f"{name}.json", out, self._models)
            told = capsys.readouterr()
            shown = [line for line in told.err.splitlines() if line.startswith("evalui: ")]
            # The id of a run is drawn at random.
            shown = [re.sub(r"^evalui: run \S+;", "evalui: run ID;", line) for line in shown]
            self._said[name] = code, "".join(f"{line}\n" for line in [*shown, told.out])
            kept.mkdir()
            for path in out.iterdir():
                if not path.name.startswith("evalui.sqlite"):
                    shutil.move(path, kept / path.name)
        return kept

    def said(self, name: str) -> tuple[int, str]:
        """The exit code of a run, and what it printed beside its bar."""
        return self._said[name]

    def export(self, name: str, extension: str, language: str = "en") -> bytes:
        """What the page offers for download, made once."""
        key = (name, extension, language)
        if key not in self._kept:
            data = self.folder / "out"
            if self._client is None:
                self._client = self._stack.enter_context(net.served(data, self._models))
            run_id = net.run_ids(data / "evalui.sqlite")[f"Net: {name}"]
            self._kept[key] = net.exported(self._client, run_id, extension, language)
        return self._kept[key]

    def close(self) -> None:
        self._stack.close()


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorded]:
    folder = tmp_path_factory.mktemp("net")
    place = Place(folder / "server")
    place.be(delay=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVALUI_DATA_DIR", str(folder / "data"))
        opened = Recorded(folder, net.models_file(folder, place.url))
        try:
            yield opened
        finally:
            opened.close()
            place.kill()


@pytest.fixture(params=RUNS)
def name(
    request: pytest.FixtureRequest, recorded: Recorded, capsys: pytest.CaptureFixture[str]
) -> str:
    recorded.files(request.param, capsys)
    return request.param


def test_figures_of_the_folder_stay(name: str, recorded: Recorded):
    folder = recorded.folder / name
    whole = json.loads((folder / "report.json").read_text())
    figures, _ = net.sentences_apart(whole)
    net.check_figures(
        f"{name}.folder",
        {
            "code": recorded.said(name)[0],
            "files": sorted(path.name for path in folder.iterdir()),
            "report.json": figures,
            "lines": {
                path.name: net.json_lines(path.read_text())
                for path in sorted(folder.glob("*.jsonl"))
            },
            "numbers of report.html": net.page_numbers((folder / "report.html").read_bytes()),
        },
        tolerance=TOLERANCE.get(name, 1e-9),
    )


def test_cells_of_the_downloads_stay(name: str, recorded: Recorded):
    sheets = net.xlsx_columns(recorded.export(name, "xlsx"))
    assert sheets.pop("metrics")["rows"]  # a row for each metric: see the exchange of metrics
    net.check_figures(
        f"{name}.tables",
        {"csv": net.csv_columns(recorded.export(name, "csv")), "xlsx": sheets},
        tolerance=TOLERANCE.get(name, 1e-9),
    )


@pytest.mark.parametrize("name", ["endpoint", "rated"], indirect=True)
def test_tables_are_the_same_in_each_language(name: str, recorded: Recorded):
    assert net.csv_columns(recorded.export(name, "csv", "zh")) == net.csv_columns(
        recorded.export(name, "csv")
    )
    assert net.xlsx_columns(recorded.export(name, "xlsx", "zh")) == net.xlsx_columns(
        recorded.export(name, "xlsx")
    )


def test_the_page_offers_what_the_command_wrote(name: str, recorded: Recorded):
    folder = recorded.folder / name
    assert recorded.export(name, "json") == (folder / "report.json").read_bytes()
    assert recorded.export(name, "md") == (folder / "report.md").read_bytes()


@pytest.mark.parametrize("name", ["rated"], indirect=True)
def test_the_archive_holds_the_folder_and_the_tables(name: str, recorded: Recorded):
    held = net.archive(recorded.export(name, "zip"))
    folder = recorded.folder / name
    for path in folder.iterdir():
        assert held.pop(path.name) == path.read_bytes(), path.name
    sheets = net.xlsx_columns(held.pop("report.xlsx"))
    assert sheets == net.xlsx_columns(recorded.export(name, "xlsx"))
    signatures = held.pop("signatures.txt").decode()
    net.check_figures(
        f"{name}.archive",
        {
            "signatures": signatures.splitlines(),
            "tables": {
                file: net.csv_columns(content)
                for file, content in held.items()
                if file != "metrics.csv"  # a row for each metric
            },
        },
    )


def test_sentences_of_the_command_stay(name: str, recorded: Recorded):
    whole = json.loads((recorded.folder / name / "report.json").read_text())
    _, sentences = net.sentences_apart(whole)
    lines = "".join(f"{each}\n" for each in dict.fromkeys(sentences))
    net.check_text(f"{name}.command.txt", f"{recorded.said(name)[1]}\nreport.json:\n{lines}")


@pytest.mark.parametrize("language", net.LANGUAGES)
def test_sentences_of_the_report_stay(name: str, language: str, recorded: Recorded):
    net.check_text(f"{name}.{language}.md", recorded.export(name, "md", language).decode())


# That of the others says what their report.md says, in the same blocks; their numbers are compared.
@pytest.mark.parametrize("name", ["endpoint", "open", "rated"], indirect=True)
def test_sentences_of_the_page_to_take_away_stay(name: str, recorded: Recorded):
    page = (recorded.folder / name / "report.html").read_bytes()
    net.check_text(f"{name}.en.html.txt", net.page_text(page))


@pytest.mark.parametrize("name", ["endpoint", "rated"], indirect=True)
def test_chinese_sentences_of_the_page_to_take_away_stay(name: str, recorded: Recorded):
    net.check_text(f"{name}.zh.html.txt", net.page_text(recorded.export(name, "html", "zh")))
