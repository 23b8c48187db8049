"""`evalui import` and `evalui gate` as they are typed."""

import json
from contextlib import closing
from pathlib import Path
from shutil import copytree
from xml.etree import ElementTree

import pytest

from evalui.cli.main import main
from evalui.store.connection import Database

LOGS = Path(__file__).parents[2] / "golden" / "harnesses"


def test_an_import_prints_the_three_values_and_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    store = tmp_path / "evalui.sqlite"
    assert main(["import", str(LOGS / "helm"), "--name", "H", "--database", str(store)]) == 0
    out, err = capsys.readouterr()
    assert (
        "simple/model1\tgeography\texact_match\tprinted 0.2500\tits marks 0.2500\tevalui 0.3750"
        in out
    )
    assert "(H)" in err
    assert main(["runs", "--database", str(store), "--json"]) == 0
    (run,) = json.loads(capsys.readouterr().out)
    assert (run["name"], run["state"], run["done"], run["total"]) == ("H", "done", 8, 8)


def test_an_import_prints_figures_of_calibration_and_what_the_harness_dropped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    decisions, store = LOGS.parent / "evalscope_decisions", str(tmp_path / "evalui.sqlite")
    assert main(["import", str(decisions / "choices"), "--database", store]) == 0
    lines = capsys.readouterr().out.splitlines()
    model = "seeded-decider\tgeneral_decision"
    assert f"{model}\tnll\tprinted 1.1412\tits marks 1.1412\tevalui 1.1412" in lines
    assert f"{model}\taurc\tprinted 0.3148\tits marks -\tevalui 0.3148" in lines
    assert main(["import", str(decisions / "faulty"), "--database", store]) == 0
    assert "that EvalScope took for errors" in capsys.readouterr().err


def test_runs_lists_those_of_everybody_with_their_owners(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    store = tmp_path / "evalui.sqlite"
    for name in ("of ann", "of this machine"):
        assert main(["import", str(LOGS / "helm"), "--name", name, "--database", str(store)]) == 0
    with closing(Database(store)) as database, database.writing() as connection:
        connection.execute("UPDATE run SET owner = 'ann' WHERE name = 'of ann'")
    capsys.readouterr()
    listed: dict[str, list[list[str]]] = {}
    for options in ("", "--mine", "--owner ann", "--owner bob"):
        assert main(["runs", "--database", str(store), *options.split()]) == 0
        rows = capsys.readouterr().out.splitlines()
        listed[options] = [row.split("\t")[-2:] for row in rows]
    ann, here = ["of ann", "ann"], ["of this machine", "local"]
    assert listed == {"": [here, ann], "--mine": [here], "--owner ann": [ann], "--owner bob": []}


def test_a_folder_that_is_no_log_says_what_to_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "notes.txt").write_text("nothing")
    store = str(tmp_path / "evalui.sqlite")
    assert main(["import", str(tmp_path / "notes.txt"), "--database", store]) == 2
    printed = capsys.readouterr().err
    assert "Name the folder that the harness has written" in printed
    assert printed.startswith("evalui: ")  # and no bar of no answers before it
    assert main(["import", str(tmp_path / "away"), "--database", store]) == 2
    assert "neither a file nor a folder" in capsys.readouterr().err


def test_a_mapping_reads_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    mapping = ["question=prompt", "options=one,two,three", "answer=right", "reply=output"]
    command = ["import", str(LOGS / "table/answers.csv"), "--database", str(tmp_path / "e.sqlite")]
    assert main([*command, "--mapping", *mapping]) == 0
    assert "left out: Answers to answers whose options disagree" in capsys.readouterr().err


def changed(folder: Path) -> Path:
    """The golden log with every answer of one task wrong."""
    copytree(LOGS / "lmeval", folder)
    path = next(folder.rglob("samples_texts_*"))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        for slot, score in enumerate(line["filtered_resps"]):
            score[0] = "-9.0" if slot == int(line["target"]) else f"-{slot + 1}.0"
        line["acc"] = 0.0
    path.write_text("\n".join(map(json.dumps, lines)) + "\n")
    return folder


def test_a_gate_takes_logs_and_ids(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    store, junit = tmp_path / "evalui.sqlite", tmp_path / "gate.xml"
    log = str(LOGS / "lmeval")
    main(["import", str(changed(tmp_path / "log")), "--database", str(store)])
    main(["runs", "--database", str(store)])
    run = capsys.readouterr().out.splitlines()[-1].split("\t")[0]
    gate = ["gate", log, run, "--database", str(store), "--junit", str(junit)]
    assert main([*gate, "--allow", "30", "--dataset", "texts"]) == 3
    assert "undecided: " in capsys.readouterr().out
    assert main([*gate, "--allow", "50", "--dataset", "texts"]) == 0
    assert ElementTree.parse(junit).getroot()[0].get("tests") == "1"


def test_a_gate_that_fails_exits_with_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    table = "id,question,A,B,key,reply\n" + "".join(
        f"{n},Is {n} even?,yes,no,{'AB'[n % 2]},{{}}\n" for n in range(60)
    )
    for name, replies in (("old", "AB"), ("new", "AA")):
        folder = tmp_path / name
        folder.mkdir()
        rows = table.format(*(replies[n % 2] for n in range(60)))
        (folder / "answers.csv").write_text(rows)
        mapping = ["question=question", "options=A,B", "answer=key", "reply=reply", "id=id"]
        store = str(folder / "evalui.sqlite")
        imported = ["import", str(folder / "answers.csv"), "--database", store]
        assert main([*imported, "--mapping", *mapping]) == 0
    junit = tmp_path / "gate.xml"
    gate = ["gate", str(tmp_path / "old"), str(tmp_path / "new"), "--allow", "2"]
    capsys.readouterr()
    assert main([*gate, "--junit", str(junit)]) == 1
    assert capsys.readouterr().out.startswith("worse: ")
    assert ElementTree.parse(junit).getroot()[0].get("failures") == "1"


def test_a_gate_takes_a_folder_of_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    for name in ("before", "after"):
        main(
            [
                "import",
                str(LOGS / "opencompass"),
                "--database",
                str(tmp_path / name / "evalui.sqlite"),
            ]
        )
    capsys.readouterr()
    folders = [str(tmp_path / "before"), str(tmp_path / "after")]
    gate = ["gate", *folders, "--metric", "robust", "--allow", "40"]
    assert main(gate) == 0
    assert "pass: pick-a on geography-circular: robust 0.00 points" in capsys.readouterr().out


def test_what_a_gate_does_not_know_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    store = str(tmp_path / "evalui.sqlite")
    assert main(["gate", "abc", "def", "--allow", "1", "--database", store]) == 2
    assert "abc is no file or folder" in capsys.readouterr().err
