"""A backend: a model that chooses the option with the most words of the question."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from evalui.models import Backend, BackendTraits, Model, ModelEntry
from evalui.types import Ability, Generate, GeneratedText, Language, Prompt, Request, Response

_OPTION = re.compile(r"^([A-J])[.)] (.+)$", re.MULTILINE)


class WordOverlapModel:
    """Replies to a question with the letter of one of its options."""

    fingerprint = "word_overlap.1"  # responses are kept under it: raise it when one may change
    abilities: frozenset[Ability] = frozenset({"generate"})

    def __init__(self, name: str) -> None:
        self.name = name

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        """Yield each request's index and response."""
        for index, request in enumerate(requests):
            assert isinstance(request, Generate), "no request of another kind is sent to it"
            yield index, GeneratedText(_best_letter(_last_question(request.prompt)))

    def close(self) -> None:
        """Nothing was loaded."""


class WordOverlapBackend(Backend):
    """Opens the one model there is; it needs no settings."""

    traits = BackendTraits(rule_based=True)
    label: ClassVar[Mapping[Language, str]] = {"en": "Word overlap", "zh": "词语重合"}

    def abilities(self, entry: ModelEntry) -> frozenset[Ability]:
        """It writes replies and knows no probabilities."""
        del entry
        return WordOverlapModel.abilities

    def problem(self, entry: ModelEntry) -> str:
        """Nothing can be wrong with it."""
        del entry
        return ""

    def open(self, entry: ModelEntry) -> Model:
        """The model; packages that take long to import would be imported here."""
        return WordOverlapModel(entry.name)


def _last_question(prompt: Prompt) -> str:
    text = prompt if isinstance(prompt, str) else prompt[-1].content
    return text.split("\n\n")[-1]


def _best_letter(question: str) -> str:
    words = set(question.partition("\n")[0].casefold().split())
    options = _OPTION.findall(question)
    return max(options, key=lambda option: len(words.intersection(option[1].casefold().split())))[0]


WORD_OVERLAP = WordOverlapBackend()
