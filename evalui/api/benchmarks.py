"""Published sets by name: what there is, what is on this server, and getting what is not."""

from fastapi import APIRouter, Response

from evalui.api.datasets import GOES_ON, Describe
from evalui.api.problems import CheckedRoute, Service, Words, permits, requires
from evalui.api.schemas import BenchmarkShown, UploadedDatasets
from evalui.app import datasets
from evalui.benchmarks.hub import fetch
from evalui.benchmarks.index import Benchmark, find, search
from evalui.benchmarks.places import TaskData
from evalui.benchmarks.preparing import availability, hindrance, task_data
from evalui.benchmarks.published import published_figures
from evalui.errors import NotAllowed
from evalui.messages import Messages

router = APIRouter(route_class=CheckedRoute, prefix="/benchmarks", tags=["benchmarks"])


@router.get("", dependencies=[requires("see")])
def list_benchmarks(service: Service, t: Words, words: str = "") -> list[BenchmarkShown]:
    """Every set of the index, or those that all of these `words` fit."""
    data = task_data(service.settings)
    return [_shown(each, data, t) for each in search(words)]


@router.get("/{name}", dependencies=[requires("see")])
def read_benchmark(name: str, service: Service, t: Words) -> BenchmarkShown:
    """One set, by any of its names."""
    return _shown(find(name), task_data(service.settings), t)


@router.post("/{name}/fetch", dependencies=[requires("add_models")])
def fetch_benchmark(name: str, service: Service, t: Words) -> BenchmarkShown:
    """Get the data of a set from the hub, for all who use this server; for operators who may add
    models. It is answered when all files are here.
    """
    benchmark, data = find(name), task_data(service.settings)
    if not service.models.may_edit:
        raise NotAllowed("not-allowed-add-models")
    fetch(benchmark, data)
    return _shown(benchmark, data, t)


@router.post(
    "/{name}/take",
    status_code=201,
    dependencies=[permits(datasets.take_benchmark)],
    responses=GOES_ON,
)
def take_benchmark(
    name: str, response: Response, service: Service, describe: Describe
) -> UploadedDatasets:
    """Make a set one of the sender's datasets, under an `upload` that a run can name.

    A split may stand behind the name: `arc_challenge:validation`.
    """
    upload_id = datasets.take_benchmark(service, name).upload
    response.headers["Location"] = f"datasets/{upload_id}"
    return describe(upload_id)


def _shown(benchmark: Benchmark, data: TaskData, t: Messages) -> BenchmarkShown:
    here = availability(benchmark, data)
    return BenchmarkShown(
        name=benchmark.name,
        names=list(benchmark.names),
        title=benchmark.title,
        topic=benchmark.topic,
        languages=list(benchmark.languages),
        licence=benchmark.licence,
        hub=benchmark.hub,
        source=benchmark.source,
        split=benchmark.split,
        questions=benchmark.questions,
        lm_eval=benchmark.lm_eval,
        unsupported=benchmark.unsupported,
        origin=here.origin,
        revision=here.revision,
        files=list(here.files),
        bytes=here.bytes,
        advice=t.translate(hindrance(benchmark, data) or ""),
        published=list(published_figures(benchmark.name)),
    )
