"""Building the gallery: from the shipped samples and scripted models, in a few seconds."""

import json
import random
import shutil
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from urllib.parse import urlencode

from evalui.app.datasets import store_open_sample, store_sample
from evalui.app.evaluations import start_run
from evalui.app.gallery import GALLERY_FILE, Gallery
from evalui.app.service import AppService
from evalui.errors import StoreError
from evalui.runs.contest import JudgingSpec
from evalui.runs.spec import VERSION, DatasetSpec, ModeSpec, RunSpec
from evalui.runs.worker.worker import Worker
from evalui.settings import Settings
from evalui.store.connection import Database
from evalui.store.runs import read_cells
from evalui.store.voting.ballots import Ballot
from evalui.store.voting.votes import (
    VoteChoice,
    VoteInput,
    cast_vote,
    finish_voting,
    next_ballots,
)
from evalui.version import __version__

_MODELS = ("steady", "wavering", "hasty")
_JUDGES = ("reference-judge", "first-biased-judge")
_VOTES: Mapping[str, int] = {"Ann": 60, "Ben": 60, "Chao": 24}
_ERRORS: Mapping[str, float] = {"Ann": 0.08, "Ben": 0.12, "Chao": 0.3}  # shares of their votes
_VOTE_S = 12.0
_SAME_LENGTH = 20  # characters by which two good answers may differ


def build_gallery(settings: Settings) -> Gallery:
    """Build the gallery of `gallery_settings` anew, whatever is there.

    Raises:
        StoreError: its folder cannot be written, or holds something else.
    """
    folder = settings.data_dir
    _remove(folder)
    folder.mkdir(mode=0o700, parents=True)
    (folder / GALLERY_FILE).write_text("{}", encoding="utf-8")  # now the folder is known to be ours
    database = Database(settings.database)
    try:
        writable = settings.model_copy(update={"read_only": False})
        gallery = _filled(AppService(writable, database))
    finally:
        database.close()
    (folder / GALLERY_FILE).write_text(json.dumps(asdict(gallery)), encoding="utf-8")
    return gallery


def _remove(folder: Path) -> None:
    if not folder.exists():
        return
    if not (folder / GALLERY_FILE).is_file():
        raise StoreError("gallery-foreign", folder=str(folder))
    shutil.rmtree(folder)


def _filled(service: AppService) -> Gallery:
    orders = _finished(
        service,
        RunSpec(
            version=VERSION,
            name="Option orders: who keeps to an answer?",
            datasets=[DatasetSpec(upload=store_sample(service), skip_faulty=True)],
            models=[*_MODELS, "always-A"],
            modes=[ModeSpec(mode="multiple_choice", pattern="circular"), ModeSpec(mode="cloze")],
        ),
    )
    judged = _finished(
        service,
        RunSpec(
            version=VERSION,
            name="Open questions: judged in pairs",
            datasets=[DatasetSpec(upload=store_open_sample(service), skip_faulty=True)],
            models=[*_MODELS],
            modes=[ModeSpec(mode="question_answer")],
            judging=JudgingSpec(judges=[*_JUDGES]),
        ),
    )
    for person in _VOTES:
        _vote(service, judged, person)
    cells = [
        str(cell.id)
        for cell in read_cells(service.database, orders)
        if cell.cell.mode == "multiple_choice" and cell.cell.model in _MODELS
    ]
    return Gallery(
        version=__version__,
        orders=urlencode({"run": orders, "tab": "results"}),
        judged=urlencode({"run": judged, "tab": "results"}),
        people=urlencode({"run": judged, "tab": "annotate", "voter": next(iter(_VOTES))}),
        compared=urlencode({"tab": "compare", "cells": ",".join(cells)}, safe=","),
    )


def _finished(service: AppService, spec: RunSpec) -> str:
    run_id = start_run(service, spec)
    Worker(service.database, service.models.catalog).run_once(run_id)
    run = service.run(run_id)
    assert run.state == "done", f"scripted models cannot fail: {run.error}"
    return run_id


def _vote(service: AppService, run_id: str, person: str) -> None:
    """The votes of one person, who then is shown the names."""
    pairs = service.voting_pairs.of_run(run_id)
    for _ in range(_VOTES[person]):
        (ballot,) = next_ballots(service.database, run_id, person, pairs=pairs, count=1)
        vote = VoteInput(ballot.pair_key, _choice(ballot, person), seconds=_VOTE_S)
        cast_vote(service.database, run_id, person, vote, pairs=pairs)
    finish_voting(service.database, run_id, person)


def _choice(ballot: Ballot, person: str) -> VoteChoice:
    """What holds the reference is good, and of two good answers the shorter one is better."""
    drawn = random.Random(f"{person} {ballot.pair_key}")
    if drawn.random() < _ERRORS[person]:
        return drawn.choice(("a", "b", "tie"))
    left, right = ("\n".join(side) for side in (ballot.left, ballot.right))
    good = [any(each in side for each in ballot.sample.references) for side in (left, right)]
    if not any(good):
        return "neither"
    if good[0] != good[1]:
        return "a" if good[0] else "b"
    shorter = len(right) - len(left)
    return "tie" if abs(shorter) < _SAME_LENGTH else "a" if shorter > 0 else "b"
