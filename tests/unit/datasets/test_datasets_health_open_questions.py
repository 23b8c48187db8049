from evalui.datasets import load
from evalui.datasets.health import LengthStatistics, OpenHealth, check_open_questions
from evalui.shipped_files import ASSETS
from evalui.types import Message, Sample


def test_z_bench_is_counted() -> None:
    health = check_open_questions(load([ASSETS / "samples" / "zbench"]).dataset.samples)
    assert (health.n, health.without_reference, health.with_guidance) == (311, 69, 0)
    assert health.languages == {"zh": 303, "en": 8}
    assert sum(health.capabilities.values()) == 311
    assert health.capabilities["基础能力-事实问答"] == 10
    assert health.duplicates == (
        ("subjective_zbench/9", "subjective_zbench/278"),
        ("subjective_zbench/222", "subjective_zbench/277"),
    )


def test_conversations_references_and_guidance_are_counted() -> None:
    system, turn = Message("system", "Be brief."), Message("user", "Hello")
    samples = (
        Sample("1", "Why?", target=("ab", "abcd"), metadata={"guidance": "g", "language": "zh"}),
        Sample("2", "How  so?", history=(system,)),
        Sample("3", "How so?", history=(system, turn), metadata={"capability": "talk"}),
        Sample("4", "为什么？", follow_ups=("And?",)),
    )
    health = check_open_questions(samples)
    assert health == OpenHealth(
        n=4,
        without_reference=3,
        languages={"zh": 2, "en": 2},
        capabilities={"": 3, "talk": 1},
        duplicates=(),
        question_length=LengthStatistics(4, 5.5, 8),
        reference_length=LengthStatistics(2, 3.0, 4),
        conversations=2,
        with_guidance=1,
    )


def test_the_same_question_with_the_same_history_is_a_duplicate() -> None:
    samples = (Sample("1", "How  so?"), Sample("2", "Why?"), Sample("3", "How so?\n"))
    assert check_open_questions(samples).duplicates == (("1", "3"),)


def test_of_no_questions_everything_is_empty() -> None:
    health = check_open_questions(())
    assert (health.n, health.capabilities, health.reference_length) == (0, {}, None)
    assert health.question_length == LengthStatistics(0, 0.0, 0)
