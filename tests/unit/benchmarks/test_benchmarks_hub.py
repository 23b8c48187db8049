"""Data are fetched whole and verified by the addresses of the hub, or nothing is kept."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from benchmark_examples import FakeHub

from evalui.benchmarks.hub import download_sizes, fetch
from evalui.benchmarks.index import find
from evalui.benchmarks.places import MANIFEST
from evalui.benchmarks.preparing import resolve, task_data
from evalui.errors import DataError
from evalui.settings import Settings

Files = Callable[[str], dict[str, bytes]]
CODE = {"commonsense_qa.py": b"import os", "README.md": b"# set", ".gitattributes": b"x"}


def test_the_splits_are_fetched_and_nothing_else(
    settings: Settings, hub: FakeHub, published: Files
):
    files = published("tau/commonsense_qa")
    hub.files["main"] = files | CODE | {"data/test-00000-of-00001.parquet": b"unused"}
    hub.large = frozenset(files)
    fetched = fetch(find("csqa"), task_data(settings))
    assert set(fetched.files) == set(files)
    assert fetched.revision == hub.commit("main")
    assert not any("test-0000" in each or ".py" in each for each in hub.asked)
    prepared = resolve("commonsense_qa", settings)
    assert (prepared.questions, prepared.shots) == (40, 5)
    assert (prepared.origin, prepared.revision) == ("fetched", hub.commit("main"))
    left = [path.name for path in (settings.data_dir / "benchmarks" / "hub").iterdir()]
    assert left == ["tau"]  # no folder of a download stays behind


def test_small_files_are_verified_by_the_digest_of_git(
    settings: Settings, hub: FakeHub, published: Files
):
    hub.files["main"] = published("openai/gsm8k")
    assert len(fetch(find("gsm8k"), task_data(settings)).files) == 2


@pytest.mark.parametrize("large", [True, False])
def test_a_file_that_is_not_what_the_hub_lists_is_not_kept(
    settings: Settings, hub: FakeHub, published: Files, large: bool
):
    hub.files["main"] = published("tau/commonsense_qa")
    name = "data/validation-00000-of-00001.parquet"
    content = hub.files["main"][name]
    hub.served[name] = bytes(len(content))
    hub.large = frozenset({name} if large else ())
    with pytest.raises(DataError, match="not what the hub says"):
        fetch(find("csqa"), task_data(settings))
    assert not list((settings.data_dir / "benchmarks" / "hub").rglob("*.parquet"))


def test_a_set_with_a_script_is_fetched_as_converted(
    settings: Settings, hub: FakeHub, published: Files
):
    data = published("openai/gsm8k")["main/test-00000-of-00001.parquet"]
    hub.files["main"] = CODE
    hub.files["refs/convert/parquet"] = {"main/test/0000.parquet": data}
    fetch(find("gsm8k"), task_data(settings))
    assert resolve("gsm8k", settings).questions == 4


def test_sets_of_one_folder_keep_each_others_files(
    settings: Settings, hub: FakeHub, published: Files
):
    hub.files["main"] = published("openai/gsm8k")
    fetch(find("gsm8k"), task_data(settings))
    other = replace(find("gsm8k"), name="other", configs=("socratic",), shots="")
    hub.files["main"] = {"socratic/test.jsonl": b'{"question": "?", "answer": "#### 1"}\n'}
    fetch(other, task_data(settings))
    place = settings.data_dir / "benchmarks" / "hub" / "openai/gsm8k"
    names = sorted(path.relative_to(place).as_posix() for path in place.rglob("*t*.*"))
    assert "main/test-00000-of-00001.parquet" in names
    assert "socratic/test.jsonl" in names
    assert resolve("gsm8k", settings).questions == 4


def test_names_that_lead_elsewhere_are_passed_over(
    settings: Settings, hub: FakeHub, published: Files, tmp_path: Path
):
    bad = {"../main/test-1.parquet": b"x", "/main/test-1.parquet": b"x"}
    hub.files["main"] = published("openai/gsm8k") | bad
    assert len(fetch(find("gsm8k"), task_data(settings)).files) == 2
    assert not (tmp_path / "main").exists()


def test_too_much_is_not_fetched(settings: Settings, hub: FakeHub, published: Files):
    hub.files["main"] = published("openai/gsm8k")
    with pytest.raises(DataError, match="over the limit of 1000"):
        fetch(find("gsm8k"), task_data(settings), limit=1000)
    assert not any("resolve" in each for each in hub.asked)


def test_a_hub_without_such_files_is_said_to_have_none(settings: Settings, hub: FakeHub):
    hub.files |= {"main": CODE, "refs/convert/parquet": {"x/y.parquet": b""}}
    with pytest.raises(DataError, match="no files of questions for the split “test”"):
        fetch(find("gsm8k"), task_data(settings))


@pytest.mark.usefixtures("hub")
def test_a_hub_that_has_no_such_set_or_cannot_be_reached(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    with pytest.raises(DataError, match=r"openai/gsm8k cannot be fetched: .*copy the files of"):
        fetch(find("gsm8k"), task_data(settings))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # nobody listens there
    with pytest.raises(DataError, match=rf"copy the files .* to {settings.data_dir}"):
        fetch(find("gsm8k"), task_data(settings))


def test_a_set_that_is_not_on_the_hub_says_where_it_is_from(settings: Settings):
    with pytest.raises(DataError, match=r"from github.com/CLUEbenchmark/FewCLUE to /"):
        fetch(find("bustm"), task_data(settings))


def test_a_fetched_file_that_has_changed_since_is_refused(
    settings: Settings, hub: FakeHub, published: Files
):
    hub.files["main"] = published("openai/gsm8k")
    place = fetch(find("gsm8k"), task_data(settings)).place
    assert (place / MANIFEST).is_file()
    test = place / "main/test-00000-of-00001.parquet"
    (place / "main/train-00000-of-00001.parquet").replace(test)
    with pytest.raises(DataError, match="not the file that was fetched"):
        resolve("gsm8k", settings)


def test_what_a_fetch_would_get_is_known_before(settings: Settings, hub: FakeHub, published: Files):
    files = published("tau/commonsense_qa")
    hub.files["main"] = files | CODE | {"data/test-00000-of-00001.parquet": b"unused"}
    sizes = download_sizes(find("csqa"), task_data(settings))
    assert sizes == {name: len(data) for name, data in files.items()}
    assert not any("/resolve/" in asked for asked in hub.asked)
