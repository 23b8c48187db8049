"""What a run says of writing is what a server gets, by a specification and by the command line."""

import json
from pathlib import Path
from typing import Any

import pytest
from fake_server import FakeServer

from evalui.cli.main import main

_QUESTIONS = [
    {"query": f"What is the city of land {n}?", "response": f"Townburg {n}"} for n in range(1, 4)
]
_PROFILE = {"model": "m", "chat": True, "thoughts": "", "letters": True}


def run(folder: Path, server: FakeServer, mode: dict[str, Any], *options: str) -> int:
    lines = "".join(json.dumps(each) + "\n" for each in _QUESTIONS)
    (folder / "cities.jsonl").write_text(lines)
    (folder / "models.toml").write_text(
        '[m]\nbackend = "openai"\npath = "m"\nchat = true\n[m.options]\n'
        f'base_url = "{server.url}"\n'
        '[rule]\nbackend = "scripted"\nbaseline = true\n[rule.options]\nrule = "perfect"\n'
    )
    spec = {"datasets": ["cities.jsonl"], "models": ["m", "rule"], "modes": [mode]}
    (folder / "spec.json").write_text(json.dumps(spec))
    arguments = ["run", str(folder / "spec.json"), "--out", str(folder / "out")]
    return main([*arguments, "--models-file", str(folder / "models.toml"), "--no-reuse", *options])


def sent(server: FakeServer) -> list[dict[str, Any]]:
    """The bodies of the questions."""
    return [body for _, body in server.requests if "city of land" in json.dumps(body)]


def signatures(folder: Path) -> dict[str, str]:
    report = json.loads((folder / "out" / "report.json").read_text())
    return {each["model"]: each["signature"] for each in report["answers"]}


@pytest.mark.parametrize("by", ["specification", "options"])
def test_settings_reach_the_server_and_the_signature(
    by: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    given = {"temperature": 0.7, "top_p": 0.9, "reasoning_effort": "low", "system_prompt": "Short."}
    options = [
        f"--{name.replace('_', '-')}={value}" for name, value in given.items() if by == "options"
    ]
    mode = {"mode": "question_answer"} | (given if by == "specification" else {})
    with FakeServer(_PROFILE) as server:
        code = run(tmp_path, server, mode, *options, "--stop=STOP")
        bodies = sent(server)
    assert len(bodies) == len(_QUESTIONS)
    for body in bodies:
        assert {name: body[name] for name in ("temperature", "top_p", "reasoning_effort")} == {
            name: given[name] for name in ("temperature", "top_p", "reasoning_effort")
        }
        assert body["messages"][0] == {"role": "system", "content": "Short."}
        assert body["stop"] == ["STOP"]
        assert isinstance(body["seed"], int)
    signed = signatures(tmp_path)["m"]
    for part in ("temp:0.7", "top_p:0.9", 'system:"Short."', 'stop:["STOP"]', 'effort:"low"'):
        assert f"|{part}|" in signed
    # The rule draws nothing, so it does not take part, and says why.
    assert code == 1
    assert "rule cannot be given “Reasoning effort”" in capsys.readouterr().err


def test_a_server_without_a_setting_is_not_sent_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    with FakeServer(_PROFILE) as server:
        code = run(tmp_path, server, {"mode": "question_answer", "top_k": 5})
        assert sent(server) == []
    assert code == 2
    assert "m cannot be given “Top k”" in capsys.readouterr().err


def test_a_value_that_is_none_is_refused_before_anything_is_sent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    with FakeServer(_PROFILE) as server:
        assert run(tmp_path, server, {"mode": "question_answer"}, "--temperature=warm") == 2
        assert server.requests == []
    assert "--temperature: " in capsys.readouterr().err
