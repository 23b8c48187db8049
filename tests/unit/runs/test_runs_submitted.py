"""Specifications with uploads: located, read, and equal to those with paths."""

from pathlib import Path

import pytest

from evalui.datasets.base import Limits
from evalui.errors import SpecError
from evalui.runs.spec import read_as, read_spec, write_spec
from evalui.runs.submission import read_submitted
from evalui.runs.submit import read_datasets
from evalui.runs.submitted import SubmittedSpec, locate

GOOD = "id,question,A,B,C,D,answer\n1,Capital of France?,Paris,Rome,Oslo,Bern,A\n"
OPEN = '{"query": "Who wrote Faust?", "response": "Goethe"}\n'


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "law_val.csv").write_text(GOOD)
    (tmp_path / "qa.jsonl").write_text(OPEN)
    (tmp_path / "answers.jsonl").write_text('{"index": 1, "answer": "Goethe"}\n')
    return tmp_path


def test_what_is_read_is_what_the_paths_would_give(files: Path):
    uploads = {
        "a": [files / "law_val.csv"],
        "b": [files / "qa.jsonl"],
        "c": [files / "answers.jsonl"],
    }
    sent = read_as(
        SubmittedSpec,
        '{"version": 2, "datasets": [{"upload": "a"}, {"upload": "b"}], "models": ["m"], "seed": 3,'
        ' "answers": [{"model": "x", "upload": "c", "dataset": "b"}],'
        ' "modes": [{"mode": "question_answer"}],'
        ' "judging": {"judges": ["j"]}}',
    )
    plain, loaded = read_submitted(locate(sent, uploads.__getitem__), Limits())
    wanted = read_spec(
        '{"version": 2, "datasets": ["law_val.csv", "qa.jsonl"], "models": ["m"], "seed": 3,'
        ' "answers": [{"model": "x", "path": "answers.jsonl", "dataset": "qa"}],'
        ' "modes": [{"mode": "question_answer"}], "judging": {"judges": ["j"]}}'
    )
    by_path = read_datasets(wanted, base=files)
    assert [each.dataset for each in loaded.values()] == [one.dataset for one in by_path.values()]
    assert [source.key for source in plain.datasets] == list(loaded) == ["law", "qa"]
    assert plain.modes == wanted.modes
    assert (plain.judging, plain.seed, plain.version) == (wanted.judging, 3, 2)
    (answers,) = plain.answers
    assert (answers.path, answers.dataset) == (str(files / "answers.jsonl"), "qa")
    assert '"upload"' not in write_spec(plain)


def test_what_is_written_shows_no_path():
    located = locate(
        read_as(SubmittedSpec, '{"datasets": [{"upload": "a"}], "models": ["m"], "mode": "cloze"}'),
        lambda _: [Path("/secret/a.csv")],
    )
    assert located.datasets[0].paths == ("/secret/a.csv",)
    assert "secret" not in located.model_dump_json()


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('"datasets": ["a.csv"]', "spec-path"),
        ('"datasets": [{"path": ["a.csv"], "upload": "u"}]', "spec-path"),
        ('"datasets": [{"name": "a"}]', "spec-no-upload"),
        ('"datasets": [{"upload": "u"}], "answers": [{"model": "m"}]', "spec-no-upload"),
        ('"datasets": [{"upload": "u"}], "answers": [{"model": "m", "path": "a"}]', "spec-path"),
        (
            '"datasets": [{"upload": "u"}], "answers": [{"model": "m", "run": "r", "path": "a"}]',
            "spec-path",
        ),
        (
            '"datasets": [{"upload": "u"}], "answers": [{"model": "m", "upload": "u"}]',
            "spec-one-file",
        ),
    ],
)
def test_only_uploads_are_located(text: str, key: str):
    sent = read_as(SubmittedSpec, f'{{{text}, "models": ["m"], "mode": "cloze"}}')
    with pytest.raises(SpecError) as refused:
        locate(sent, lambda _: [Path("a"), Path("b")])
    assert refused.value.sentence.key == f"error.{key}"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('{"datasets": [{"upload": "\\ud800"}]}', "half-character"),
        ('{"a": ' * 33 + "1" + "}" * 33, "spec-too-deep"),
    ],
)
def test_what_cannot_be_stored_is_refused(text: str, key: str):
    with pytest.raises(SpecError) as refused:
        read_as(SubmittedSpec, text)
    assert refused.value.sentence.key == f"error.{key}"


@pytest.mark.parametrize(
    "named",
    [
        '"name": "{}", "datasets": [{{"upload": "a"}}]',
        '"datasets": [{{"upload": "a", "name": "{}"}}]',
        '"datasets": [{{"upload": "a"}}], "answers": [{{"model": "{}", "upload": "b"}}]',
    ],
)
def test_a_name_is_no_longer_than_one_of_the_form(named: str):
    text = '{{"version": 2, "models": ["m"], "mode": "cloze", {}}}'
    read_as(SubmittedSpec, text.format(named.format("x" * 120)))
    with pytest.raises(SpecError, match="120"):
        read_as(SubmittedSpec, text.format(named.format("x" * 121)))
