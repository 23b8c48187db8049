"""Questions with pictures, from a file to figures: at a server that looks at them, and others."""

import base64
import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from endpoint_server_examples import COLOURS, MODEL, Behaviour, Json, ToyServer, painted

import evalui
from evalui.errors import SpecError

ASKED = 8
NAMES = [*COLOURS]


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """A TSV as VLMEvalKit has them: which colour a picture has, the options each time elsewhere."""
    lines = ["index\tquestion\tA\tB\tC\tD\tanswer\timage"]
    for row in range(ASKED):
        options = [NAMES[(row + slot) % 4] for slot in range(4)]
        slot = row * 3 % 4
        picture = base64.b64encode(painted(options[slot], side=16 + row)).decode()
        lines.append(
            "\t".join([str(row), f"Which colour is it, {row}?", *options, "ABCD"[slot], picture])
        )
    path = tmp_path / "colours.tsv"
    path.write_text("\n".join(lines))
    return path


@pytest.fixture
def described(tmp_path: Path) -> Path:
    """Open questions with pictures, and their references."""
    rows: list[Json] = []
    for row in range(4):
        picture = base64.b64encode(painted(NAMES[row], side=20 + row)).decode()
        rows.append(
            {
                "id": str(row),
                "question": f"Name the colour, {row}.",
                "answer": NAMES[row],
                "image": f"data:image/png;base64,{picture}",
            }
        )
    path = tmp_path / "described.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


@contextmanager
def serving(tmp_path: Path, **servers: Behaviour) -> Generator[dict[str, Any]]:
    """The servers by the names of their models, and a catalog of these."""
    catalog = tmp_path / "models.toml"
    running = {name: ToyServer(can) for name, can in servers.items()}
    try:
        for server in running.values():
            server.__enter__()
        catalog.write_text(
            "".join(
                f'[{name}]\nbackend = "openai"\npath = "{MODEL}"\nchat = true\n'
                f'options = {{ base_url = "{server.url}" }}\n'
                for name, server in running.items()
            )
        )
        yield {**running, "models_file": catalog}
    finally:
        for server in running.values():
            server.stop()


def evaluated(files: Any, given: dict[str, Any], **settings: Any) -> evalui.Run:
    return evalui.evaluate(
        files, models_file=given["models_file"], keep=False, progress=False, **settings
    )


@pytest.mark.parametrize("mode", ["generation", "multiple_choice"])
def test_a_model_that_looks_is_right_in_every_order(questions: Path, tmp_path: Path, mode: str):
    with serving(tmp_path, looks=Behaviour(pictures="seen")) as given:
        run = evaluated(questions, given, models="looks", mode=mode, orders="circular")
    trials = run.trials()
    assert len(trials) == 4 * ASKED
    assert trials["correct"].all()


def test_a_model_that_ignores_pictures_is_refused_with_the_reason(questions: Path, tmp_path: Path):
    with (
        serving(tmp_path, ignores=Behaviour(pictures="ignored")) as given,
        pytest.raises(SpecError, match="ignores is shown no pictures here: it does not look"),
    ):
        evaluated(questions, given, models="ignores", mode="generation")


def test_the_blind_baseline_sends_no_picture(questions: Path, tmp_path: Path):
    with serving(tmp_path, looks=Behaviour(pictures="seen")) as given:
        modes = [{"mode": "generation"}, {"mode": "generation", "pictures": "none"}]
        run = evaluated({"datasets": [str(questions)], "models": ["looks"], "modes": modes}, given)
        sent = [
            body["messages"][-1]["content"] for body in given["looks"].posts("chat/completions")
        ]
    shown, blind = (run.trials()[run.trials()["mode"] == label] for label in run.cells()["mode"])
    assert shown["correct"].all()
    assert not blind["correct"].any()
    texts = [content for content in sent if isinstance(content, str) and "colour is it" in content]
    assert len(texts) == ASKED
    assert not any("picture:" in text for text in texts)
    assert '|pictures:"none"|' in run.cells()["signature"].iloc[1]


def test_a_picture_is_sent_as_small_as_the_run_says_and_kept_replies_know_it(
    questions: Path, tmp_path: Path
):
    with serving(tmp_path, looks=Behaviour(pictures="seen")) as given:
        requests = [0]
        for side in (None, 64, 64):
            wanted: dict[str, Any] = {} if side is None else {"picture_side": side}
            evalui.evaluate(
                questions,
                models="looks",
                mode="generation",
                models_file=given["models_file"],
                progress=False,
                out=tmp_path / "out",
                **wanted,
            )
            posts = given["looks"].posts("chat/completions")
            requests.append(sum("Which colour is it" in json.dumps(body) for body in posts))
    assert requests == [0, ASKED, 2 * ASKED, 2 * ASKED]


@pytest.mark.parametrize("looks", [True, False])
def test_a_judge_sees_the_pictures_or_the_run_says_that_it_does_not(
    described: Path, tmp_path: Path, looks: bool
):
    judge = Behaviour(pictures="seen" if looks else "ignored")
    with serving(tmp_path, answers=Behaviour(pictures="seen"), judge=judge) as given:
        run = evaluated(
            described,
            given,
            models="answers",
            mode="question_answer",
            judging={"judges": ["judge"], "template": "correct-en.2", "output": "text"},
        )
        sent = [
            body["messages"][0]["content"]
            for body in given["judge"].posts("chat/completions")
            if "Name the colour" in json.dumps(body)
        ]
    assert len(sent) >= 4
    assert all(isinstance(content, list) is looks for content in sent)
    assert "<picture:" not in json.dumps(sent)
    note = "The judge was shown the questions without their pictures"
    assert (note in run.report(tmp_path / "report.md", "en").read_text()) is not looks


def test_rules_answer_questions_with_pictures_and_without(questions: Path, tmp_path: Path):
    catalog = tmp_path / "models.toml"
    catalog.write_text('[knows]\nbackend = "scripted"\noptions = { rule = "perfect" }\n')
    modes = [
        {"mode": mode, "pictures": pictures, "pattern": "circular"}
        for mode in ("multiple_choice", "generation")
        for pictures in ("", "none")
    ] + [{"mode": "cloze"}]
    spec = {"datasets": [str(questions)], "models": ["knows"], "modes": modes}
    run = evaluated(spec, {"models_file": catalog})
    trials = run.trials()
    assert len(trials) == (4 * 4 + 1) * ASKED
    assert trials["correct"].all()


def test_what_a_model_writes_is_no_picture(described: Path, tmp_path: Path):
    written = f"<picture:{'0' * 32}>"

    def writes(answer: dict[str, Any]) -> object:
        for choice in answer.get("choices", ()):
            choice["message"]["content"] += f" {written}"
        return answer

    answers = Behaviour(completions=False, logprobs=False, pictures="seen", alter=writes)
    judge = Behaviour(pictures="seen")
    with serving(tmp_path, answers=answers, judge=judge) as given:
        run = evaluated(
            described,
            given,
            models="answers",
            mode="question_answer",
            judging={"judges": ["judge"], "template": "correct-en.2", "output": "text"},
        )
        turns = [body["messages"][0] for body in given["judge"].posts("chat/completions")]
    assert set(run.cells()["state"]) == {"done"}
    judged = [turn["content"] for turn in turns if "Name the colour" in json.dumps(turn)]
    assert all([part["type"] for part in content].count("image_url") == 1 for content in judged)
    assert all(written in json.dumps(content) for content in judged)
