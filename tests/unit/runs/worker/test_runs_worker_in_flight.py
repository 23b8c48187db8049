from runs_examples import RESPONSE, sample

from evalui.modes import MODES, ModeSettings
from evalui.runs.worker.in_flight import InFlightBatch
from evalui.types import Generate, GeneratedText, Logprob, Request, Sample, Trial, Variant

ORIGIN = Variant((0, 1, 2, 3))
SETTING = ModeSettings(shots={})


class Sampling:
    """A mode that draws two replies and is right if they agree."""

    abilities_needed = "generate"
    shows_options = True
    readings = ("tolerant",)
    headline = "tolerant"

    def plan(self, sample: Sample, variant: Variant, setting: ModeSettings) -> tuple[Request, ...]:
        del sample, variant, setting
        return (Generate("Q", temperature=1.0),) * 2

    def grade(
        self,
        sample: Sample,
        variant: Variant,
        responses: list[GeneratedText],
        setting: ModeSettings,
    ) -> Trial:
        del setting
        reply = "|".join(response.text for response in responses)
        return Trial(sample.id, variant, 0, "tolerant", {}, reply=reply)


def test_a_trial_is_graded_when_its_last_response_is_there() -> None:
    window = InFlightBatch([(sample(1), ORIGIN)], MODES["cloze"], SETTING, "f")
    *first, last = window.unanswered()
    for ask in first:
        assert window.add_response(ask, Logprob(-1.0 - ask, 1, greedy=False)) == []
    (trial,) = window.add_response(last, Logprob(-9.0, 1, greedy=False))
    assert trial.choice == 0
    assert window.unanswered() == []


def test_the_same_request_is_sent_once_for_all_trials_that_need_it() -> None:
    pairs = [(sample(1), ORIGIN), (sample(1), ORIGIN)]
    window = InFlightBatch(pairs, MODES["multiple_choice"], SETTING, "f")
    assert len(window.requests) == 1
    assert len(window.add_response(0, RESPONSE)) == 2


def test_questions_share_the_requests_without_their_question() -> None:
    pairs = [(sample(1), ORIGIN), (sample(2), ORIGIN)]
    window = InFlightBatch(pairs, MODES["cloze"], SETTING, "f")
    # Options 2 3 4 5 and 4 5 6 7: after nothing, six texts are scored for eight.
    assert len(window.requests) == 4 + 4 + 6


def test_what_is_drawn_is_drawn_for_each_anew_and_never_kept() -> None:
    window = InFlightBatch([(sample(1), ORIGIN), (sample(2), ORIGIN)], Sampling(), SETTING, "f")
    assert list(window.keys.values()) == [None] * 4
    done = [
        trial for ask in range(4) for trial in window.add_response(ask, GeneratedText(str(ask)))
    ]
    assert [trial.reply for trial in done] == ["0|1", "2|3"]


def test_a_conversation_asks_on_after_each_answer() -> None:
    talk = Sample("q", "One?", target=("1",), follow_ups=("Two?", "Three?"))
    window = InFlightBatch([(talk, Variant(()))], MODES["question_answer"], SETTING, "f")
    for asked, answer in enumerate(("a", "b")):
        assert window.unanswered() == [asked]
        assert window.add_response(asked, GeneratedText(answer)) == []
    (trial,) = window.add_response(2, GeneratedText("c"))
    assert trial.turns == ("a", "b", "c")
    assert window.unanswered() == []


def test_a_response_for_one_trial_counts_for_another() -> None:
    talk = Sample("q", "One?", target=("1",), follow_ups=("Two?",))
    pairs = [(talk, Variant(())), (talk, Variant(()))]
    window = InFlightBatch(pairs, MODES["question_answer"], SETTING, "f")
    assert window.add_response(0, GeneratedText("a")) == []
    assert window.unanswered() == [1]
    assert len(window.add_response(1, GeneratedText("b"))) == 2


def test_a_trial_that_comes_after_the_answers_it_needs_is_graded_at_once() -> None:
    window = InFlightBatch([(sample(1), ORIGIN)], MODES["multiple_choice"], SETTING, "f")
    (first,) = window.add_response(0, RESPONSE)
    window.add([(sample(1), ORIGIN)])
    assert window.take_decided() == [first]
    assert window.take_new() == [0]
    assert window.unanswered() == []
    window.forget()
    assert window.requests == {}
