"""Modes of other packages, one file each: asked, graded, shown, exported and compared."""

import csv
import io
from pathlib import Path
from types import ModuleType

import pytest
from drawn_page import DrawnPage
from ui_examples import GOOD
from ui_open_examples import QUESTIONS, finish, open_desk, open_form, subjective

from evalui.app.datasets import store_upload
from evalui.app.run_view import RunView
from evalui.app.service import AppService
from evalui.messages import messages
from evalui.modes import MODES, modes_for
from evalui.registry import PLUGINS
from evalui.report.write.files import write
from evalui.store.runs import read_cells

_TEXTS = """
from evalui.modes import MODES, ModeTraits
from evalui.types import Generate, Reading, Trial


class Echo:
    label = {"en": "Own prompt", "zh": "自带提示"}
    abilities_needed = "generate"
    gives = "answers"
    kinds = ("general_qa", "subjective")
    shows_options = False
    readings = ("answer",)
    headline = "answer"
    traits = ModeTraits(max_tokens=99, credit="same_start", needs_references=True)

    def plan(self, sample, variant, setting):
        return (Generate("MY OWN PROMPT " + sample.question, max_tokens=setting.max_tokens),)

    def grade(self, sample, variant, responses, setting):
        text = responses[0].text
        right = float(any(text[:1] == each[:1] for each in sample.references))
        return Trial(
            sample_id=sample.id, variant=variant, target=0, headline="answer",
            readings={"answer": Reading(0 if text else None, right, "answered")},
            reply=text, scores={"same_start": (right,)} if sample.references else {},
        )


MODES.register("own_prompt")(Echo())
"""
_CHOICES = """
from evalui.modes import MODES
from evalui.modes.base import shown_options
from evalui.types import Generate, Reading, Trial


class FirstLetter:
    label = {"en": "First letter", "zh": "首字母"}
    abilities_needed = "generate"
    gives = "choices"
    kinds = ("multiple_choice",)
    shows_options = True
    readings = ("first",)
    headline = "first"

    def plan(self, sample, variant, setting):
        texts, _ = shown_options(sample, variant)
        rows = [f"{letter}. {text}" for letter, text in zip("ABCDEFGHIJ", texts)]
        prompt = "\\n".join(["PICK ONE", sample.question, *rows, "Answer:"])
        return (Generate(prompt, max_tokens=setting.max_tokens),)

    def grade(self, sample, variant, responses, setting):
        text, (_, target) = responses[0].text.strip(), shown_options(sample, variant)
        slot = "ABCDEFGHIJ".find(text[:1]) if text else -1
        slot = slot if 0 <= slot < len(variant.permutation) else None
        reading = Reading(slot, float(slot == target), "first")
        return Trial(
            sample_id=sample.id, variant=variant, target=target, headline="first",
            readings={"first": reading}, reply=text,
        )


MODES.register("first_letter")(FirstLetter())
"""
_QUESTIONS = b"".join(
    b'{"query": "Question %d?", "response": "%s"}\n' % (n, b"Alpha Beta"[n % 5 :]) for n in range(8)
)


@pytest.fixture(autouse=True)
def _plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both files run as an entry point that names them does."""
    monkeypatch.setattr(MODES, "_entries", dict(MODES._entries))
    for name, source in (("plugin_texts", _TEXTS), ("plugin_choices", _CHOICES)):
        exec(source, ModuleType(name).__dict__)
    MODES._add_labels(PLUGINS["mode"])


@pytest.fixture
def desk(tmp_path: Path) -> AppService:
    return open_desk(tmp_path)


def _rows(desk: AppService, run_id: str) -> list[dict[str, str]]:
    report = RunView(desk, messages("en"), run_id).report
    return list(csv.DictReader(io.StringIO(write(report, "csv", "en").decode("utf-8-sig"))))


def _pages(desk: AppService, run_id: str) -> dict[str, str]:
    ids = [str(row.id) for row in read_cells(desk.database, run_id)]
    samples = {"run": run_id, "sub": "samples", "cell": ids[0]}
    return {
        "overview": DrawnPage("results", desk, {"run": run_id}).text,
        "samples": DrawnPage("results", desk, samples).text,
        "compare": DrawnPage("compare", desk, {"cells": ",".join(ids)}).text,
    }


def test_a_mode_of_texts_is_graded_shown_exported_and_compared(desk: AppService):
    assert "own_prompt" in modes_for(("general_qa",))
    fields = {"modes": ["own_prompt"], "kinds": ["general_qa"], "judging": []}
    run_id = finish(desk, open_form(desk, _QUESTIONS, **fields))
    rows = _rows(desk, run_id)
    assert [row["model"] for row in rows] == ["perfect", "noisy"]
    assert {row["mode"] for row in rows} == {"own_prompt"}
    assert float(rows[0]["same_start"]) == 100
    assert all("|max:99|" in row["signature"] for row in rows)
    pages = _pages(desk, run_id)
    assert "same_start" in pages["overview"]
    assert "MY OWN PROMPT" in pages["samples"]
    assert "same_start" in pages["samples"]
    assert "perfect" in pages["compare"]
    assert "noisy" in pages["compare"]


def test_a_mode_of_choices_is_graded_shown_exported_and_compared(desk: AppService):
    assert modes_for(("multiple_choice",))[-1] == "first_letter"
    upload = store_upload(desk, [("towns.csv", GOOD.encode())])
    run_id = finish(
        desk,
        {
            "uploads": [upload],
            "models": ["perfect", "always-A"],
            "modes": ["first_letter"],
            "pattern": "circular",
            "shots": "0",
        },
    )
    rows = _rows(desk, run_id)
    shares = {row["model"]: float(row["acc_origin"]) for row in rows}
    assert shares == {"perfect": 100, "always-A": 25}
    pages = _pages(desk, run_id)
    assert "First letter" in pages["overview"]
    assert "PICK ONE" in pages["samples"]
    assert "McNemar" in pages["compare"]


def test_a_mode_that_needs_references_does_not_run_without_them(desk: AppService):
    rows = [{**row, "reference_answer": ""} for row in QUESTIONS]
    form = open_form(desk, subjective(rows), modes=["question_answer", "own_prompt"], judging=[])
    states = {
        row.cell.mode: (row.state, row.error)
        for row in read_cells(desk.database, finish(desk, form))
    }
    assert states["own_prompt"][0] == "impossible"
    assert "no reference" in states["own_prompt"][1]
    assert states["question_answer"] == ("done", "")
