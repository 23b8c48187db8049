"""Whole judged runs on a model that keeps to schemas or tells probabilities, up to the report."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

import pytest
from open_run_examples import CATALOG, RIGHT, WRONG, capitals, do_run, open_spec

from evalui.models import ModelEntry
from evalui.models.base import BACKENDS, Backend, Model
from evalui.report.compile import compile_report, markdown
from evalui.report.write.lines import duel_lines, rating_lines
from evalui.runs.plan import plan_run
from evalui.runs.results import read_results
from evalui.runs.submit import create_run
from evalui.store.connection import Database
from evalui.store.datasets import add_dataset
from evalui.store.runs import read_cells
from evalui.types import (
    Ability,
    Generate,
    GeneratedText,
    LabelProbs,
    Message,
    NextToken,
    Request,
    Response,
)

CAPITALS = ("Paris", "Rome", "Madrid", "Oslo")


@dataclass
class Lender(Backend):
    """A judge that knows the capitals; `silent` labels are improbable to it."""

    known: frozenset[Ability]
    silent: bool = False
    sent: list[Request] = field(default_factory=list[Request])
    name = "lent"
    fingerprint = "lent:1"

    @property
    def abilities(self) -> frozenset[Ability]:  # type: ignore[override]  # of the model, not of an entry
        return self.known

    def problem(self, entry: ModelEntry) -> str:
        del entry
        return ""

    def open(self, entry: ModelEntry) -> Model:
        del entry
        return cast("Model", self)

    def close(self) -> None:
        pass

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        self.sent += requests
        for index, request in enumerate(requests):
            yield index, self._respond(request)

    def _respond(self, request: Request) -> Response:
        prompt = request.prompt if isinstance(request, Generate) else request.context
        (message,) = cast("tuple[Message]", prompt)
        first = message.content.partition("Answer 1:")[2].partition("Answer 2:")[0]
        better = 1 if any(capital in first for capital in CAPITALS) else 2
        if isinstance(request, NextToken):
            mass = 0.01 if self.silent else 1.0
            shares = [0.9 if label == str(better) else 0.1 / 3 for label in request.labels]
            return LabelProbs(_logs(shares, mass), mass, "<think>" if self.silent else str(better))
        assert isinstance(request, Generate)
        if request.json_schema and "schema" in self.known:
            fields = json.loads(request.json_schema)["properties"]
            assert list(fields) == ["reason", "winner"]
            reply = {"reason": "It is right.", "winner": f"Answer {better}"}
            return GeneratedText(json.dumps(reply), constrained=True)
        return GeneratedText(f"It is right.\n[[Answer {better}]]")


def _logs(shares: Sequence[float], mass: float) -> tuple[float, ...]:
    return tuple(math.log(share * mass) for share in shares)


def judged(database: Database, lender: Lender, monkeypatch: pytest.MonkeyPatch, **judging: object):
    """A run judged by the lender, done."""

    class Lent(Backend):
        def abilities(self, entry: ModelEntry) -> frozenset[Ability]:
            del entry
            return lender.known

        problem, open = lender.problem, lender.open

    monkeypatch.setitem(BACKENDS._entries, "lent", Lent())  # pyright: ignore[reportPrivateUsage]
    catalog = CATALOG | {"lent": ModelEntry("lent", "lent", chat=True)}
    data = capitals()
    add_dataset(database, data)
    asked = open_spec(version=3, judging={"judges": ["lent"]} | judging)
    plans = plan_run(asked, {"capitals.jsonl": data}, catalog, (RIGHT, WRONG))
    run_id = create_run(database, asked, plans)
    do_run(database, run_id, catalog)
    results = read_results(database, run_id)
    assert {result.state for result in results} == {"done"}
    return run_id, results, compile_report("Lent", results)


def test_a_pair_of_equal_answers_is_a_tie_that_no_judge_is_asked_for(
    database: Database, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(cast("dict[str, object]", WRONG.answers), "capitals/France", ("Paris",))
    lender = Lender(frozenset({"generate"}))
    _, results, report = judged(database, lender, monkeypatch)
    assert len(lender.sent) == 6  # of four pairs in two orders
    (arena,) = report.arenas
    right, _ = arena.standings
    assert (right.tally.win, right.tally.tie, right.tally.lose) == (6, 2, 0)
    assert "2 are of two equal answers (EM)" in markdown(report, "en")
    assert [result.total for result in results if result.cell.gives == "verdicts"] == [8]


@pytest.mark.parametrize(
    ("known", "output", "kinds", "said"),
    [
        (
            ("schema", "next_token"),
            "schema",
            {"Generate"},
            "only JSON that fits a schema; 0 of",
        ),
        (("next_token",), "probabilities", {"NextToken"}, "most probable as the next token; 0 of"),
        ((), "text", {"Generate"}, "which were read as text"),
    ],
)
def test_a_run_is_judged_in_what_the_judge_can_do_and_says_so_everywhere(
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    known: tuple[Ability, ...],
    output: str,
    kinds: set[str],
    said: str,
):
    lender = Lender(frozenset(("generate", *known)))
    run_id, results, report = judged(database, lender, monkeypatch)
    assert {type(request).__name__ for request in lender.sent} == kinds
    (arena,) = report.arenas
    assert [standing.model for standing in arena.standings] == ["right", "wrong"]
    assert (arena.standings[0].tally.win, arena.standings[0].tally.n) == (8, 8)
    assert arena.output == output
    assert f"output:{output}" in arena.signature
    assert said in markdown(report, "en").replace("\\", "")
    (row,) = report.frames["reliability"].to_dict("records")
    assert (row["output"], row["as_text"]) == (output, 8 * (output == "text"))
    lines = [json.loads(line) for line in duel_lines([arena])]
    assert {line["rule"] for line in lines} == {
        {"schema": "schema", "probabilities": "probabilities", "text": lines[0]["rule"]}[output]
    }
    assert ("probabilities" in lines[0]) == (output == "probabilities")
    assert results[-1].output == output
    (cell,) = (row for row in read_cells(database, run_id) if row.cell.mode == "judge")
    assert (cell.requests, cell.done) == (8, 8)


def test_where_no_label_is_likely_the_judge_writes_and_it_is_counted(
    database: Database, monkeypatch: pytest.MonkeyPatch
):
    lender = Lender(frozenset(("generate", "next_token")), silent=True)
    _, _, report = judged(database, lender, monkeypatch)
    (arena,) = report.arenas
    assert arena.standings[0].tally.win == 8
    assert arena.reliability.as_text == 8
    assert (arena.reliability.retried, arena.reliability.recovered) == (8, 8)
    assert len(lender.sent) == 16
    told = markdown(report, "en").replace("\\", "")
    assert "8 of 8 verdicts were written instead" in told


def test_marks_by_probabilities_are_expected_ones_in_the_report_and_in_the_export(
    database: Database, monkeypatch: pytest.MonkeyPatch
):
    lender = Lender(frozenset(("generate", "next_token")))
    _, results, report = judged(database, lender, monkeypatch, template="criteria10-en.2")
    ratings = {each.cell.model: each.ratings[0] for each in report.answers}
    # 0.9 on the digit 2, which is the mark 3, and 1/30 on each of the nine others.
    expected = (0.9 * 3 + sum(mark for mark in range(1, 11) if mark != 3) / 30) / (0.9 + 9 / 30)
    assert ratings["right"].output == "probabilities"
    assert set(ratings["right"].criteria) == {"correctness", "completeness", "clarity"}
    for rating in ratings.values():
        assert rating.mean
        assert rating.mean.value == pytest.approx(expected)
    line = json.loads("".join(rating_lines(results)).splitlines()[0])
    assert list(line["criteria"]) == ["correctness", "completeness", "clarity"]
    assert "Mean mark of each criterion" in markdown(report, "en")
