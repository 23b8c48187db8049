"""The questions a scripted model was shown, found again in its prompts."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from evalui.errors import ModelError
from evalui.types import LETTERS, Sample

_MAX_SEPARATORS = 4  # at most, between a letter and the option behind it
# A text of at least so many characters is looked for by its last ones.
_ENDING_LENGTHS = (16, 8, 4, 2, 1)


@dataclass(frozen=True, slots=True)
class OtherReferences:
    """The `texts` without those at the places `excluded`, which go up; nothing is copied."""

    texts: Sequence[str]
    excluded: tuple[range, ...]

    def __len__(self) -> int:
        """How many are left."""
        return len(self.texts) - sum(map(len, self.excluded))

    def __getitem__(self, index: int) -> str:
        """The text at the place `index` of those that are left."""
        for own in self.excluded:
            index += len(own) if index >= own.start else 0
        return self.texts[index]


class SubstringFinder:
    """Finds which of many texts a prompt has.

    Of each text the last characters are kept. Where a prompt has some of them, the texts that end
    there are among the neighbours, in the order of texts read backwards, of the prompt read
    backwards from there.
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
        """Each occurrence of a text in the prompt with its end, ordered as `last_occurrences`."""
        for end in self._candidate_ends(prompt):
            for place in self._texts_ending_at(prompt, end):
                yield end, self._texts[place][::-1]

    def _candidate_ends(self, prompt: str) -> Iterator[int]:
        """Where a text may end, the last place first; the empty text always ends with the prompt.

        Before a text could have begun, some other piece of the prompt is looked up in vain.
        """
        yield len(prompt)
        for end in range(len(prompt) - 1 if self._endings else 0, 0, -1):
            for length, endings in self._endings:
                if prompt[end - length : end] in endings:
                    yield end
                    break

    def _texts_ending_at(self, prompt: str, end: int) -> Iterator[int]:
        """The places of all texts that end here in the prompt, the longest first."""
        before = prompt[max(0, end - self._longest) : end][::-1]
        # Every text that `before` begins with also begins the last text that is not after it.
        place = bisect_right(self._texts, before) - 1
        while place >= 0:
            if before.startswith(self._texts[place]):
                yield place
            place = self._prefix_links[place]


class KnownSamples:
    """All that a scripted model was shown."""

    def __init__(self, samples: Sequence[Sample] = ()) -> None:
        choosing: dict[str, list[Sample]] = {}
        self._open_turns: dict[str, tuple[Sample, int]] = {}
        for sample in samples:
            if sample.choices:
                choosing.setdefault(sample.question, []).append(sample)
                continue
            for turn, question in enumerate((sample.question, *sample.follow_ups)):
                self._open_turns.setdefault(question, (sample, turn))
        self._by_question = {
            question: _SameQuestionSamples(alike) for question, alike in choosing.items()
        }
        self._choice_finder = SubstringFinder(self._by_question)
        self._open_finder = SubstringFinder(self._open_turns)
        self._references = _References(samples)

    def find_choice_sample(self, prompt: str) -> Sample | None:
        """The sample with options whose question comes last in the prompt; None if it has none.

        A question whose options are shown behind it goes before all others: its text may also stand
        in an option. Of questions that end at the same place ("2+2=" and "1+2+2=") it is the
        longest, of equal questions the first.
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


class _SameQuestionSamples:
    """Samples with one question and different options."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        alike: dict[frozenset[str], Sample] = {}
        for sample in samples:  # of samples with the same options the first answers
            alike.setdefault(frozenset(sample.choices), sample)
        self.first = samples[0]
        self._samples = tuple(alike.values())

    def match_options(self, rest: str) -> Sample | None:
        """The first sample all of whose options stand in the rest of a prompt."""
        if len(self._samples) == 1:
            return self.first if _has_all_options(rest, self.first) else None
        by_option = self._by_rarest
        places = [
            at for _, text in self._rarest_finder.last_occurrences(rest) for at in by_option[text]
        ]
        fitting = (at for at in places if _has_all_options(rest, self._samples[at]))
        place = min(fitting, default=None)
        return None if place is None else self._samples[place]

    @cached_property
    def _by_rarest(self) -> dict[str, list[int]]:
        """The places of samples, by the option that the fewest of them have."""
        counts = Counter(text for sample in self._samples for text in set(sample.choices))
        places: dict[str, list[int]] = {}
        for at, sample in enumerate(self._samples):
            rarest = min(sample.choices, key=lambda text: (counts[text], -len(text)))
            places.setdefault(rarest, []).append(at)
        return places

    @cached_property
    def _rarest_finder(self) -> SubstringFinder:
        return SubstringFinder(self._by_rarest)


class _References:
    """The references of all samples, in order, and which of them are whose."""

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
    """The option shown in each slot, read off the prompt behind the last question that has them.

    Raises:
        ModelError: not every option stands behind a letter of its own.
    """
    most: list[int] = []
    begin = prompt.rfind(sample.question)
    while begin >= 0:
        found = _read_slots_from(sample, prompt, begin + len(sample.question))
        if len(found) == len(sample.choices):
            return tuple(found)
        most = most or found
        begin = prompt.rfind(sample.question, 0, begin + len(sample.question) - 1) if begin else -1
    raise ModelError("no-option-seen", letter=LETTERS[len(most)], sample=sample.id)


def _read_slots_from(sample: Sample, prompt: str, place: int) -> list[int]:
    """The options shown from a place on, as far as each stands behind its letter."""
    # The longest option first, so that "1" is not found in "10".
    texts = sorted(sample.choices, key=len, reverse=True)
    found: list[int] = []
    for letter, _ in zip(LETTERS, texts, strict=False):
        shown = _find_option(prompt, place, letter, texts)
        if shown is None:
            break
        place, text = shown
        # Of options of the same text the first that has not been seen yet.
        same = [slot for slot, choice in enumerate(sample.choices) if choice == text]
        found.append(next((slot for slot in same if slot not in found), same[0]))
    return found


def _find_option(
    prompt: str, begin: int, letter: str, texts: Sequence[str]
) -> tuple[int, str] | None:
    """The first option that stands behind the letter, and where it ends."""
    at = prompt.find(letter, begin)
    while at >= 0:
        if not _is_letter(prompt[at - 1 : at]):
            for place in _option_starts(prompt, at + 1):
                for text in texts:
                    if _is_option_at(prompt, place, text):
                        return place + len(text), text
        at = prompt.find(letter, at + 1)
    return None


def _option_starts(prompt: str, place: int) -> Iterator[int]:
    """Where the option of a letter may begin: behind few marks, so that "A. -5" is not "5"."""
    yield place
    for _ in range(_MAX_SEPARATORS):
        if place >= len(prompt) or prompt[place].isalnum() or prompt[place] == "_":
            return
        place += 1
        yield place


def _is_option_at(prompt: str, place: int, text: str) -> bool:
    """Whether the text is there, and a space or nothing behind it."""
    end = place + len(text)
    return prompt.startswith(text, place) and (end >= len(prompt) or prompt[end].isspace())


def _is_letter(mark: str) -> bool:
    return mark.isascii() and mark.isalpha()


def _has_all_options(rest: str, sample: Sample) -> bool:
    return all(text in rest for text in sample.choices)


def _longest_prefix_links(texts: list[str]) -> list[int]:
    """For each of the sorted texts the place of the longest other one it begins with, else -1."""
    inner: list[int] = []
    open_: list[int] = []
    for place, text in enumerate(texts):
        while open_ and not text.startswith(texts[open_[-1]]):
            open_.pop()
        inner.append(open_[-1] if open_ else -1)
        open_.append(place)
    return inner
