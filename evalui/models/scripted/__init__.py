"""The `scripted` backend: models that answer by rule, for tests and as baselines of the demo.

A scripted model may receive the answers (see `base.NeedsAnswerKey`); no other model does. It finds
the question in the prompt, whatever the template, and the slots of its options. A scripted judge
receives no answers and depends on its prompt alone (see `judges`).
"""

import hashlib
import json
import math
import random
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from evalui.errors import MissingAbility, ModelError
from evalui.messages import sentence
from evalui.models.base import (
    BACKENDS,
    Backend,
    BackendTraits,
    Model,
    ModelEntry,
    sampling_seed,
)
from evalui.models.scripted.judges import PreferenceRule, parse_judge_prompt, write_verdict
from evalui.models.scripted.rules import RULES, SeenOpenQuestion, SeenQuestion
from evalui.models.scripted.shown_questions import KnownSamples, read_slots
from evalui.types import (
    ABILITY_OF,
    Ability,
    Decide,
    Generate,
    GeneratedText,
    LabelProbs,
    Loglik,
    Logprob,
    NextToken,
    Prompt,
    Request,
    Response,
    Sample,
    Usage,
)

VERSION = "scripted.2"  # part of every fingerprint: raise it when an answer may change
_LOG_LINE = 128  # bytes, of which a page of a file has a whole number


class ScriptedBackend(Backend):
    """Opens a rule: `options.rule`, with `seed`, `delay` (seconds) and `log` (a file)."""

    traits = BackendTraits(rule_based=True, needs_question=True)

    def abilities(self, entry: ModelEntry) -> frozenset[Ability]:
        """The abilities of the entry's rule; none if the rule is unknown."""
        rule = RULES.get(str(entry.options.get("rule", "")))
        return rule.abilities if rule else frozenset()

    def sees_pictures(self, entry: ModelEntry) -> bool:
        """A rule takes pictures for what they are in a text, marks, and looks at none."""
        del entry
        return True

    def honours(self, entry: ModelEntry) -> frozenset[str]:
        """Above temperature 0 a rule draws its reply, and nothing else is to be set."""
        del entry
        return frozenset({"temperature"})

    def problem(self, entry: ModelEntry) -> str:
        """Why there is no such rule, "" if there is."""
        rule = str(entry.options.get("rule", ""))
        if rule in RULES:
            return ""
        return sentence("error.unknown-rule", rule=rule, known=", ".join(RULES))

    def open(self, entry: ModelEntry) -> Model:
        """A model that knows no answers yet."""
        if problem := self.problem(entry):
            raise ModelError(problem)
        return ScriptedModel(entry)


class ScriptedModel:
    """A model that answers by rule; see `base.Model`."""

    def __init__(self, entry: ModelEntry, key: Sequence[Sample] = ()) -> None:
        self.name = entry.name
        self._rule_name = str(entry.options["rule"])
        self._rule = RULES[self._rule_name]
        self._seed = int(entry.options.get("seed", 0))
        self._delay = float(entry.options.get("delay", 0.0))
        self._log = str(entry.options.get("log", ""))
        self.abilities = self._rule.abilities
        self.is_instant = not self._delay and not self._log
        self.fingerprint = ""
        self.set_answer_key(key)

    def set_answer_key(self, samples: Sequence[Sample]) -> None:
        """Replace the samples whose answers are known; a judge ignores them."""
        known: list[tuple[object, ...]] = []
        key = () if self._rule.preference_rule else tuple(samples)
        self._last_scored: tuple[str | None, Sample | None, Sequence[float]] = (None, None, ())
        self._known_samples = KnownSamples(key)
        for sample in key:
            known.append((sample.id, sample.question, sample.choices, sample.target))
            if sample.follow_ups:
                known.append(sample.follow_ups)
        identity = f"{VERSION}|{self._rule_name}|{self._seed}|{known!r}"
        self.fingerprint = f"scripted:{hashlib.sha256(identity.encode()).hexdigest()}"

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        """Yield the responses one by one, in order."""
        for index, request in enumerate(requests):
            ability = ABILITY_OF[type(request)]
            if ability not in self.abilities:
                raise MissingAbility(
                    "cannot-answer", model=self.name, request=type(request).__name__
                )
            response = self._respond(request)
            if self._delay:
                time.sleep(self._delay)
            if self._log:
                _log_request(Path(self._log), request)
            yield index, response

    def close(self) -> None:
        """There is nothing to free."""

    def _respond(self, request: Request) -> Response:
        match request:
            case NextToken():
                return self._label_probs(request)
            case Generate():
                return self._text(request)
            case Loglik():
                return self._logprob(request)
            case Decide():
                raise AssertionError("no rule has the ability")

    def _label_probs(self, request: NextToken) -> LabelProbs:
        seen = self._find_question(request.context)
        scores = _by_slot(seen, self._rule.score_options(seen, self._seed))
        logs = [math.log(self._rule.mass) + log for log in _log_softmax(scores)]
        if len(logs) != len(request.labels):
            raise ModelError(
                "labels-differ",
                model=self.name,
                options=len(logs),
                sample=seen.sample.id,
                labels=len(request.labels),
            )
        best = logs.index(max(logs))
        top_token = _first_token(self._rule.write_choice(seen, best))
        return LabelProbs(tuple(logs), self._rule.mass, top_token)

    def _text(self, request: Generate) -> GeneratedText:
        prompt = _as_text(request.prompt)
        if self._rule.preference_rule:
            reply = self._verdict(prompt, self._rule.preference_rule)
        elif opened := self._find_open_question(prompt):
            reply = self._rule.write_answer(opened, self._drawn_seed(request))
        else:
            seen = self._find_question(request.prompt)
            scores = _by_slot(seen, self._rule.score_options(seen, self._seed))
            scores = self._with_sampling_noise(scores, request)
            reply = self._rule.write_choice(seen, scores.index(max(scores)))
        for stop in request.stop:
            reply = reply.partition(stop)[0]
        return GeneratedText(reply, Usage(_count_tokens(prompt), _count_tokens(reply)))

    def _drawn_seed(self, request: Generate) -> int:
        """The seed of a written answer: its own of each draw above temperature 0."""
        return sampling_seed(self._seed, request) if request.temperature else self._seed

    def _with_sampling_noise(self, scores: list[float], request: Generate) -> list[float]:
        """Scores whose best is a draw at the temperature of the request (the Gumbel-max trick)."""
        if not request.temperature:
            return scores
        rng = random.Random(sampling_seed(self._seed, request))
        return [
            score / request.temperature - math.log(max(rng.expovariate(1.0), 1e-300))
            for score in scores
        ]

    def _verdict(self, prompt: str, prefers: PreferenceRule) -> str:
        shown = parse_judge_prompt(prompt)
        if shown is None:
            raise ModelError("only-judges", model=self.name)
        return write_verdict(prefers, shown, self._seed)

    def _find_open_question(self, prompt: str) -> SeenOpenQuestion | None:
        """The open question that comes last in the prompt, None if there is none."""
        opened = self._known_samples.find_open_turn(prompt)
        if opened is None:
            return None
        sample, turn = opened
        return SeenOpenQuestion(sample, turn, prompt, self._known_samples.other_references(sample))

    def _logprob(self, request: Loglik) -> Logprob:
        """The rule's probability of an option's text; -10 for any other text.

        Without a question every text has the same probability, so that UN normalisation (by the
        unconditional probability of the option) changes nothing.
        """
        sample, logs = self._score_unshown_options(_as_text(request.context))
        text = request.continuation.strip()
        n_tokens = _count_tokens(text)
        if sample is None or text not in sample.choices:
            return Logprob(-10.0, n_tokens, greedy=False)
        own = max(log for log, choice in zip(logs, sample.choices, strict=True) if choice == text)
        return Logprob(own, n_tokens, greedy=own == max(logs))

    def _score_unshown_options(self, prompt: str) -> tuple[Sample | None, Sequence[float]]:
        """The question and the logarithms of its options' probabilities; None and () without one.

        The options of a question are requested one after another: it is searched for once.
        """
        known, sample, logs = self._last_scored
        if known != prompt:
            sample = self._known_samples.find_choice_sample(prompt)
            logs = ()
            if sample:
                seen = SeenQuestion(sample, (), prompt)
                logs = _log_softmax(self._rule.score_options(seen, self._seed))
            self._last_scored = prompt, sample, logs
        return sample, logs

    def _find_question(self, prompt: Prompt) -> SeenQuestion:
        text = _as_text(prompt)
        sample = self._known_samples.find_choice_sample(text)
        if sample is None:
            raise ModelError("unknown-question", model=self.name)
        return SeenQuestion(sample, read_slots(sample, text), text)


def _as_text(prompt: Prompt) -> str:
    return prompt if isinstance(prompt, str) else "\n".join(turn.content for turn in prompt)


def _by_slot(seen: SeenQuestion, scores: Sequence[float]) -> list[float]:
    """The scores of the options in the order of their slots."""
    return [scores[content] for content in seen.slots]


def _log_softmax(scores: Sequence[float]) -> list[float]:
    best = max(scores)
    total = best + math.log(math.fsum(math.exp(score - best) for score in scores))
    return [score - total for score in scores]


def _count_tokens(text: str) -> int:
    """A rough count: four bytes to a token."""
    return max(1, len(text.encode()) // 4)


def _first_token(text: str) -> str:
    """About the first token of a real tokenizer: a short word or a mark."""
    match = re.match(r"\w{1,8}|\W", text)
    return match[0] if match else ""


def _log_request(log: Path, request: Request) -> None:
    """One line for each request answered, so that a test can count what was computed.

    Each has 128 bytes: none crosses a page of the file, where a kill can cut a write in two.
    """
    digest = hashlib.sha256(repr(request).encode()).hexdigest()
    line = json.dumps({"request": type(request).__name__, "sha256": digest})
    with log.open("a", encoding="utf-8") as file:
        file.write(f"{line:<{_LOG_LINE - 1}}\n")


BACKENDS.register("scripted")(ScriptedBackend())
