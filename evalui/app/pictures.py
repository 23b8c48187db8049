"""Pictures of questions, for whoever may see the run or has the upload that they are of."""

import json

from evalui.app.datasets import find_upload
from evalui.app.permissions import checks, requires
from evalui.app.service import AppService
from evalui.app.uploads import upload_of
from evalui.errors import DataError, UnknownName
from evalui.pictures import Mark, Picture, ids
from evalui.store.pictures import read_run_picture

_IN_QUESTIONS = """
    SELECT d.key AS dataset, s.id FROM sample s JOIN dataset d ON d.id = s.dataset
    WHERE s.dataset IN (SELECT dataset FROM cell WHERE run = :run)
    AND s.role = 'sample' AND s.id IN (SELECT value FROM json_each(:ids))
    AND instr(s.body, :mark)"""


@checks("that the person may see the run, or votes on a pair with the picture")
def run_picture(service: AppService, run_id: str, picture: str, *, small: bool) -> Picture:
    """A picture of a run as it is kept, or the small one.

    Raises:
        UnknownName: the run has none of this id, or not for whom came to vote.
        UnknownRun: the person may neither see the run nor vote on it.
    """
    run = service.run(run_id, "annotate")
    found = read_run_picture(service.database, run.id, picture, small=small)
    if found is None or not ("see" in service.deeds(run) or _is_voted_on(service, run.id, picture)):
        raise UnknownName("no-picture", picture=picture[:8])
    return found


@requires("see")
def upload_picture(service: AppService, upload: str, picture: str, *, small: bool) -> Picture:
    """The same of an upload of the person's own, or of a part of one; raises `UnknownName`."""
    try:
        own = find_upload(service, upload_of(upload)).id
    except DataError as error:
        raise UnknownName("no-upload-id", upload=upload[:80]) from error
    name = f"{picture}.small" if small else picture
    path = service.uploads.pictures(service.owner, own) / name
    if ids([str(Mark(picture))]) != (picture,) or not path.is_file():
        raise UnknownName("no-picture", picture=picture[:8])
    return Picture(picture, path.read_bytes())


def _is_voted_on(service: AppService, run_id: str, picture: str) -> bool:
    pairs = service.voter_pairs.of_voter(run_id, service.owner)
    shown = {(pair.dataset, pair.sample_id) for pair in pairs.values()}
    ids_shown = json.dumps([sample_id for _, sample_id in shown])
    named = {"run": run_id, "mark": str(Mark(picture)), "ids": ids_shown}
    rows = service.database.rows(_IN_QUESTIONS, named)
    return any((row["dataset"], row["id"]) in shown for row in rows)
