"""A run of a server, opened by its address: the same frames as in the store it comes from."""

import warnings
from pathlib import Path

import pandas as pd
import pytest
from api_server_examples import api_server
from library_charts import charts_of

import evalui
from evalui.errors import EvaluiError

pytestmark = pytest.mark.slow

QUESTIONS = "subject,question,A,B,C,D,answer\n" + "".join(
    f"s{n % 3},Which letter is number {n}?,a{n},b{n},c{n},d{n},{'ABCD'[n % 4]}\n" for n in range(12)
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with two runs: of options, and of judged answers."""
    folder = tmp_path_factory.mktemp("served")
    (folder / "letters.csv").write_text(QUESTIONS)
    (folder / "open.jsonl").write_text(
        "".join(f'{{"query": "What is {n} plus 1?", "response": "{n + 1}"}}\n' for n in range(6))
    )
    data, models = folder / "data", ["perfect", "noisy"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", evalui.RunWarning)
        evalui.evaluate(
            folder / "open.jsonl",
            models=["perfect", "verbose"],
            judges="reference-judge",
            name="Judged",
            out=data,
            progress=False,
        ).close()
        evalui.evaluate(
            folder / "letters.csv",
            models=models,
            mode="generation",
            orders="circular",
            name="Options",
            out=data,
            progress=False,
        ).close()
    return data


def test_a_run_of_a_server_is_the_run_of_its_store(folder: Path, tmp_path: Path):
    with api_server(folder) as server:
        listed = evalui.list_runs(server.url, token=server.token)
        pd.testing.assert_frame_equal(listed, evalui.list_runs(folder))
        assert listed["name"].tolist() == ["Options", "Judged"]
        for run_id in listed["id"]:
            address = f"{server.url}/?run={run_id}"
            with (
                evalui.open(address, token=server.token) as far,
                evalui.open(folder, run=run_id) as here,
            ):
                assert far.name == here.name
                for name in ("cells", "metrics", "pairs", "standings", "verdicts", "votes"):
                    pd.testing.assert_frame_equal(getattr(far, name)(), getattr(here, name)())
                assert charts_of(far) == charts_of(here)
                same = ["dataset", "model", "mode", "id", "choice", "correct", "reply", "signature"]
                pd.testing.assert_frame_equal(far.trials(same), here.trials(same))
                pages = [
                    run.report(tmp_path / f"{place}.html").read_bytes()
                    for place, run in enumerate((far, here))
                ]
                assert pages[0] == pages[1]
        with pytest.raises(EvaluiError):
            evalui.open(f"{server.url}/?run=none", token=server.token)
        with pytest.raises(EvaluiError):
            evalui.list_runs(server.url, token="wrong")
