"""What is shipped beside the code: the demo models and the samples."""

import json
import random
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest
from safetensors import safe_open

from evalui.datasets.model import Layout
from evalui.datasets.reader import load
from evalui.types import DatasetKind, Sample

ASSETS = Path(__file__).parents[2] / "assets"
DEMO = ASSETS / "samples" / "demo"
MODELS = (ASSETS / "models" / "demo-early", ASSETS / "models" / "demo-late")


@pytest.fixture
def samples_module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ASSETS / "models")
    import samples

    return samples


@pytest.fixture
def lessons_module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ASSETS / "models")
    import lessons

    return lessons


def demo() -> tuple[Sample, ...]:
    return load([DEMO]).dataset.samples


def test_both_models_together_stay_under_six_megabytes() -> None:
    assert sum(file.stat().st_size for folder in MODELS for file in folder.iterdir()) < 6e6


@pytest.mark.parametrize("folder", MODELS, ids=lambda folder: folder.name)
def test_a_model_is_an_ordinary_qwen2(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    assert config["architectures"] == ["Qwen2ForCausalLM"]
    assert config["tie_word_embeddings"]
    assert config["max_position_embeddings"] == 4096


@pytest.mark.parametrize("folder", MODELS, ids=lambda folder: folder.name)
def test_a_model_folder_holds_safetensors_and_json_only(folder: Path) -> None:
    assert {file.name for file in folder.iterdir()} == {
        "chat_template.jinja",
        "config.json",
        "generation_config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    }


@pytest.mark.parametrize("folder", MODELS, ids=lambda folder: folder.name)
def test_a_model_has_a_million_parameters_in_bfloat16(folder: Path) -> None:
    with safe_open(folder / "model.safetensors", framework="numpy") as weights:
        slices = [weights.get_slice(name) for name in weights.keys()]  # noqa: SIM118 - no mapping
    sizes = [_product(part.get_shape()) for part in slices]
    assert 0.9e6 < sum(sizes) < 1.1e6
    assert {part.get_dtype() for part in slices} == {"BF16"}


def test_both_models_share_one_tokenizer() -> None:
    early, late = ((folder / "tokenizer.json").read_bytes() for folder in MODELS)
    assert early == late


def test_the_demo_files_are_what_the_seeded_function_makes(samples_module: ModuleType) -> None:
    shipped = {file.name: file.read_text(encoding="utf-8") for file in DEMO.iterdir()}
    assert shipped == samples_module.files()


def test_the_demo_has_no_fault_and_at_least_200_questions() -> None:
    loaded = load([DEMO])
    assert loaded.faults == ()
    assert loaded.notes == ()
    assert len(loaded.dataset.samples) >= 200


def test_no_demo_question_is_asked_twice() -> None:
    dataset = load([DEMO]).dataset
    asked = [sample.question for sample in (*dataset.samples, *dataset.shots)]
    assert len(set(asked)) == len(asked)


def test_right_letters_are_balanced_in_every_demo_subject() -> None:
    golds = Counter((sample.subject, sample.target) for sample in demo())
    assert set(golds.values()) == {5}


def test_every_demo_subject_has_five_worked_examples() -> None:
    shots = Counter(sample.subject for sample in load([DEMO]).dataset.shots)
    assert shots == dict.fromkeys({sample.subject for sample in demo()}, 5)


def test_half_of_the_demo_is_chinese() -> None:
    chinese = sum(sample.subject.endswith("_zh") for sample in demo())
    assert chinese == len(demo()) / 2


def test_the_faulty_sample_shows_the_typical_faults() -> None:
    rules = Counter(fault.rule for fault in load([ASSETS / "samples" / "faulty.csv"]).faults)
    assert rules == {
        "shifted-row": 2,
        "answer-not-an-option": 2,
        "gap-in-options": 1,
        "empty-question": 1,
        "duplicate-id": 1,
        "multi-letter-answer": 1,
        "too-few-options": 1,
    }


@pytest.mark.parametrize(("kind", "n"), [("general_qa", 3), ("multiple_choice", 2)])
def test_the_config_of_swift_finds_its_questions(kind: DatasetKind, n: int) -> None:
    path = ASSETS / "samples" / "swift" / "custom_config.json"
    assert len(load([path], layout=Layout(kind=kind)).dataset.samples) == n


@pytest.mark.parametrize(
    ("folder", "words"),
    [("swift", "Apache License"), ("zbench", "Attribution 4.0 International")],
)
def test_foreign_samples_carry_their_licence(folder: str, words: str) -> None:
    assert words in (ASSETS / "samples" / folder / "LICENSE").read_text(encoding="utf-8")


def test_every_sample_is_attributed() -> None:
    sources = (ASSETS / "samples" / "SOURCES.md").read_text(encoding="utf-8")
    shipped = {path.name for path in (ASSETS / "samples").iterdir()} - {"SOURCES.md"}
    assert {name for name in shipped if f"`{name}" in sources} == shipped


def test_a_lesson_reads_as_a_prompt_and_teaches_every_answer(lessons_module: ModuleType) -> None:
    lesson = lessons_module.choices_lesson(random.Random(3), ("capitals",))
    taught = [piece for piece in lesson if piece.taught]
    text = "".join(piece.text for piece in lesson)
    assert len(taught) == len(lesson) / 2
    assert text.count("A. ") == len(taught)
    assert all(piece.text.strip() in "ABCD" and piece.meant in text for piece in taught)


def _product(shape: list[int]) -> int:
    total = 1
    for side in shape:
        total *= side
    return total
