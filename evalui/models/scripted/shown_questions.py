"""The questions a scripted model knows, recognised in its prompts.

The time to search a prompt does not depend on how many texts are known.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from evalui.errors import ModelError
from evalui.pictures import has_marks, without
from evalui.types import LETTERS, Sample

_SEPARATORS = re.compile(r"\W{0,4}")  # the characters between a letter and its option
# A text of at least so many characters is indexed by so many of its last ones.
_ENDING_LENGTHS = (16, 8, 4, 2, 1)
_WINDOW = 256  # characters of a prompt that are searched together, the last ones first


@dataclass(frozen=True, slots=True)
class OtherReferences:
    """The `texts` without those in the ranges `excluded`, which ascend; nothing is copied."""

    texts: Sequence[str]
    excluded: tuple[range, ...]

    def __len__(self) -> int:
        """The number of texts that are not excluded."""
        return len(self.texts) - sum(map(len, self.excluded))

    def __getitem__(self, index: int) -> str:
        """Text number `index` of those that are not excluded."""
        for own in self.excluded:
            index += len(own) if index >= own.start else 0
        return self.texts[index]


class SubstringFinder:
    """Finds the occurrences of many texts in a prompt.

    An index of the texts' last characters gives the places where one may end. The texts that end
    there are neighbours, in the sorted reversed texts, of the reversed prompt up to there.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = sorted({text[::-1] for text in texts})
        self._longest = max(map(len, self._texts), default=0)
        self._prefix_links = _longest_prefix_links(self._texts)
        endings: dict[int, set[str]] = {}
        for text in self._texts:
            if length := next((length for length in _ENDING_LENGTHS if length <= len(text)), 0):
                endings.setdefault(length, set()).add(text[:length][::-1])
        self._endings = tuple(endings.items())
        self._has_empty = "" in self._texts
        last = "".join(sorted({re.escape(text[0]) for text in self._texts if text}))
        self._last_character = re.compile(f"[{last}]" if last else r"\Z\A.")  # or nothing at all

    def last_occurrences(self, prompt: str) -> Iterator[tuple[int, str]]:
        """Each text that the prompt has, once, with the end of its last occurrence.

        The one that ends last comes first; of those that end together the longest.
        """
        seen: set[str] = set()
        for end, text in self.occurrences(prompt):
            if text not in seen:
                seen.add(text)
                yield end, text

    def occurrences(self, prompt: str) -> Iterator[tuple[int, str]]:
        """Each occurrence of a text in the prompt with its end, ordered as `last_occurrences`.

        The empty text occurs at the end only.
        """
        for end in self._candidate_ends(prompt):
            for at in self._texts_ending_at(prompt, end):
                if self._texts[at] or end == len(prompt):
                    yield end, self._texts[at][::-1]

    def _candidate_ends(self, prompt: str) -> Iterator[int]:
        """Where a text may end, the last place first."""
        if self._has_empty and not self._is_candidate(prompt, len(prompt)):
            yield len(prompt)
        for begin in range(_last_window(prompt), -1, -_WINDOW):
            matches = self._last_character.finditer(prompt, begin, begin + _WINDOW)
            for end in reversed([match.end() for match in matches]):
                if self._is_candidate(prompt, end):
                    yield end

    def _is_candidate(self, prompt: str, end: int) -> bool:
        """Whether a text that is not empty may end here."""
        return any(prompt[end - length : end] in endings for length, endings in self._endings)

    def _texts_ending_at(self, prompt: str, end: int) -> Iterator[int]:
        """The indices of all texts that end here in the prompt, the longest first."""
        before = prompt[max(0, end - self._longest) : end][::-1]
        # Every text that `before` begins with is a prefix of the last text not after `before`.
        at = bisect_right(self._texts, before) - 1
        while at >= 0:
            if before.startswith(self._texts[at]):
                yield at
            at = self._prefix_links[at]


class KnownSamples:
    """The samples a scripted model knows, with their answers, also without their pictures."""

    def __init__(self, samples: Sequence[Sample] = ()) -> None:
        choosing: dict[str, list[Sample]] = {}
        self._open_turns: dict[str, tuple[Sample, int]] = {}
        for sample in samples:
            if sample.choices:
                choosing.setdefault(sample.question, []).append(sample)
                continue
            for turn, question in enumerate((sample.question, *sample.follow_ups)):
                self._open_turns.setdefault(question, (sample, turn))
                self._open_turns.setdefault(without(question), (sample, turn))
        for sample in _without_pictures(samples):
            choosing.setdefault(sample.question, []).append(sample)
        self._by_question = {
            question: _SameQuestionSamples(alike) for question, alike in choosing.items()
        }
        self._choice_finder = SubstringFinder(self._by_question)
        self._open_finder = SubstringFinder(self._open_turns)
        self._references = _References(samples)

    def find_choice_sample(self, prompt: str) -> Sample | None:
        """The sample with options whose question comes last in the prompt; None if there is none.

        Questions that are followed by their options have precedence, since another question's text
        may be part of an option. Of questions that end at the same place ("2+2=" and "1+2+2=") it
        is the longest, of equal questions the first.
        """
        last: Sample | None = None
        for end, question in self._choice_finder.occurrences(prompt):
            twins = self._by_question[question]
            if shown := twins.match_options(prompt[end:]):
                return shown
            last = last or twins.first
        return last

    def find_open_turn(self, prompt: str) -> tuple[Sample, int] | None:
        """The open question that comes last in the prompt, and which turn of its sample it is."""
        _, question = next(self._open_finder.last_occurrences(prompt), (0, None))
        return None if question is None else self._open_turns[question]

    def other_references(self, sample: Sample) -> OtherReferences:
        """The references of all samples but this one, in their order."""
        return self._references.without(sample)


def _without_pictures(samples: Iterable[Sample]) -> Iterator[Sample]:
    """Questions with options that have pictures, as prompts show them that leave these out."""
    for sample in samples:
        if sample.choices and any(map(has_marks, (sample.question, *sample.choices))):
            choices = tuple(map(without, sample.choices))
            yield replace(sample, question=without(sample.question), choices=choices)


class _SameQuestionSamples:
    """Samples with one question and different options."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        alike: dict[frozenset[str], Sample] = {}
        for sample in samples:  # of samples with the same options the first counts
            alike.setdefault(frozenset(sample.choices), sample)
        self.first = samples[0]
        self._samples = tuple(alike.values())

    def match_options(self, rest: str) -> Sample | None:
        """The first sample all of whose options are in the rest of a prompt."""
        if len(self._samples) == 1:
            return self.first if _has_all_options(rest, self.first) else None
        shown = [text for _, text in self._finder.last_occurrences(rest)]
        matching: list[int] = []
        nodes = [self._tree]
        while nodes:
            node = nodes.pop()
            matching += node.indices
            nodes += [node.children[text] for text in shown if text in node.children]
        return self._samples[min(matching)] if matching else None

    @cached_property
    def _tree(self) -> "_OptionNode":
        """The sets of options, those that the fewest samples have next to the root."""
        counts = Counter(text for sample in self._samples for text in set(sample.choices))
        root = _OptionNode()
        for at, sample in enumerate(self._samples):
            node = root
            for text in sorted(set(sample.choices), key=lambda text: (counts[text], text)):
                node = node.children.setdefault(text, _OptionNode())
            node.indices.append(at)
        return root

    @cached_property
    def _finder(self) -> SubstringFinder:
        return SubstringFinder(text for sample in self._samples for text in sample.choices)


class _OptionNode:
    """Some options: the samples that have these and no more, and the nodes with one option more."""

    def __init__(self) -> None:
        self.indices: list[int] = []
        self.children: dict[str, _OptionNode] = {}


class _References:
    """The references of all samples, in order, and the range of each sample."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        self._texts: list[str] = []
        self._ranges: dict[str, list[tuple[Sample, range]]] = {}
        for sample in samples:
            begin = len(self._texts)
            self._texts += sample.references
            own = range(begin, len(self._texts))
            self._ranges.setdefault(sample.id, []).append((sample, own))

    def without(self, sample: Sample) -> "OtherReferences":
        owned = self._ranges.get(sample.id, ())
        return OtherReferences(self._texts, tuple(own for other, own in owned if other == sample))


def read_slots(sample: Sample, prompt: str) -> tuple[int, ...]:
    """The option shown in each slot, after the last occurrence of the question that has them all.

    Raises:
        ModelError: not every option follows a letter of its own.
    """
    most: list[int] = []
    begin = prompt.rfind(sample.question)
    while begin >= 0:
        slots = _read_slots_from(sample, prompt, begin + len(sample.question))
        if len(slots) == len(sample.choices):
            return tuple(slots)
        most = most or slots
        begin = prompt.rfind(sample.question, 0, begin + len(sample.question) - 1) if begin else -1
    raise ModelError("no-option-seen", letter=LETTERS[len(most)], sample=sample.id)


def _read_slots_from(sample: Sample, prompt: str, start: int) -> list[int]:
    """The options shown from `start` on, up to the first letter without one."""
    # The longest option first, so that "1" does not match in "10".
    texts = tuple(sorted(sample.choices, key=len, reverse=True))
    slots: list[int] = []
    for letter, _ in zip(LETTERS, texts, strict=False):
        shown = _find_option(prompt, start, letter, texts)
        if shown is None:
            break
        start, text = shown
        slots.append(_first_unshown(sample.choices, text, slots))
    return slots


def _first_unshown(choices: Sequence[str], text: str, slots: Sequence[int]) -> int:
    """Of options with this text the first that is not in a slot yet, else the first."""
    first = choices.index(text)
    if first not in slots:
        return first
    same = (option for option, choice in enumerate(choices) if choice == text)
    return next((option for option in same if option not in slots), first)


def _find_option(
    prompt: str, begin: int, letter: str, texts: tuple[str, ...]
) -> tuple[int, str] | None:
    """(end, text) of the first option that follows the letter, None if there is none."""
    at = prompt.find(letter, begin)
    while at >= 0:
        if not _is_letter(prompt[at - 1 : at]):
            for start in _option_starts(prompt, at + 1):
                if not prompt.startswith(texts, start):
                    continue
                for text in texts:
                    if _is_option_at(prompt, start, text):
                        return start + len(text), text
        at = prompt.find(letter, at + 1)
    return None


def _option_starts(prompt: str, start: int) -> range:
    """Where the option of a letter may begin: after few marks, so that "A. -5" is not "5"."""
    marks = _SEPARATORS.match(prompt, start)
    assert marks, "it matches no marks as well"
    return range(start, marks.end() + 1)


def _is_option_at(prompt: str, start: int, text: str) -> bool:
    """Whether the text is there, followed by white space or the end of the prompt."""
    end = start + len(text)
    return prompt.startswith(text, start) and (end >= len(prompt) or prompt[end].isspace())


def _is_letter(character: str) -> bool:
    return character.isascii() and character.isalpha()


def _has_all_options(rest: str, sample: Sample) -> bool:
    return all(text in rest for text in sample.choices)


def _last_window(prompt: str) -> int:
    """Where the last of the windows of a prompt begins."""
    return max(0, len(prompt) - 1) // _WINDOW * _WINDOW


def _longest_prefix_links(texts: list[str]) -> list[int]:
    """For each of the sorted texts the index of the longest other one it begins with, else -1."""
    links: list[int] = []
    prefixes: list[int] = []  # each begins the next one
    for at, text in enumerate(texts):
        while prefixes and not text.startswith(texts[prefixes[-1]]):
            prefixes.pop()
        links.append(prefixes[-1] if prefixes else -1)
        prefixes.append(at)
    return links
