"""HumanEval and MBPP by name, from rows in their layouts to figures; the rows are our own."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from bubblewrap_here import needs_bubblewrap
from endpoint_server_examples import MODEL, Behaviour, Json, ToyServer

import evalui
from evalui.cli.main import main
from evalui.errors import DataError, SpecError
from evalui.library.evaluation import RunWarning

LARGEST = '''from typing import List


def largest(numbers: List[int]) -> int:
    """ The largest of some
    >>> largest([1, 3, 2])
    3
    """
'''
TURN_BACK = '''

def turn(text: str) -> str:
    """ Backwards, which done twice is as before
    """
    return text[::-1]


def turn_back(text: str) -> str:
    """ The text that was turned
    """
'''
ROOT = '''import math


def root(n: int):
    """ The whole root, None if there is none.
    """
'''
HUMAN: Sequence[Mapping[str, str]] = (
    {
        "prompt": LARGEST,
        "entry_point": "largest",
        "canonical_solution": "    return max(numbers)\n",
        "test": "\n\nMETADATA = {'author': 'us'}\n\n\ndef check(candidate):\n"
        "    assert candidate([1, 3, 2]) == 3\n    assert candidate([-1]) == -1\n",
    },
    {
        "prompt": TURN_BACK,
        "entry_point": "turn_back",
        "canonical_solution": "    return turn(text)\n",
        "test": "def check(candidate):\n    for text in ('', 'ab', 'abc'):\n"
        "        assert candidate(turn(text)) == text\n",
    },
    {
        "prompt": ROOT,
        "entry_point": "root",
        "canonical_solution": "    n2 = math.isqrt(n)\n    return n2 if n2 * n2 == n else None\n",
        "test": "def check(candidate):\n    assert candidate(16) == 4\n"
        "    assert candidate(17) is None\n    assert abs(candidate(10**12) - 10**6) < 1e-6\n",
    },
)
BASIC: Sequence[Mapping[str, Any]] = (
    {
        "text": "Write a function to count the vowels of a text.",
        "code": "def vowels(text):\r\n  return sum(c in 'aeiou' for c in text)",
        "test_list": ["assert vowels('banana') == 3", "assert vowels('') == 0"],
    },
    {
        "text": "Write a python function to find the depth of a tree of nodes.",
        "code": "class Node:\r\n  def __init__(self, *inner):\r\n    self.inner = inner\r\n\r\n"
        "def depth(node):\r\n  return 1 + max(map(depth, node.inner), default=0)",
        "test_list": ["assert depth(tree) == 3", "assert depth(Node()) == 1"],
        "test_setup_code": "tree = Node(Node(), Node(Node()))",
    },
    {
        "text": "Write a function to merge two dictionaries into one.",
        "code": "def merge(one, other):\r\n  return {**one, **other}",
        "test_list": ["assert merge({'a': 1}, {'b': 2}) == {'a': 1, 'b': 2}"],
    },
)
SHOWN: Sequence[Mapping[str, Any]] = [
    {
        "text": f"Write a function to add {n}.",
        "code": f"def more(x):\r\n  return x + {n}",
        "test_list": [f"assert more(0) == {n}"],
    }
    for n in range(1, 11)
]


@pytest.fixture(autouse=True)
def _places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALUI_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("EVALUI_TASK_DATA", str(tmp_path / "hub"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    human = [{"task_id": f"HumanEval/{n}", **row} for n, row in enumerate(HUMAN)]
    blank = {"test_setup_code": "", "challenge_test_list": []}
    basic = [{"task_id": 11 + n, **blank, **row} for n, row in enumerate(BASIC)]
    shown = [{**row, **blank, "task_id": 1 + n} for n, row in enumerate(SHOWN)]
    for place, rows in {
        "openai/openai_humaneval/openai_humaneval/test-00000-of-00001.jsonl": human,
        "google-research-datasets/mbpp/full/test-00000-of-00001.jsonl": basic,
        "google-research-datasets/mbpp/full/prompt-00000-of-00001.jsonl": shown,
    }.items():
        path = tmp_path / "hub" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def _turned_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALUI_RUN_CODE", "true")


def evaluated(name: str, models: Sequence[str], **settings: Any) -> evalui.Run:
    """A run of a set of which there are fewer questions than are published."""
    with pytest.warns(RunWarning, match="published split"):
        return evalui.evaluate(
            name, models=models, mode="code_generation", progress=False, **settings
        )


@needs_bubblewrap
@pytest.mark.usefixtures("_turned_on")
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("humaneval", {"chat": True}),
        ("mbpp", {"chat": True}),
        ("mbpp", {"chat": False, "shots": 3}),
    ],
)
def test_example_solutions_pass_and_refusals_do_not(name: str, settings: Mapping[str, Any]):
    with evaluated(name, ["perfect", "refusing"], **settings) as run:
        metrics, trials = run.metrics(), run.trials()
        signature = run.cells()["signature"].iloc[0]
    passed = metrics[metrics["metric"] == "passed"].set_index("model")["value"]
    assert passed.to_dict() == {"perfect": 100.0, "refusing": 0.0}
    assert set(trials[trials["model"] == "perfect"]["rule"]) == {"passed"}
    assert set(trials[trials["model"] == "refusing"]["rule"]) == {"error"}
    assert "|mode:code_generation|" in signature
    assert "|rule:code.1-py" in signature


@needs_bubblewrap
@pytest.mark.usefixtures("_turned_on")
def test_a_run_by_command_takes_the_mode_of_the_set(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["run", "--dataset", "mbpp", "--model", "perfect", "--out", "out"]) == 0
    assert "--mode code_generation" in capsys.readouterr().err
    (cell,) = json.loads((tmp_path / "out" / "report.json").read_text())["answers"]
    assert (cell["mode"], cell["passed"], cell["n"]) == ("code_generation", 100.0, 3)
    page = (tmp_path / "out" / "report.md").read_text()
    assert "100" in page
    assert "passed" in page
    assert "rouge" not in page.lower()


@pytest.fixture
def endpoint() -> Iterator[ToyServer]:
    right = "```python\ndef largest(numbers):\n    return max(numbers)\n```"
    replies = cycle([right, right.replace("max", "min")])

    def write(answer: Json) -> Json:
        for choice in answer.get("choices", ()):
            if "message" in choice:
                choice["message"]["content"] = next(replies)
        return answer

    with ToyServer(Behaviour(alter=write)) as server:
        yield server


@needs_bubblewrap
@pytest.mark.usefixtures("_turned_on")
def test_repeats_give_pass_at_k(tmp_path: Path, endpoint: ToyServer):
    (tmp_path / "models.toml").write_text(
        f'[endpoint]\nbackend = "openai"\npath = "{MODEL}"\nchat = true\n'
        f'options = {{base_url = "{endpoint.url}", api = "chat"}}\n'
    )
    settings = {"limit": 1, "repeats": 4, "temperature": 0.8}
    file = tmp_path / "models.toml"
    with evaluated("humaneval", ["endpoint"], models_file=file, **settings) as run:
        values = run.metrics().set_index("metric")["value"]
    # 2 of 4 are right: 1 - C(2, 2) / C(4, 2) for two, 1 for four.
    assert values["passed"] == 50.0
    assert values["passed_pass_at_2"] == pytest.approx(100 * (1 - 1 / 6))
    assert values["passed_pass_at_4"] == 100.0


@pytest.mark.parametrize("name", ["humaneval", "mbpp"])
def test_where_it_is_not_turned_on_a_sentence_says_so_before_the_run(
    name: str, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(DataError, match=r"turned that on .EVALUI_RUN_CODE=true"):
        evalui.evaluate(name, models="perfect", mode="code_generation", progress=False)
    assert main(["run", "--dataset", name, "--model", "perfect", "--out", "out"]) == 2
    shown = capsys.readouterr().err
    assert "EVALUI_RUN_CODE=true" in shown
    assert len(shown.strip().splitlines()) == 1
    assert main(["benchmarks", "show", name]) == 0
    assert "EVALUI_RUN_CODE=true" in capsys.readouterr().out


def test_a_file_of_ones_own_is_code_and_its_cell_is_refused(tmp_path: Path):
    row = {"query": "Write add.", "response": "def add(a, b): return a + b"}
    row["python_tests"] = "assert add(1, 2) == 3"
    (tmp_path / "own.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(SpecError, match=r"Nothing in this run .*EVALUI_RUN_CODE=true"):
        evalui.evaluate("own.jsonl", models="perfect", mode="code_generation", progress=False)
