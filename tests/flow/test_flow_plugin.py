"""A package of others adds a format, a backend, a mode, a metric and an analysis, a file each."""

import json
import os
import re
import shutil
import subprocess
import sys
from difflib import SequenceMatcher
from pathlib import Path

import pytest
from extend_examples import PLUGIN, files_of_page
from settings_examples import table_of

from evalui.generation import SETTINGS, declared_settings


def evalui(folder: Path, plugin: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command line in a process that finds the package on its path."""
    path = os.pathsep.join([str(plugin), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-m", "evalui.cli", *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": path, "EVALUI_DATA_DIR": str(folder / "data")},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the page: one in the package's format, a model of its backend, its mode."""
    folder = tmp_path_factory.mktemp("desk")
    files = files_of_page()
    for name in ("quiz.txt", "models.toml", "spec.json"):
        (folder / name).write_text(files[name], encoding="utf-8")
    return folder


def test_the_page_shows_the_files_of_the_package():
    shown = files_of_page()
    package = [path for path in PLUGIN.rglob("*") if path.suffix in (".py", ".toml")]
    assert len(package) == 11
    for path in package:
        name = path.relative_to(PLUGIN).as_posix()
        if path.name != "__init__.py":
            assert shown[name] == path.read_text(encoding="utf-8"), name


@pytest.mark.parametrize(
    ("language", "mode", "metric", "section", "finding"),
    [
        ("en", "One letter", "Reply length", "Never answered correctly", "1 of 3 questions."),
        ("zh", "单个字母", "回答长度", "无人答对", "3 题中的 1 题。"),
    ],
)
def test_a_run_uses_all_five_and_its_report_names_them(
    folder: Path, plugin: Path, language: str, mode: str, metric: str, section: str, finding: str
):
    out = folder / language
    options = ("--out", out.name, "--models-file", "models.toml", "--language", language)
    done = evalui(folder, plugin, "run", "spec.json", *options)
    assert done.returncode == 0, done.stderr
    report = (out / "report.md").read_text(encoding="utf-8")
    lines = report.splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("|") and metric in line)
    head, _, row = map(_cells, lines[start : start + 3])
    cells = dict(zip(head, row, strict=True))
    assert mode in row
    assert cells[metric] == "1.000"
    page = (out / "report.html").read_text(encoding="utf-8")
    assert f">{mode}<" in page
    assert f">{metric}<" in page
    assert f"# {section}\n\n{finding}\n" in report
    assert f"<b>{section}</b>" in page
    assert "And which of them is not?" in report[report.index(f"# {section}") :]
    whole = json.loads((out / "report.json").read_text(encoding="utf-8"))
    ((made,),) = whole["analyses"].values()
    assert (made["type"], made["name"], made["finding"]) == ("details", section, finding)
    (cell,) = whole["overview"]
    assert "|plugins:evalui-example 1.0|" in cell["signature"]
    assert (cell["n"], cell["reply_length"]) == (3, 1.0)
    trials = [json.loads(line) for line in (out / "trials.jsonl").read_text().splitlines()]
    assert [trial["reply"] for trial in trials] == ["B", "A", "A", "B", "A", "B"]


def test_a_setting_of_its_mode_is_an_option_and_stands_in_the_signature(
    folder: Path, plugin: Path, monkeypatch: pytest.MonkeyPatch
):
    options = ("--out", "own", "--models-file", "models.toml", "--instruction", "Just a letter.")
    done = evalui(folder, plugin, "run", "spec.json", *options)
    assert done.returncode == 0, done.stderr
    (cell,) = json.loads((folder / "own" / "report.json").read_text(encoding="utf-8"))["overview"]
    assert '|instruction:"Just a letter."|' in cell["signature"]
    other = ("run", "spec.json", *options, "--mode", "generation")
    refused = evalui(folder, plugin, *other)
    assert refused.returncode == 2
    assert "None of the modes has any use for “--instruction”" in refused.stderr
    monkeypatch.syspath_prepend(PLUGIN)
    from evalui_example.one_letter import OneLetterSettings

    (own,) = (
        each for name, each in declared_settings(OneLetterSettings).items() if name not in SETTINGS
    )
    page = (PLUGIN.parents[1] / "docs" / "extend.md").read_text(encoding="utf-8")
    assert table_of([own]) in re.sub(r"(?m)^  ", "", page)


def test_a_package_whose_format_alone_is_used_is_signed(folder: Path, plugin: Path, tmp_path: Path):
    site = tmp_path / "site"
    shutil.copytree(plugin, site)
    (names,) = site.glob("*.dist-info/entry_points.txt")
    names.write_text("[evalui.formats]\naiken = evalui_example.aiken:AIKEN\n", encoding="utf-8")
    for source, copy in (
        (site / "evalui_example" / "aiken.py",) * 2,
        (folder / "quiz.txt", tmp_path / "quiz.txt"),
    ):  # Aiken itself is read without the package, too
        text = source.read_text(encoding="utf-8").replace("ANSWER: ", "RIGHT= ")
        copy.write_text(text, encoding="utf-8")
    spec = {"datasets": ["quiz.txt"], "models": ["m"], "mode": "generation"}
    (tmp_path / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
    models = '[m]\nbackend = "scripted"\noptions = { rule = "perfect" }\n'
    (tmp_path / "models.toml").write_text(models, encoding="utf-8")
    options = ("--out", "report", "--models-file", "models.toml")
    done = evalui(tmp_path, site, "run", "spec.json", *options)
    assert done.returncode == 0, done.stderr
    whole = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))
    assert "|plugins:evalui-example 1.0|" in whole["overview"][0]["signature"]


SURVEY = """id,question,A,B,C,votes
1,Which river is longer?,Rhine,Danube,,B B A
2,Which lake is deeper?,Baikal,Chad,Eyre,A
3,Which hill is higher?,Ben Nevis,Snowdon,,A B
"""


def test_an_answer_key_of_a_package_is_used_by_command_and_library_and_stands_in_the_signature(
    plugin: Path, tmp_path: Path
):
    (tmp_path / "survey.csv").write_text(SURVEY, encoding="utf-8")
    entry = {"path": "survey.csv", "answer_key": "most_votes"}
    models = '[perfect]\nbackend = "scripted"\noptions = { rule = "perfect" }\n'
    (tmp_path / "models.toml").write_text(models, encoding="utf-8")
    spec = {"version": 3, "datasets": [entry], "models": ["perfect"], "mode": "generation"}
    (tmp_path / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
    options = ("--out", "report", "--models-file", "models.toml")
    refused = evalui(tmp_path, plugin, "run", "spec.json", *options)
    assert refused.returncode == 2
    assert "survey.csv, line 4, column most_votes: found" in refused.stderr
    assert "ValueError: A and B have as many votes" in refused.stderr
    checked = evalui(tmp_path, plugin, "check", "survey.csv", "--answer-key", "most_votes")
    assert " * B. Danube" in checked.stdout
    assert "most votes (most_votes)" in checked.stdout
    assert '"answer_key": "most_votes"' in checked.stdout

    spec["datasets"] = [entry | {"skip_faulty": True}]
    (tmp_path / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
    done = evalui(tmp_path, plugin, "run", "spec.json", *options)
    assert done.returncode == 0, done.stderr
    (cell,) = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))[
        "overview"
    ]
    assert "|plugins:evalui-example 1.0|" in cell["signature"]
    assert (cell["n"], cell["acc_origin"]) == (2, 100.0)
    trials = [
        json.loads(line) for line in (tmp_path / "report" / "trials.jsonl").read_text().splitlines()
    ]
    assert [trial["answer"] for trial in trials] == ["B", "A"]

    code = (
        "import evalui\n"
        f"run = evalui.evaluate([{spec['datasets'][0]!r}], models='perfect', mode='generation',"
        " models_file='models.toml', progress=False)\n"
        "print(run.questions()['answer'].tolist())\n"
    )
    path = os.pathsep.join([str(plugin), os.environ.get("PYTHONPATH", "")])
    by_library = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": path, "EVALUI_DATA_DIR": str(tmp_path / "library")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert by_library.returncode == 0, by_library.stderr
    assert by_library.stdout.strip() == "['B', 'A']"


def test_a_macro_average_of_one_file_is_shown_compared_and_exported_where_there_are_subjects(
    plugin: Path, tmp_path: Path
):
    head = "id,question,A,B,C,D,answer,subject\n"
    row = "{n},What is {n} plus {n}?,1,2,3,{n},{right},{subject}\n"
    with_subjects = [("maths", "A"), ("maths", "A"), ("maths", "D"), ("law", "B")]
    lines = [
        row.format(n=n, right=right, subject=subject)
        for n, (subject, right) in enumerate(with_subjects, start=10)
    ]
    (tmp_path / "quiz.csv").write_text(head + "".join(lines), encoding="utf-8")
    spec = {"version": 3, "datasets": ["quiz.csv"], "models": ["always-a", "perfect"]}
    spec |= {"mode": "generation"}
    (tmp_path / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
    models = "".join(
        f'[{name}]\nbackend = "scripted"\noptions = {{ rule = "{rule}" }}\n'
        for name, rule in (("always-a", "always-A"), ("perfect", "perfect"))
    )
    (tmp_path / "models.toml").write_text(models, encoding="utf-8")
    options = ("--out", "report", "--models-file", "models.toml", "--language", "en")
    options += ("--metrics", "macro_accuracy")
    done = evalui(tmp_path, plugin, "run", "spec.json", *options)
    assert done.returncode == 0, done.stderr
    report = tmp_path / "report"
    figures, *_ = json.loads((report / "report.json").read_text(encoding="utf-8"))["overview"]
    assert figures["acc_origin"] == 50
    assert figures["macro_accuracy"] == pytest.approx(100 * (2 / 3 + 0) / 2)
    text = (report / "report.md").read_text(encoding="utf-8")
    assert "| Rank | Model | Macro accuracy |" in text
    assert "Pairs in Macro accuracy" in text
    assert "is not shown" not in text.partition("# Pairs")[0]
    assert "macro_accuracy" in exported(tmp_path, plugin, done)


def test_a_scorer_of_one_file_stands_in_table_export_and_trials(plugin: Path, tmp_path: Path):
    questions = [
        {"query": "Capital of France?", "response": "Paris"},
        {"query": "2+2?", "response": "4"},
    ]
    rows = "".join(f"{json.dumps(row)}\n" for row in questions)
    (tmp_path / "qa.jsonl").write_text(rows, encoding="utf-8")
    spec = {"version": 3, "datasets": ["qa.jsonl"], "models": ["demo-late", "demo-early"]}
    spec |= {"mode": "question_answer"}
    (tmp_path / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
    options = ("--out", "report", "--language", "en", "--metrics", "edit_similarity", "bleu-1")
    done = evalui(tmp_path, plugin, "run", "spec.json", *options)
    assert done.returncode == 0, done.stderr
    report = tmp_path / "report"
    text = (report / "report.md").read_text(encoding="utf-8")
    assert "| Rank | Model | Edit similarity | bleu-1 |" in text
    assert "Pairs in Edit similarity" in text
    whole = json.loads((report / "report.json").read_text(encoding="utf-8"))
    for cell in whole["cells"]:
        assert "|plugins:evalui-example 1.0|" in cell["signature"]
    line, *_ = (report / "trials.jsonl").read_text(encoding="utf-8").splitlines()
    value = json.loads(line)["figures"]["edit_similarity"]
    reply = json.loads(line)["reply"]
    assert value == SequenceMatcher(None, "Paris", reply.strip(), autojunk=False).ratio()


def test_a_text_mode_of_one_file_stands_in_table_comparison_and_export(
    plugin: Path, tmp_path: Path
):
    questions = [
        {"query": "Capital of France?", "response": "Paris"},
        {"query": "2+2?", "response": "4"},
    ]
    rows = "".join(f"{json.dumps(row)}\n" for row in questions)
    (tmp_path / "qa.jsonl").write_text(rows, encoding="utf-8")
    spec = {"version": 3, "datasets": ["qa.jsonl"], "models": ["right", "long"], "mode": "one_line"}
    (tmp_path / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
    models = "".join(
        f'[{name}]\nbackend = "scripted"\noptions = {{ rule = "{rule}" }}\n'
        for name, rule in (("right", "perfect"), ("long", "verbose"))
    )
    (tmp_path / "models.toml").write_text(models, encoding="utf-8")
    options = ("--out", "report", "--models-file", "models.toml", "--language", "en")
    done = evalui(
        tmp_path,
        plugin,
        "run",
        "spec.json",
        *options,
        "--metrics",
        "exact_match",
        "edit_similarity",
    )
    assert done.returncode == 0, done.stderr
    report = tmp_path / "report"
    text = (report / "report.md").read_text(encoding="utf-8")
    assert "| Rank | Model | exact\\_match | Edit similarity |" in text
    assert "is not shown" not in text
    assert "Pairs in exact\\_match" in text
    whole = json.loads((report / "report.json").read_text(encoding="utf-8"))
    assert [cell["exact_match"] for cell in whole["answers"]] == [100.0, 0.0]
    for cell in whole["answers"]:
        assert "|plugins:evalui-example 1.0|" in cell["signature"]
        assert "|max:128|" in cell["signature"]
    ((name, (section,)),) = whole["analyses"].items()
    assert (name, section["name"]) == ("one_line.lengths", "Length of the lines")
    assert "Length of the lines" in (report / "report.html").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in (report / "trials.jsonl").read_text().splitlines()]
    chosen = [pair["measure"] for pair in whole["pairs"] if pair["mode"]]
    assert chosen == ["exact_match", "edit_similarity"]
    assert "edit_similarity" in exported(tmp_path, plugin, done)
    assert [line["reply"] for line in lines if line["model"] == "right"] == ["Paris", "4"]
    assert all("\n" not in line["reply"] for line in lines)


def test_without_the_package_its_format_is_named(folder: Path, tmp_path: Path):
    done = evalui(folder, tmp_path, "run", "spec.json", "--out", "none")
    assert done.returncode == 2
    assert "A package reads such files" in done.stderr


def exported(folder: Path, plugin: Path, done: subprocess.CompletedProcess[str]) -> str:
    """The table of metrics of a run that is done, as CSV."""
    (run,) = re.findall(r"evalui: run (\S+);", done.stderr)
    store = ("--database", str(folder / "report" / "evalui.sqlite"))
    table = evalui(folder, plugin, "export", run, "csv", *store, "--models-file", "models.toml")
    assert table.returncode == 0, table.stderr
    return table.stdout


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]
