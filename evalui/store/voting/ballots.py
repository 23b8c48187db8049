"""What annotators can vote on: pairs of answers to one question, in an order drawn once per run.

The order is random, so that the first so many votes are a sample of all pairs, and it is the
same for every annotator, so that all vote on its first part and can be compared there.
"""

import hashlib
import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from evalui.errors import StoreError
from evalui.store.codec import decode_answers, decode_sample
from evalui.store.connection import Database
from evalui.store.results_cache import ResultCache
from evalui.types import Sample

_SHARED_SHARE = 0.2  # of the order, that goes to every annotator
_MIN_SHARED = 10
_PAIR_CACHE_BYTES = 64 * 2**20  # bytes of pairs that stay in memory


@dataclass(frozen=True, slots=True)
class VotingPair:
    """Two models' answers to one question of a dataset, the models in the order of the run.

    `arrival` is greater for a pair whose later answer came later.
    """

    dataset: str
    sample_id: str
    first: str
    second: str
    arrival: int = field(default=0, compare=False)

    @property
    def models(self) -> frozenset[str]:
        """Both models, on whichever side they are shown."""
        return frozenset((self.first, self.second))


VotingPairs = Mapping[str, VotingPair]  # by their key, in the order they are voted on


@dataclass(frozen=True, slots=True)
class BallotSides:
    """Which model stands on which side of a pair as one annotator sees it."""

    left: str
    right: str


@dataclass(frozen=True, slots=True)
class Ballot:
    """One pair as one annotator sees it; the answers are one text per turn."""

    pair_key: str
    dataset_name: str
    sample: Sample
    left: tuple[str, ...]
    right: tuple[str, ...]


class VotingPairsCache:
    """The pairs of runs, kept in memory: every vote needs all pairs of its run, in order."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._read = ResultCache(_PAIR_CACHE_BYTES).memoize(self._read_pairs)

    def of_run(self, run_id: str) -> VotingPairs:
        """What `voting_pairs` gives, read anew only once the run has more answers."""
        return self._read(run_id, count_answers(self._database, run_id))

    def _read_pairs(self, run_id: str, answers: int) -> VotingPairs:
        del answers  # part of the key: more answers, more pairs
        return voting_pairs(self._database, run_id)


def voting_pairs(database: Database, run_id: str) -> VotingPairs:
    """Every pair that both models have answered, by its key, in the order it is voted on.

    A blank reply is voted on as any other: judges see it too, and votes on a part of the pairs
    that is chosen by the answers would not show how judges err on all of them. The key reveals
    nothing of the models; the order is drawn by the keys.
    """
    pairs = [
        VotingPair(dataset, sample, *models, max(arrivals[name] for name in models))
        for (dataset, sample), arrivals in _answering_models(database, run_id).items()
        for models in combinations(arrivals, 2)
    ]
    return dict(sorted((pair_key(run_id, pair), pair) for pair in pairs))


def count_answers(database: Database, run_id: str) -> int:
    """How many answers a run has so far; as long as it stays, so do its pairs."""
    row = database.row(
        "SELECT coalesce(sum(done), 0) AS n FROM cell WHERE run = ? AND gives = 'answers'",
        (run_id,),
    )
    return row["n"] if row else 0


def pair_key(run_id: str, pair: VotingPair) -> str:
    """The name of a pair, the same whichever of its models comes first."""
    return _digest(run_id, pair.dataset, pair.sample_id, *sorted(pair.models))


def sides_for(pair_token: str, pair: VotingPair, person: str) -> BallotSides:
    """The sides of a pair for one person, drawn by a seed, so that a reload changes nothing."""
    turned = int(_digest(pair_token, person), 16) % 2
    return BallotSides(pair.second, pair.first) if turned else BallotSides(pair.first, pair.second)


def voting_order(
    tokens: Sequence[str], done: Collection[str], others: Mapping[str, int]
) -> tuple[str, ...]:
    """The pairs that one annotator has still to vote on, in order.

    Every annotator gets the first part of the order; the rest begins with what `others` voted on
    least.
    """
    shared = max(_MIN_SHARED, math.ceil(_SHARED_SHARE * len(tokens)))
    rest = sorted(tokens[shared:], key=lambda name: others.get(name, 0))
    return tuple(name for name in (*tokens[:shared], *rest) if name not in done)


def ballot(
    database: Database, run_id: str, pair_token: str, *, pair: VotingPair, sides: BallotSides
) -> Ballot:
    """A pair with its question and both answers."""
    row = database.row(
        "SELECT s.body, d.name FROM sample s JOIN dataset d ON d.id = s.dataset"
        " WHERE s.role = 'sample' AND s.id = ? AND d.id ="
        " (SELECT c.dataset FROM cell c JOIN dataset k ON k.id = c.dataset"
        "  WHERE c.run = ? AND k.key = ? LIMIT 1)",
        (pair.sample_id, run_id, pair.dataset),
    )
    if row is None:
        raise StoreError("no-pair", run=run_id)
    return Ballot(
        pair_token,
        row["name"],
        decode_sample(row["body"]),
        _answer(database, run_id, pair, sides.left),
        _answer(database, run_id, pair, sides.right),
    )


def _answering_models(database: Database, run_id: str) -> dict[tuple[str, str], dict[str, int]]:
    """The models whose reply is in, blank or not, and when it came, by dataset and question."""
    rows = database.rows(
        "SELECT d.key, t.sample, c.model, t.id FROM cell c"
        " JOIN dataset d ON d.id = c.dataset JOIN trial t ON t.cell = c.id"
        " WHERE c.run = ? AND c.gives = 'answers' ORDER BY c.place",
        (run_id,),
    )
    models: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for key, sample, model, trial in rows:
        models[key, sample].setdefault(model, trial)
    return models


def _answer(database: Database, run_id: str, pair: VotingPair, model: str) -> tuple[str, ...]:
    row = database.row(
        "SELECT t.reply, t.turns FROM cell c"
        " JOIN dataset d ON d.id = c.dataset JOIN trial t ON t.cell = c.id"
        " WHERE c.run = ? AND c.gives = 'answers' AND d.key = ? AND c.model = ? AND t.sample = ?"
        " ORDER BY c.place",
        (run_id, pair.dataset, model, pair.sample_id),
    )
    assert row, "a pair is made of answers"
    return decode_answers(row["reply"], row["turns"])


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
