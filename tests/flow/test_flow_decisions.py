"""A model that only decides, at a server of each form: by library, by command, by interface."""

import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from api_server_examples import api_server
from decision_server import Asked, DecisionBehaviour, DecisionServer, Form, Options
from endpoint_flow_examples import Shift
from endpoint_server_examples import MODEL, Reply
from flow_examples import Office, wait_until
from planted_deciders import (
    PlantedDecider,
    decided_trials,
    planted_questions,
    right_texts,
    write_questions,
)

import evalui
from evalui.access import LOCAL
from evalui.api.schemas import ModelShown
from evalui.cli.main import main
from evalui.client import Client
from evalui.models import read_catalog
from evalui.runs.plan import plan_run
from evalui.runs.spec import RunSpec
from evalui.runs.submit import create_run
from evalui.runs.worker import waiting
from evalui.runs.worker.model_tests import model_tests, queue_model_test
from evalui.runs.worker.worker import Worker
from evalui.scoring.choice.answer_format import decision_counts
from evalui.shipped_files import ASSETS
from evalui.store import queue, usage
from evalui.store.datasets import add_dataset
from evalui.store.runs import read_run
from evalui.types import LETTERS, Dataset, Labels, Sample, Trial

pytestmark = pytest.mark.slow

ASKED = planted_questions(40)
LEANING = PlantedDecider(right_texts(ASKED), seed=1, by_place=(1.5,))
FAULTY = PlantedDecider(
    right_texts(ASKED), seed=2, refuses=0.1, silent=0.1, unsummed=0.1, contrary=0.2, decimals=2
)
FORMS: tuple[Form, ...] = ("systemone", "decisions", "decide")


@pytest.fixture
def lands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The questions as a file, in the folder in which commands run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVALUI_DATA_DIR", str(tmp_path / "data"))
    return write_questions(ASKED, tmp_path / "lands.csv")


@pytest.fixture(params=FORMS)
def leaning(request: pytest.FixtureRequest) -> Iterator[DecisionServer]:
    """A server of each form, whose model leans to the option shown first."""
    with DecisionServer(DecisionBehaviour(form=request.param, answer=LEANING)) as server:
        yield server


def said(trials: list[Trial]) -> list[tuple[str | None, tuple[float, ...]]]:
    """What each trial says: the letter chosen, and the probabilities."""
    return [
        (None if each.choice is None else LETTERS[each.choice], each.probabilities)
        for each in trials
    ]


def said_in(frame: pd.DataFrame) -> list[tuple[str | None, tuple[float, ...]]]:
    columns = [name for name in frame if str(name).startswith("p_")]
    return [
        (
            None if pd.isna(row["choice"]) else row["choice"],
            tuple(row[name] for name in columns if not pd.isna(row[name])),
        )
        for row in frame.to_dict("records")
    ]


def catalog(folder: Path, server: DecisionServer, *options: str) -> Path:
    path = folder / "models.toml"
    lines = ["[toy]", 'backend = "openai"', f'path = "{MODEL}"']
    lines += ["[toy.options]", f'base_url = "{server.url}"', *options]
    path.write_text("\n".join([*lines, ""]))
    return path


def test_a_run_by_library_has_the_figures_of_the_decisions(
    leaning: DecisionServer, lands: Path
) -> None:
    with evaluated(lands, leaning) as run:
        trials = decided_trials(LEANING, ASKED)
        assert said_in(run.trials()) == said(trials)
        metrics = run.metrics().set_index("metric")["value"]
        right = sum(trial.reading.credit for trial in trials) / len(trials)
        assert metrics["acc_circular"] == pytest.approx(100 * right)
        for chart in ("bias.picks", "calibration.reliability", "calibration.risk"):
            assert run.chart(chart).data
        (bias,) = run.frame("bias").to_dict("records")
        assert bias["permutation_p"] < 0.001


def evaluated(lands: Path, server: DecisionServer, **more: Any) -> evalui.Run:
    """The run of the library that asks the server in every order."""
    return evalui.evaluate(
        str(lands),
        models="toy",
        models_file=catalog(lands.parent, server),
        mode="multiple_choice",
        orders="circular",
        progress=False,
        **more,
    )


@pytest.mark.parametrize("form", ["systemone", "decisions"])
def test_what_a_server_leaves_out_is_counted_and_never_guessed(form: Form, lands: Path) -> None:
    with (
        DecisionServer(DecisionBehaviour(form=form, answer=FAULTY)) as server,
        evaluated(lands, server) as run,
    ):
        (row,) = run.frame("decisions").to_dict("records")
        assert said_in(run.trials()) == said(decided_trials(FAULTY, ASKED))
    counts = asdict(decision_counts(decided_trials(FAULTY, ASKED)))
    assert {name: row[name] for name in counts} == counts
    assert min(counts["refused"], counts["missing"], counts["no_sum"], counts["disagreeing"]) > 0


@pytest.mark.parametrize("labels", ["dealt", "texts", "neutral"])
def test_keys_are_dealt_as_the_mode_says(lands: Path, labels: Labels) -> None:
    decider = PlantedDecider(right_texts(ASKED), by_key={"A": 2.0, "kz": 2.0})
    with (
        DecisionServer(DecisionBehaviour(answer=decider)) as server,
        evaluated(lands, server, labels=labels) as run,
    ):
        assert said_in(run.trials()) == said(decided_trials(decider, ASKED, labels=labels))


def test_a_run_by_command_needs_no_catalog(leaning: DecisionServer, lands: Path) -> None:
    named = ["--model", leaning.url, "--dataset", str(lands), "--mode", "multiple_choice"]
    assert main(["run", *named, "--pattern", "circular", "--out", "out"]) == 0
    names = {path.name for path in Path("out").iterdir()}
    assert {"report.html", "report.json", "trials.jsonl"} <= names
    (cell,) = json.loads(Path("out/report.json").read_text())["overview"]
    right = [trial.reading.credit for trial in decided_trials(LEANING, ASKED, "origin")]
    assert cell["acc_origin"] == pytest.approx(100 * sum(right) / len(right))
    assert (cell["model"], cell["n"]) == (MODEL, len(ASKED))
    assert len(asked_of_run(leaning)) == 4 * len(ASKED)


def asked_of_run(server: DecisionServer) -> list[str]:
    """The contexts of the questions of a run; a probe asks others."""
    known = right_texts(ASKED)
    return [each.context for each in server.questions if each.context in known]


def test_a_run_by_the_interface(leaning: DecisionServer, lands: Path) -> None:
    with api_server(lands.parent / "served") as running:
        client = Client(running.url, running.token)
        added: dict[str, Any] = {"name": "far", "path": MODEL, "place": "endpoint"}
        body = json.dumps({**added, "address": leaning.url}).encode()
        shown = client.call(ModelShown, "POST", "models", body, Content_Type="application/json")
        assert (shown.name, shown.problem) == ("far", "")
        uploaded = client.upload([lands])
        run = client.start(
            {
                "datasets": [{"upload": uploaded.id, "name": "lands"}],
                "models": ["far"],
                "modes": [{"mode": "multiple_choice", "pattern": "circular"}],
            }
        )
        ended = client.wait(run)
        assert (ended.state, ended.done) == ("done", 4 * len(ASKED))
        trials = list(client.trials(run))
        client.report(run, "there")
    assert len(trials) == 4 * len(ASKED)
    (cell,) = json.loads(Path("there/report.json").read_text())["overview"]
    right = [trial.reading.credit for trial in decided_trials(LEANING, ASKED, "origin")]
    assert cell["acc_origin"] == pytest.approx(100 * sum(right) / len(right))


def test_questions_that_are_asked_alike_are_all_answered(lands: Path) -> None:
    even = [(f"Is {k} even?", ("yes", "no"), k % 2) for k in range(40)]
    asked = tuple(Sample(query, query, options, target) for query, options, target in even)
    with (
        DecisionServer() as server,
        evalui.evaluate(
            str(write_questions(asked, lands.parent / "even.csv")),
            models="toy",
            models_file=catalog(lands.parent, server),
            mode="choices_only",
            orders="circular",
            progress=False,
        ) as run,
    ):
        assert len(run.trials()) == 2 * len(asked)
        assert len(set(server.questions)) == 3  # two orders, and what the probe asks


class Unsteady:
    """Fails on the first attempt at some questions, in one of several ways, and then no more."""

    def __init__(self, *, timeout_s: float) -> None:
        self.ways = (
            Reply(429, {"error": {"message": "slow down"}}, headers={"Retry-After": "0"}),
            Reply(500, {"error": {"message": "out of order"}}),
            Reply(503, {"error": {"message": "overloaded"}}),
            Reply(200, {}, delay=2 * timeout_s),
            Reply(200, {}, cut=True),
        )
        self.failed: list[int] = []
        self._seen = set[Asked]()

    def __call__(self, asked: Asked) -> Reply | None:
        if asked in self._seen or asked.context not in right_texts(ASKED):
            return None
        self._seen.add(asked)
        way = random.Random(repr(asked)).randrange(4 * len(self.ways))
        if way >= len(self.ways):
            return None
        self.failed.append(way)
        return self.ways[way]


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Office]:
    monkeypatch.setattr(waiting, "FIRST_DELAY_S", 0.2)
    monkeypatch.setattr(waiting, "MAX_DELAY_S", 0.5)
    with closing(Office(tmp_path)) as opened:
        yield opened


def queued(office: Office, server: DecisionServer, *, retries: int = 2) -> str:
    catalog(office.folder, server, "concurrency = 4", f"retries = {retries}", "timeout_s = 1")
    data = Dataset("lands", "multiple_choice", ASKED, sha256="1a4d" * 16)
    spec = RunSpec.model_validate(
        {
            "datasets": ["lands.csv"],
            "models": ["toy"],
            "mode": "multiple_choice",
            "pattern": "circular",
        }
    )
    plans = plan_run(spec, {"lands.csv": data}, read_catalog(office.models))
    add_dataset(office.database, data)
    return create_run(office.database, spec, plans)


def test_failures_of_a_moment_change_nothing_and_refusals_are_asked_once(office: Office) -> None:
    unsteady = Unsteady(timeout_s=1)
    with DecisionServer(DecisionBehaviour(answer=FAULTY, fails=unsteady)) as server:
        run_id = queued(office, server)
        assert office.work_here()
    assert len(set(unsteady.failed)) == len(unsteady.ways)
    assert read_run(office.database, run_id).state == "done"
    (trials,) = office.trials(run_id)
    assert list(trials) == decided_trials(FAULTY, ASKED)
    attempts = Counter(map(repr, server.questions))
    known = right_texts(ASKED)
    of_run = sum(attempts[repr(each)] for each in set(server.questions) if each.context in known)
    assert of_run == 4 * len(ASKED) + len(unsteady.failed)


def test_the_time_that_a_decision_takes_is_told(office: Office) -> None:
    latency = 0.1  # of a server; it is the least that can be measured
    with DecisionServer(DecisionBehaviour(answer=LEANING, latency=latency)) as server:
        entry = read_catalog(catalog(office.folder, server, "concurrency = 1"))["toy"]
        queue_model_test(office.database, entry, LOCAL)
        assert Worker(office.database, dict, name="here").run_test_once()
    (tried,) = model_tests(office.database, LOCAL)["toy"].ability_tests
    assert (tried.ability, tried.problem) == ("decide", "")
    assert tried.seconds >= tried.requests * latency > 0


def test_a_cancelled_run_of_decisions_is_resumed_where_it_was(office: Office) -> None:
    answered = set[Asked]()

    def away(asked: Asked) -> Reply | None:
        if len(answered) >= 50:
            return Reply(503, {"error": {"message": "overloaded"}})
        if asked.context in right_texts(ASKED):
            answered.add(asked)
        return None

    behaviour = DecisionBehaviour(answer=FAULTY, fails=away)
    with DecisionServer(behaviour) as server:
        run_id = queued(office, server, retries=0)
        with Shift(office):
            wait_until(lambda: bool(usage.model_waits(office.database, run_id)))
            queue.cancel(office.database, run_id)
            wait_until(lambda: read_run(office.database, run_id).state == "cancelled", 100)
        assert read_run(office.database, run_id).done == len(answered)
        behaviour.fails = lambda _: None
        before = len(server.questions)
        queue.resume(office.database, run_id)
        assert office.work_here()
        asked_again = answered & set(server.questions[before:])
    assert asked_again == set()
    (trials,) = office.trials(run_id)
    assert list(trials) == decided_trials(FAULTY, ASKED)


SAMPLE = [ASSETS / "samples" / "demo" / f"{name}_val.csv" for name in ("capitals_en", "words_zh")]
# What letters say and decisions do not: how probable all of them together are, and which token of
# all would be written. The rest of these columns is the model's name.
OWN = {"model", "signature", "settings", "mass", "light", "spec"}
OWN_METRICS = {"label_mass", "tolerant", "strict", "format_gap"}


def letters_of(model: str) -> tuple[dict[str, Any], dict[tuple[str, ...], list[float]]]:
    """The report of a local model's letters, and the letters by question and options."""
    named = ["--model", model, "--mode", "multiple_choice", "--pattern", "circular"]
    assert main(["run", *named, "--dataset", *map(str, SAMPLE), "--out", model]) == 0
    lines = Path(model, "trials.jsonl").read_text(encoding="utf-8").splitlines()
    letters = {
        (trial["question"], *trial["options"]): trial["probabilities"]
        for trial in map(json.loads, lines)
    }
    return json.loads(Path(model, "report.json").read_text()), letters


def figures(report: dict[str, Any], table: str) -> list[dict[str, Any]]:
    """The rows of a table of a report without what letters alone have."""
    return [
        {name: row[name] for name in row if name not in OWN and not name.startswith("label_mass")}
        for row in report[table]
        if not {row.get("metric"), row.get("reading")} & OWN_METRICS
    ]


def test_letters_of_a_local_model_served_as_decisions_have_its_figures_to_the_digit(
    lands: Path,
) -> None:
    del lands
    local, letters = letters_of("demo-early")

    def served(context: str, _question: str, options: Options) -> list[float]:
        texts = tuple(text for _, text in options)
        return letters.get((context, *texts)) or [1 / len(options)] * len(options)

    with DecisionServer(DecisionBehaviour(answer=served)) as server:
        named = ["--model", server.url, "--mode", "multiple_choice", "--pattern", "circular"]
        assert main(["run", *named, "--dataset", *map(str, SAMPLE), "--out", "served"]) == 0
    report = json.loads(Path("served/report.json").read_text())
    for table in ("metrics", "positions", "confusion", "consistency", "priors", "calibration"):
        assert report[table], table
        for here, there in zip(figures(local, table), figures(report, table), strict=True):
            assert there.keys() == here.keys()
            for name, value in here.items():
                exact = not isinstance(value, float)
                assert there[name] == (value if exact else pytest.approx(value, rel=1e-12)), name


def judge(context: str, _question: str, options: Options) -> list[float]:
    """How probable each verdict is, of a judge that looks whether an answer has the reference."""
    if not (texts := re.findall(r"<(?:reference|answer_\w+?)_\w{16}>\n(.*?)\n</", context)):
        return [1 / len(options)] * len(options)
    reference, *answers = texts
    good = tuple(reference in answer for answer in answers)
    right = {(1, 0): "Answer 1", (0, 1): "Answer 2", (1, 1): "both good", (0, 0): "both bad"}[good]
    return [0.85 if text == right else 0.05 for _, text in options]


def test_answers_are_judged_by_a_server_of_decisions(leaning: DecisionServer, lands: Path) -> None:
    n = 20
    leaning.behaviour.answer = judge
    rights = {
        "careful": [number % 5 != 0 for number in range(n)],
        "hasty": [number % 2 == 0 for number in range(n)],
    }
    told = {"careful": ("It is {}.", "No idea."), "hasty": ("{}, it is.", "I do not know.")}
    asked = [(f"What is {k} plus {k}?", str(2 * k)) for k in range(n)]
    questions = [{"query": query, "response": answer} for query, answer in asked]
    write_lines(lands.parent / "sums.jsonl", questions)
    for name, right in rights.items():
        good, bad = told[name]
        replies = [
            {"query": query, "answer": good.format(answer) if is_right else bad}
            for (query, answer), is_right in zip(asked, right, strict=True)
        ]
        write_lines(lands.parent / f"{name}.jsonl", replies)
    with evalui.evaluate(
        str(lands.parent / "sums.jsonl"),
        answers=[{"model": name, "path": str(lands.parent / f"{name}.jsonl")} for name in rights],
        judges="toy",
        models_file=catalog(lands.parent, leaning),
        progress=False,
    ) as run:
        given = Counter(
            row["winner"] if row["winner"] in ("tie", "neither") else row[row["winner"]]
            for row in run.verdicts().to_dict("records")
        )
        standings = run.standings().set_index("model")
    pairs = Counter(zip(rights["careful"], rights["hasty"], strict=True))
    assert given == {
        "careful": 2 * pairs[True, False],
        "hasty": 2 * pairs[False, True],
        "tie": 2 * pairs[True, True],
        "neither": 2 * pairs[False, False],
    }
    assert standings.loc["careful", "place"] == 1
    assert standings.loc["careful", "elo"] > 1000 > standings.loc["hasty", "elo"]


def write_lines(path: Path, rows: list[dict[str, str]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
