"""How many requests a model is handed at a time, learnt from how fast it answers.

Too few leave a model idle that answers hundreds at once; too many keep a slow one from being
looked after between two portions.
"""

from dataclasses import dataclass

FEWEST, MOST = 32, 4096  # requests; enough of them to be sorted by length
_BUSY_S = 2.0  # a portion should keep a model busy so long
_BETTER = 1.1  # times as fast as ever before: larger portions may be faster still


@dataclass(slots=True)
class Portion:
    """The number of requests of the next portion."""

    size: int = FEWEST
    _best: float = 0.0  # requests per second
    _needed: int = FEWEST  # by the model to be as fast as it can

    def skip(self) -> None:
        """Take note that all requests of a portion were answered already."""
        self.size = min(2 * self.size, MOST)

    def learn(self, requests: int, seconds: float) -> None:
        """Take note of how long a portion took."""
        rate = requests / max(1e-3, seconds)
        wanted = int(rate * _BUSY_S)
        if rate > _BETTER * self._best:
            self._best, self._needed = rate, max(self._needed, requests)
            wanted = max(wanted, 2 * requests)
        # At most doubled: one portion with long or short questions says little of the next.
        self.size = min(max(wanted, self._needed), 2 * self.size, MOST)
