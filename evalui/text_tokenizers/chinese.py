"""Chinese words as `jieba.lcut` finds them, several times faster.

jieba's dictionary and its hidden Markov model are used as they are. What is written anew is the
search for the most probable path through the dictionary: jieba takes a logarithm and builds two
lists for each character of each text, and that was nine tenths of the time of ROUGE and BLEU.
The sums and the ties are jieba's, so that the words are the same.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

_KNOWN = re.compile(r"([\u4E00-\u9FD5a-zA-Z0-9+#&\._%\-]+)")
_OTHER = re.compile(r"\r\n|.", re.DOTALL)
_REMEMBERED = 1 << 15  # short texts: some megabytes
_LONGEST = 64  # characters of a text that is remembered; a longer one hardly comes again


class ChineseWords:
    """Cuts texts with jieba's dictionary, `counts` by word and 0 for what only begins a word.

    `seen` is the sum of the counts. `guess` finds the words of a run of characters that the
    dictionary does not join.
    """

    def __init__(
        self, counts: Mapping[str, int], seen: int, *, guess: Callable[[str], Iterable[str]]
    ) -> None:
        total = math.log(seen)
        logs = {count: math.log(count) - total for count in set(counts.values()) if count}
        # A logarithm of a share is below 0, which leaves 0 for what only begins a word.
        self._logs = {word: logs.get(count, 0.0) for word, count in counts.items()}
        self._alone = -total  # a character that is in no dictionary counts as seen once
        self._guess = guess
        # Most of the short pieces between two marks, and of the runs in them, come again.
        self._words_of = lru_cache(_REMEMBERED)(self._search)
        self._loose = lru_cache(_REMEMBERED)(self._recognise)

    def cut(self, text: str) -> list[str]:
        """The words and what stands between them, as jieba's default mode; joined the text."""
        words: list[str] = []
        for place, piece in enumerate(_KNOWN.split(text)):
            # Every second piece is one that the pattern has found.
            words += self._known(piece) if place % 2 else _OTHER.findall(piece)
        return words

    def _known(self, piece: str) -> tuple[str, ...]:
        return self._words_of(piece) if len(piece) <= _LONGEST else self._search(piece)

    def _alike(self, run: str) -> tuple[str, ...]:
        return self._loose(run) if len(run) <= _LONGEST else self._recognise(run)

    def _search(self, piece: str) -> tuple[str, ...]:
        """The words on the most probable path, characters that stand alone given to the guess."""
        ends = self._path(piece)
        words: list[str] = []
        start = loose = 0  # piece[loose:start] are the characters alone that end here
        while start < len(piece):
            end = ends[start]
            if end > start + 1:
                words += self._alike(piece[loose:start])
                words.append(piece[start:end])
                loose = end
            start = end
        return (*words, *self._alike(piece[loose:]))

    def _path(self, piece: str) -> list[int]:
        """For each place the end of the word that begins there on the best path to the end."""
        log_of, size = self._logs.get, len(piece)
        ends = [0] * size
        sums = [0.0] * (size + 1)  # of the best path from each place on
        for start in range(size - 1, -1, -1):
            best, best_end = -math.inf, 0
            end, log = start + 1, log_of(piece[start])
            while log is not None:
                if log and log + sums[end] >= best:  # among equals the longest, as in jieba
                    best, best_end = log + sums[end], end
                if end == size:
                    break
                end += 1
                log = log_of(piece[start:end])
            if not best_end:
                best, best_end = self._alone + sums[start + 1], start + 1
            sums[start], ends[start] = best, best_end
        return ends

    def _recognise(self, run: str) -> tuple[str, ...]:
        if len(run) < 2 or self._logs.get(run):
            return tuple(run)
        return tuple(self._guess(run))
