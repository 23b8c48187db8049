"""Texts are found again in a prompt, in a time that does not depend on how many are known."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator

# A text of at least so many characters is looked for by its last ones.
_ENDING_LENGTHS = (16, 8, 4, 2, 1)


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
