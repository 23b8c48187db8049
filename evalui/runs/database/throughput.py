"""How fast each model was last, the time that is left, and which requests are answered already."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from evalui.models.base import ModelEntry, addresses_of
from evalui.models.catalog import own_addresses
from evalui.modes import MODES, plan_requests
from evalui.runs.cells import CellPlan, trials_to_run
from evalui.runs.database.codec import request_key
from evalui.runs.database.connection import Database
from evalui.runs.database.response_cache import (
    ReplySource,
    is_deterministic,
    known_responses,
    reply_sources,
)
from evalui.types import Dataset

# Making the prompts of more than this takes longer than a person waits for an estimate.
_MAX_LOOKUPS = 3_000
# Speeds of a model in a mode that are kept; it may have been at as many addresses.
_KEPT_SPEEDS = 12

# By the cell's own rate, else by that of its model and mode; a run without a cell to do is absent.
_REMAINING_SQL = """
    WITH remaining AS (
        SELECT c.run, CASE
            WHEN c.waits != '' THEN NULL
            WHEN c.done >= c.total THEN 0.0
            WHEN c.rate > 0 THEN (c.total - c.done) / c.rate
            ELSE c.requests * (1.0 - 1.0 * c.done / c.total) / p.rate
        END AS seconds
        FROM cell c LEFT JOIN pace p ON p.id = (
            SELECT max(id) FROM pace WHERE model = c.model AND mode = c.mode
                AND shots = coalesce(json_extract(c.plan, '$.shots'), 0)
        )
        WHERE c.run IN (SELECT value FROM json_each(?)) AND c.state IN ('waiting', 'running')
    )
    SELECT run, sum(seconds) AS seconds, count(*) = count(seconds) AS all_known
    FROM remaining GROUP BY run
"""


@dataclass(frozen=True, slots=True)
class KeptElsewhere:
    """Replies to a planned run's `requests` of a model, kept of addresses that its entry had
    before, by their digest. The newest are of a `run` that requested them from `made` on, in
    seconds since 1970.
    """

    model: str
    addresses: str
    replies: int
    requests: int
    run: str
    made: float


def store_throughput(
    database: Database, model: str, mode: str, shots: int, *, fingerprint: str, rate: float
) -> None:
    """Remember the requests per second of a model in a mode; of older ones the last few stay."""
    with database.writing() as connection:
        connection.execute(
            "INSERT INTO pace (model, mode, shots, fingerprint, rate) VALUES (?, ?, ?, ?, ?)",
            (model, mode, shots, fingerprint, rate),
        )
        connection.execute(
            "DELETE FROM pace WHERE id IN (SELECT id FROM pace"
            " WHERE model = ? AND mode = ? AND shots = ? ORDER BY id DESC LIMIT -1 OFFSET ?)",
            (model, mode, shots, _KEPT_SPEEDS),
        )


def throughputs(database: Database) -> dict[tuple[str, str, int], float]:
    """Requests per second as last measured, by model, mode and number of shots."""
    rows = database.rows("SELECT model, mode, shots, rate FROM pace ORDER BY id")
    return {(row["model"], row["mode"], row["shots"]): row["rate"] for row in rows}


def count_cached(
    database: Database, plans: Sequence[CellPlan], datasets: Mapping[str, Dataset]
) -> tuple[int, ...]:
    """For each plan, how many of its requests are already answered, as far as is known.

    A model that has never run here has no known fingerprint and counts as 0. Of a cell of more than
    3,000 requests those of some questions stand for all. `datasets` are by `CellPlan.source`.
    """
    # The newest fingerprint of a model, at the same addresses, comes last.
    rows = [
        *database.rows("SELECT model, fingerprint FROM pace ORDER BY id"),
        *database.rows("SELECT model, fingerprint FROM reply_source ORDER BY made, id"),
    ]
    newest = {(row["model"], addresses_of(row["fingerprint"])): row["fingerprint"] for row in rows}

    def fingerprint(entry: ModelEntry) -> str:
        addresses = entry.options.get("replies_of") or own_addresses(entry)
        return newest.get((entry.name, addresses), "")

    return tuple(
        _hits(database, plan, datasets[plan.source], fingerprint(plan.entry)) for plan in plans
    )


def kept_elsewhere(
    database: Database,
    plans: Sequence[CellPlan],
    datasets: Mapping[str, Dataset],
    cached: Sequence[int],
) -> tuple[KeptElsewhere, ...]:
    """The replies that are kept of models whose addresses have changed since, unless all of their
    own are kept, too: `cached`, as `count_cached` counts them.

    Judges have none: what they will be shown is not written yet.
    """
    by_model: dict[str, list[CellPlan]] = {}
    own_replies: Counter[str] = Counter()
    for plan, hits in zip(plans, cached, strict=True):
        if plan.requests and not (plan.impossible or plan.mode.judging):
            by_model.setdefault(plan.entry.name, []).append(plan)
            own_replies[plan.entry.name] += hits
    found: list[KeptElsewhere] = []
    for model, own in by_model.items():
        total = sum(plan.requests for plan in own)
        for addresses, source in _sources_elsewhere(database, own[0].entry).items():
            hits = sum(_hits(database, p, datasets[p.source], source.fingerprint) for p in own)
            is_chosen = own[0].entry.options.get("replies_of") == addresses
            if hits and (is_chosen or own_replies[model] < total):
                found.append(KeptElsewhere(model, addresses, hits, total, source.run, source.made))
    return tuple(sorted(found, key=lambda each: -each.made))


def has_moved(database: Database, entry: ModelEntry) -> bool:
    """Whether replies are kept of other addresses than the entry has now."""
    return bool(_sources_elsewhere(database, entry))


def _sources_elsewhere(database: Database, entry: ModelEntry) -> dict[str, ReplySource]:
    """The newest source of replies from each of the addresses that the entry had before."""
    if not (own := own_addresses(entry)):
        return {}
    sources = {addresses_of(each.fingerprint): each for each in reply_sources(database, entry.name)}
    return {addresses: each for addresses, each in sources.items() if addresses not in ("", own)}


def _hits(database: Database, plan: CellPlan, dataset: Dataset, fingerprint: str) -> int:
    if not fingerprint or plan.impossible or not plan.requests:
        return 0
    if plan.mode.judging:
        return 0  # what it will be shown is not written yet
    mode = MODES[plan.mode_name]
    samples = dataset.samples[: plan.questions][:: -(-plan.requests // _MAX_LOOKUPS)]
    requests = (
        request
        for sample, variant in trials_to_run(plan.mode, plan.pattern, samples, plan.setting)
        for request in plan_requests(mode, sample, variant, plan.setting)
    )
    some = list(islice(requests, _MAX_LOOKUPS))
    keys = [request_key(fingerprint, each) for each in some if is_deterministic(each)]
    known = known_responses(database, dict.fromkeys(keys))
    return round(sum(key in known for key in keys) * plan.requests / len(some))


def remaining_seconds_of(database: Database, run_ids: Sequence[str]) -> dict[str, float | None]:
    """Seconds until each run is done, at the speeds measured last.

    None while a model of the run does not answer, or where a cell was never timed.
    """
    known = database.rows(_REMAINING_SQL, (json.dumps(list(run_ids)),))
    seconds = {row["run"]: row["seconds"] if row["all_known"] else None for row in known}
    return {run_id: seconds.get(run_id, 0.0) for run_id in run_ids}
