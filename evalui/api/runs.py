"""Runs: planned, started, imported, listed, followed, stopped, taken away."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import StreamingResponse

from evalui.api.events import RunFeeds
from evalui.api.problems import CheckedRoute, Service, Words, permits
from evalui.api.schemas import (
    CellProgress,
    CheckedJson,
    ImportDone,
    ImportSent,
    RunDetail,
    RunPage,
    RunPlan,
    RunProgress,
)
from evalui.app import evaluations, results
from evalui.app.files.views import LogChoices
from evalui.app.pictures import run_picture
from evalui.app.service import AppService
from evalui.app.sharing import show_everyone
from evalui.errors import SpecError
from evalui.messages import Messages
from evalui.report.analyses.left_out import left_out_sentences
from evalui.runs.fair_queue.limits import usual_limits
from evalui.runs.fair_queue.turns import QueuePlace, queue_order, queue_places
from evalui.runs.spec import RunSpec
from evalui.store.queue import RequestKey
from evalui.store.runs import LIVE_STATES, CellRow, read_cells, read_left_out
from evalui.store.trials import TrialCursor, TrialPage
from evalui.store.usage import remaining_seconds_of
from evalui.types import CellResult
from evalui.web.downloads import export_of, picture_answer

_MAX_KEY = 200  # characters
_LINES = "application/jsonl"
_AS_FILE = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
AS_LINES = {_LINES: {"schema": {"type": "string"}}}
_AS_EVENTS = {"text/event-stream": {"schema": {"type": "string"}}}
_AS_OBJECT = {"application/json": {"schema": {"type": "object"}}}
router = APIRouter(route_class=CheckedRoute, prefix="/runs", tags=["runs"])
imports = APIRouter(route_class=CheckedRoute, prefix="/imports", tags=["imports"])


@router.post("", status_code=201, dependencies=[permits(evaluations.start_run)])
def start_run(
    spec: Annotated[RunSpec, CheckedJson],
    response: Response,
    service: Service,
    t: Words,
    idempotency_key: Annotated[str, Header()] = "",
) -> RunDetail:
    """Start a run: a specification as `evalui run` reads it, with ids of uploads for paths.

    The same request with the same Idempotency-Key starts no second run within 24 hours.
    """
    run_id = evaluations.start_run(service, spec, _request_key(idempotency_key, spec))
    response.headers["Location"] = f"runs/{run_id}"
    return detail_of(service, t, run_id)


@router.post("/plan", dependencies=[permits(evaluations.plan_run)])
def plan_run(spec: Annotated[RunSpec, CheckedJson], service: Service, t: Words) -> RunPlan:
    """What a run would send and cost, and what it would wait for; nothing is started."""
    planned = evaluations.plan_run(service, spec)
    ahead = evaluations.runs_ahead(service, planned)
    return RunPlan(
        cost=planned.cost,
        cells=[replace(each, impossible=t.translate(each.impossible)) for each in planned.cells],
        ahead=replace(ahead, held=t.translate(ahead.held)),
        warnings=evaluations.warnings_of(t, planned),
        hindrance=evaluations.hindrance_of(service, t, planned),
    )


@router.get("", dependencies=[permits(results.list_runs)])
def list_runs(
    service: Service,
    t: Words,
    cursor: str = "",
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> RunPage:
    """The runs of the sender, everyone's, and those that they are named to vote on, the newest
    first.
    """
    rows = results.list_runs(service)
    places = {row.id: place for place, row in enumerate(rows, start=1)}
    if cursor and cursor not in places:
        raise SpecError("no-cursor", text=cursor)
    start = places.get(cursor, 0)
    shown, more = rows[start : start + limit], len(rows) > start + limit
    runs = [RunProgress.model_validate(row, context=t) for row in shown]
    return RunPage(runs=runs, next=shown[-1].id if more else "")


@router.get("/{run_id}")
def read_run(run_id: str, service: Service, t: Words) -> RunDetail:
    """One run with its cells, its place in the queue, and what the sender may do with it."""
    return detail_of(service, t, run_id)


@router.delete("/{run_id}", status_code=204, dependencies=[permits(evaluations.delete_run)])
def delete_run(run_id: str, service: Service) -> None:
    """Delete a run with its trials and votes."""
    evaluations.delete_run(service, run_id)


@router.post("/{run_id}/stop", dependencies=[permits(evaluations.stop_run)])
def stop_run(run_id: str, service: Service, t: Words) -> RunDetail:
    """Stop a run: at once if it waits, after the batch in hand if it runs."""
    evaluations.stop_run(service, run_id)
    return detail_of(service, t, run_id)


@router.post("/{run_id}/resume", dependencies=[permits(evaluations.resume_run)])
def resume_run(run_id: str, service: Service, t: Words) -> RunDetail:
    """Queue a failed or stopped run again; what is done is not done again."""
    evaluations.resume_run(service, run_id)
    return detail_of(service, t, run_id)


@router.put("/{run_id}/everyone", status_code=204, dependencies=[permits(show_everyone)])
def show_run(run_id: str, service: Service) -> None:
    """Let everybody with an account see a run; for its owner and administrators."""
    show_everyone(service, run_id, everyone=True)


@router.delete("/{run_id}/everyone", status_code=204, dependencies=[permits(show_everyone)])
def hide_run(run_id: str, service: Service) -> None:
    """Take that back."""
    show_everyone(service, run_id, everyone=False)


@router.get("/{run_id}/events", response_class=Response, responses={200: {"content": _AS_EVENTS}})
async def follow_run(
    run_id: str,
    request: Request,
    service: Service,
    t: Words,
    last_event_id: Annotated[str, Header()] = "",
) -> Response:
    """Server-sent events: `progress` with each change, then `end`; each holds a run as listed.

    The id of an event is the revision of the run; Last-Event-ID leaves out what was seen.
    """
    row = service.run(run_id)
    if last_event_id == str(row.revision) and row.state not in LIVE_STATES:
        return Response(status_code=204)  # a browser would ask for ever
    feeds: RunFeeds = request.app.state.feeds
    return feeds.answer(row, service.person, t, last_event_id)


@router.get("/{run_id}/trials", response_class=Response, responses={200: {"content": AS_LINES}})
def read_trials(
    run_id: str,
    service: Service,
    cursor: str = "",
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
) -> Response:
    """Trials as JSON lines, as in trials.jsonl; judgements are in the report.

    The header Next-Cursor leads to the next page and is missing after the last one. Of a run that
    goes on a page may be empty: the same cursor gives what comes.
    """
    read = TrialCursor.read(cursor or str(TrialCursor()))
    if read is None:
        raise SpecError("no-cursor", text=cursor)
    page = results.trial_page(service, run_id, read, limit)
    headers = {"Next-Cursor": str(page.next)} if page.next else {}
    return StreamingResponse(_lines(service, page), media_type=_LINES, headers=headers)


@router.get(
    "/{run_id}/report.{extension}", response_class=Response, responses={200: {"content": _AS_FILE}}
)
def read_report(run_id: str, extension: str, service: Service, t: Words) -> Response:
    """The report of a run: zip (all of it), html, md, xlsx, csv, tex, json, trials.jsonl, ..."""
    return export_of(service, service.run(run_id).id, extension, t.language)


@router.get("/{run_id}/figures", response_class=Response, responses={200: {"content": _AS_OBJECT}})
def read_figures(run_id: str, service: Service, t: Words) -> Response:
    """Every figure of a run, as in report.json."""
    return export_of(service, service.run(run_id).id, "json", t.language)


@router.get(
    "/{run_id}/pictures/{picture}", response_class=Response, responses={200: {"content": _AS_FILE}}
)
def read_picture(run_id: str, picture: str, service: Service, *, small: bool = False) -> Response:
    """A picture of a question, which names it as `<picture:...>`: PNG, JPEG or WebP; or small."""
    return picture_answer(run_picture(service, run_id, picture, small=small))


@imports.post("", status_code=201, dependencies=[permits(evaluations.import_log)])
def import_log(sent: ImportSent, response: Response, service: Service, t: Words) -> ImportDone:
    """Keep the finished run of another harness: files of an `upload`, or a `path` on the server.

    A folder is uploaded as a zip. A path is for administrators.
    """
    choices = LogChoices(sent.name, tuple(sent.models), tuple(sent.without), tuple(sent.mapping))
    if bool(sent.upload) == bool(sent.path) or (sent.path and choices != LogChoices(sent.name)):
        raise SpecError("import-source")
    imported = (
        evaluations.import_log_from(service, sent.path, name=sent.name)
        if sent.path
        else evaluations.import_log(service, sent.upload, choices)
    )
    response.headers["Location"] = f"runs/{imported.run_id}"
    return ImportDone(
        run=detail_of(service, t, imported.run_id),
        left_out=list(left_out_sentences(imported.left_out, t.language)),
    )


def _request_key(key: str, spec: RunSpec) -> RequestKey | None:
    if not key:
        return None
    if len(key) > _MAX_KEY or not (key.isascii() and key.isprintable()):
        raise SpecError("request-key-form")
    return RequestKey(key, hashlib.sha256(spec.model_dump_json().encode()).hexdigest())


def detail_of(service: AppService, t: Messages, run_id: str) -> RunDetail:
    """A run as it is now; raises `UnknownRun` if the person sees none of this id."""
    (detail,) = details_of(service, t, [run_id])
    return detail


def details_of(service: AppService, t: Messages, run_ids: Iterable[str]) -> Iterator[RunDetail]:
    """Several runs as they are now, the next one of the queue first; raises as `detail_of`."""
    database, rows = service.database, list(map(service.run, run_ids))
    live = [row.id for row in rows if row.state in LIVE_STATES]
    places = queue_places(database, usual_limits(service.settings)) if live else {}
    at_work = [row.id for row in rows if row.state == "running"]
    seconds = remaining_seconds_of(database, at_work)
    for row in sorted(rows, key=lambda row: queue_order(places.get(row.id))):
        queued = places.get(row.id, QueuePlace())
        yield RunDetail(
            **RunProgress.model_validate(row, context=t).model_dump(),
            may=sorted(service.deeds(row)),
            everyone=row.everyone,
            place=queued.place,
            held=t.translate(queued.held),
            seconds_left=seconds.get(row.id, 0.0 if row.id not in live else None),
            left_out=list(left_out_sentences(read_left_out(database, row.id), t.language)),
            cells=[_cell(each, t) for each in read_cells(database, row.id)],
        )


def _cell(row: CellRow, t: Messages) -> CellProgress:
    fields = asdict(row) | asdict(row.cell) | {"accuracy": row.accuracy}
    return CellProgress.model_validate(fields, context=t)


def _lines(service: AppService, page: TrialPage) -> Iterator[bytes]:
    from evalui.report.write.lines import encoded, trial_lines  # no page needs it

    def shown() -> Iterable[CellResult]:
        for row, trials in page.parts:
            yield replace(results.cell_result(service, row), trials=trials)

    return encoded(trial_lines(shown()))
