"""How many requests a model is handed at a time, learnt from how fast it answers.

Too few leave a model idle that answers hundreds at once; too many keep a slow one from being
looked after between two portions.
"""

from dataclasses import dataclass

MIN_SIZE, MAX_SIZE = 32, 4096  # requests; enough of them to be sorted by length
_TARGET_S = 2.0  # a portion should keep a model busy so long
_MIN_SPEEDUP = 1.1  # times as fast as ever before: larger portions may be faster still


@dataclass(slots=True)
class AdaptiveBatchSize:
    """The number of requests of the next portion."""

    size: int = MIN_SIZE
    _best_rate: float = 0.0  # requests per second
    _min_size: int = MIN_SIZE  # by the model to be as fast as it can

    def record_cached(self) -> None:
        """Take note that all requests of a portion were answered already."""
        self.size = min(2 * self.size, MAX_SIZE)

    def record(self, requests: int, seconds: float) -> None:
        """Take note of how long a portion took."""
        rate = requests / max(1e-3, seconds)
        wanted = int(rate * _TARGET_S)
        if rate > _MIN_SPEEDUP * self._best_rate:
            self._best_rate, self._min_size = rate, max(self._min_size, requests)
            wanted = max(wanted, 2 * requests)
        # At most doubled: one portion with long or short questions says little of the next.
        self.size = min(max(wanted, self._min_size), 2 * self.size, MAX_SIZE)
