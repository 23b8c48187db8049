"""The Models page: the catalog with its states, tests of models, the devices, and the form."""

import json
import re
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from pathlib import Path
from types import SimpleNamespace

import gradio as gr
import pytest
from decision_server import DecisionServer
from drawn_page import DrawnPage
from endpoint_server_examples import MODEL
from ui_examples import HOSTILE, MODELS

from evalui.app import models_service
from evalui.app.evaluations import start_run
from evalui.app.service import AppService
from evalui.errors import ModelError
from evalui.messages import messages
from evalui.models.base import BACKENDS, Backend, Model, ModelEntry, ProbeStatus
from evalui.models.endpoint.backend import EndpointStatus, OpenAIBackend
from evalui.models.endpoint.config import read_endpoint
from evalui.models.endpoint.protocol import RetryableError
from evalui.models.endpoint.requests import Capabilities
from evalui.models.endpoint.server import HttpServer
from evalui.models.user_catalog import additions_path
from evalui.runs.worker.devices import DeviceMemory
from evalui.runs.worker.heartbeat import WorkerStatus
from evalui.runs.worker.model_tests import AbilityTest, claim_model_test, finish_model_test
from evalui.runs.worker.worker import Worker
from evalui.shipped_files import ASSETS
from evalui.store import queue
from evalui.store.runs import read_cells
from evalui.store.usage import ModelWait, clear_wait, set_wait, store_throughput
from evalui.types import Ability, Language
from evalui.ui.components.form import Form
from evalui.ui.pages.evaluate.spec import form_to_spec

LATE = str(ASSETS / "models" / "demo-late")
FOLDER: dict[str, object] = {"name": "late", "path": LATE}


@pytest.fixture(autouse=True)
def devices(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A machine whose memory the tests know."""
    known = SimpleNamespace(machine=DeviceMemory("", 16 * 10**9, 4 * 10**9), gpus=())
    monkeypatch.setattr(models_service.devices, "machine_memory", lambda: known.machine)
    monkeypatch.setattr(models_service.devices, "gpus", lambda: known.gpus)
    return known


def write(desk: AppService, more: str) -> None:
    desk.settings.models.write_text(MODELS + more, encoding="utf-8")


def page(desk: AppService, query: str = "", language: Language = "en") -> str:
    return DrawnPage("models", desk, query, language).text


def row(desk: AppService, name: str) -> str:
    return row_of(page(desk), name)


def row_of(shown: str, name: str) -> str:
    return shown.partition(f'<li data-key="{name}"')[2].partition("</li>")[0]


def trying(desk: AppService, model: str, worker: str = "host:4711") -> None:
    """Let the worker have taken a trial of the model."""
    desk.models.queue_test(model, desk.owner)
    claim_model_test(desk.database, worker)


def local(desk: AppService, **fields: str) -> None:
    told = "".join(f"{key} = {json.dumps(value)}\n" for key, value in fields.items())
    write(desk, f'\n[late]\nbackend = "transformers"\npath = "{LATE}"\n{told}')


class Far(Backend):
    """A backend whose models compute elsewhere."""

    def abilities(self, entry: ModelEntry) -> frozenset[Ability]:
        del entry
        return frozenset({"generate"})

    def problem(self, entry: ModelEntry) -> str:
        del entry
        return ""

    def open(self, entry: ModelEntry) -> Model:
        raise AssertionError(f"{entry.name} is only described")

    def missing_reasons(self, entry: ModelEntry) -> dict[Ability, str]:
        del entry
        return {"loglik": "it drops echo", "next_token": "it tells no top_logprobs"}


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch, desk: AppService) -> None:
    monkeypatch.setitem(BACKENDS._entries, "far", Far())  # pyright: ignore[reportPrivateUsage]
    write(desk, '\n[gpt]\nbackend = "far"\npath = "gpt"\ninput_price = 0.15\noutput_price = 0.6\n')


# The catalog


def test_a_model_that_cannot_be_loaded_says_why(desk: AppService):
    told = row(desk, "gone")
    assert "Cannot be used" in told
    assert "There is no folder" in told
    assert "Test this model" not in told


def test_a_missing_ability_is_marked_with_its_reason(desk: AppService):
    told = row(desk, "always-A")
    assert "letters · replies" in told
    assert "No texts: it gives no probability of a text." in told


@pytest.mark.usefixtures("far")
def test_a_backend_tells_better_reasons(desk: AppService):
    assert "No texts: it drops echo." in row(desk, "gpt")


@pytest.mark.usefixtures("far")
def test_whether_a_model_sees_pictures_is_told_or_why_not(
    desk: AppService, monkeypatch: pytest.MonkeyPatch
):
    def text_only(*_: object) -> dict[Ability, str]:
        return {"generate": "it ignores them", "loglik": "it ignores them"}

    def sees(*_: object) -> bool:
        return True

    assert "pictures" not in row(desk, "gpt")
    monkeypatch.setattr(Far, "text_only", text_only)
    assert row(desk, "gpt").count("No pictures: it ignores them.") == 1
    monkeypatch.setattr(Far, "sees_pictures", sees)
    told = row(desk, "gpt")
    assert "replies · pictures" in told
    assert "No pictures" not in told


def test_a_model_in_a_folder_tells_its_size_and_whether_it_fits(
    desk: AppService, devices: SimpleNamespace
):
    local(desk)
    assert "1.02 M · fits" in row(desk, "late")
    assert "about 12.5 MB, fits" in row(desk, "late")
    assert "weights 4.07 MB in float32, 8.39 MB for 4,096 tokens" in row(desk, "late")
    devices.machine = DeviceMemory("", 16 * 10**9, 10**7)
    assert "about 12.5 MB, only 10 MB free" in row(desk, "late")
    assert "May not fit" in row(desk, "late")
    assert "Ready to load" not in row(desk, "late")


def test_a_long_context_is_an_upper_bound_and_no_need(
    desk: AppService, devices: SimpleNamespace, tmp_path: Path
):
    long = tmp_path / "long"
    shutil.copytree(LATE, long)
    config = json.loads((long / "config.json").read_text()) | {"max_position_embeddings": 131072}
    (long / "config.json").write_text(json.dumps(config))
    write(desk, f'\n[long]\nbackend = "transformers"\npath = "{long}"\n')
    devices.machine = DeviceMemory("", 16 * 10**9, 2 * 10**7)
    told = row(desk, "long")
    assert "about 12.5 MB, fits" in told
    assert "at most 273 MB, for one input of 131,072 tokens" in told


@pytest.mark.parametrize(
    ("device", "visible", "told"),
    [
        ("auto", "0,1", "only 1 MB free"),
        ("cuda:1", "0,1", "fits"),
        ("auto", "1,0", "fits"),
        ("cuda:7", "0,1", "only 0 MB free"),
        ("cpu", "0,1", "fits"),
        ("auto", "", "fits"),
    ],
)
def test_what_fits_is_of_the_gpu_that_the_model_goes_to(
    desk: AppService,
    devices: SimpleNamespace,
    monkeypatch: pytest.MonkeyPatch,
    device: str,
    visible: str,
    told: str,
):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    devices.gpus = (DeviceMemory("H", 10**11, 10**6), DeviceMemory("H", 10**11, 10**10))
    local(desk, device=device)
    assert told in row(desk, "late")


def test_an_unreadable_folder_is_reported_and_the_page_stands(desk: AppService, tmp_path: Path):
    half = tmp_path / "half"
    half.mkdir()
    (half / "config.json").write_text("{}")
    (half / "model.safetensors").symlink_to(tmp_path / "blobs" / "gone")
    write(desk, f'\n[half]\nbackend = "transformers"\npath = "{half}"\n')
    told = row(desk, "half")
    assert "Cannot be used" in told
    assert "model.safetensors cannot be read: No such file or directory." in told
    assert "half" in {state.entry.name for state in desk.models.states()}


@pytest.mark.usefixtures("far")
@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ("base_url = 5", ""),
        ("base_urls = true", ""),
        ('base_urls = [5, "http://a:8000/v1"]', "http://a:8000/v1"),
        ('base_url = "http://me:secret@a:8000/v1?key=secret#secret"', "http://a:8000/v1"),
        ('base_url = "http://[secret/v1"', "…"),
    ],
)
def test_an_address_is_shown_without_what_is_secret(desk: AppService, options: str, shown: str):
    write(desk, f'\n[gpt]\nbackend = "far"\npath = "gpt"\noptions = {{ {options} }}\n')
    told = row(desk, "gpt")
    assert "secret" not in told
    assert f'<span class="mono">{shown}</span>' in told if shown else "Test this model" in told


def test_a_gpu_takes_the_files_own_format(desk: AppService, devices: SimpleNamespace):
    local(desk)
    devices.gpus = (DeviceMemory("H", 10**11, 10**10, 0.5), DeviceMemory("H", 10**11, 2 * 10**10))
    assert "weights 2.04 MB in bfloat16" in row(desk, "late")
    assert "90.0 GB of 100 GB used · computing 50 %" in page(desk)


def test_a_hub_id_is_fetched_later(desk: AppService):
    write(desk, '\n[hub]\nbackend = "transformers"\npath = "owner/name"\n')
    assert "fetched when first used" in row(desk, "hub")


@pytest.mark.usefixtures("far")
def test_prices_and_measured_speed_are_shown(desk: AppService):
    database = desk.database
    store_throughput(database, "gpt", "generation", 0, fingerprint="f", rate=12.34)
    told = row(desk, "gpt")
    assert "US$ 0.15 per million tokens read, 0.60 written" in told
    assert "12.3 per s (reply)" in told


def test_a_tuned_model_leads_to_a_comparison_with_its_base(desk: AppService):
    write(
        desk,
        '\n[base]\nbackend = "scripted"\npath = "/m"\noptions = { rule = "noisy" }\n'
        '[tuned]\nbackend = "scripted"\npath = "/m"\nadapter = "/a"\n'
        'options = { rule = "perfect" }\n'
        '[alone]\nbackend = "scripted"\npath = "/n"\nadapter = "/a"\n'
        'options = { rule = "perfect" }\n',
    )
    assert 'href="?tab=evaluate&amp;models=base&amp;models=tuned"' in row(desk, "tuned")
    assert "Compare with base" not in row(desk, "alone")


def test_a_tuned_model_without_its_base_says_so(desk: AppService):
    local(desk, adapter="/no/such")
    assert "Its base is not in the catalog." in row(desk, "late")


def test_an_empty_catalog_tells_the_next_step(desk: AppService):
    desk.settings.models.write_text("", encoding="utf-8")
    assert "Add one below, or name it in models.toml." in page(desk)


def test_a_broken_catalog_is_reported_and_the_page_stands(desk: AppService):
    desk.settings.models.write_text("[", encoding="utf-8")
    assert "is not valid TOML" in page(desk)
    assert "This server" in page(desk)
    assert "No model yet" not in page(desk)


def test_names_and_paths_never_become_markup(desk: AppService):
    name = json.dumps(HOSTILE)
    write(desk, f'\n[{name}]\nbackend = "transformers"\npath = {name}\nnotes = {name}\n')
    assert "<img" not in page(desk)
    assert "&lt;img" in page(desk)


def test_a_chinese_page_speaks_chinese(desk: AppService):
    told = page(desk, language="zh")
    assert "不可用" in told
    assert "没有文本：它不给出文本的概率。" in told


# Out of reach, and cannot be used


class Moody:
    """What an endpoint answers when it is probed, as the test decides."""

    problem_now: Exception | None = None

    def __call__(self, server: HttpServer, model: str) -> Capabilities:
        del server, model
        if self.problem_now:
            raise self.problem_now
        return Capabilities(chat=True)


AWAY = RetryableError("it is away", blame="server")


@pytest.fixture
def moody(monkeypatch: pytest.MonkeyPatch, desk: AppService) -> Moody:
    prober = Moody()
    backend = OpenAIBackend(EndpointStatus(prober))
    monkeypatch.setitem(BACKENDS._entries, "openai", backend)  # pyright: ignore[reportPrivateUsage]
    options = 'options = { base_url = "http://a/v1" }'
    write(desk, f'\n[gpt]\nbackend = "openai"\npath = "gpt"\n{options}\n')
    return prober


def settled(desk: AppService) -> str:
    """The row of gpt when nobody asks any more."""
    deadline = time.monotonic() + 60
    while any(look.pending for look in desk.models.current_statuses().values()):
        assert time.monotonic() < deadline, "it was not answered in time"
        time.sleep(0.01)
    return row(desk, "gpt")


def test_out_of_reach_does_not_look_like_cannot_be_used(desk: AppService, moody: Moody):
    moody.problem_now = AWAY
    told = settled(desk)
    assert 'class="st warn"' in told
    assert "Out of reach" in told
    assert "The endpoint cannot be asked: it is away." in told
    assert "It may come back" in told
    assert "Cannot be used" not in told
    assert "1 out of reach" in page(desk)
    told = row(desk, "gone")
    assert 'class="st bad"' in told
    assert "Waiting does not help" in told
    assert "It may come back" not in told


def test_an_endpoint_is_probed_again_at_a_click(desk: AppService, moody: Moody):
    moody.problem_now = AWAY
    told = settled(desk)
    assert 'data-do="again" data-model="gpt">Ask again</button>' in told
    moody.problem_now = None
    assert "Out of reach" in settled(desk), "it is left alone for a while"
    DrawnPage("models", desk).act("again", model="gpt")
    told = settled(desk)
    assert "Answers" in told
    assert re.search(r"Last asked \d\d:\d\d:\d\d", told)
    assert "Ask again" in told


def test_files_are_looked_at_again_at_a_click(desk: AppService, capsys: pytest.CaptureFixture[str]):
    drawn = DrawnPage("models", desk)
    assert "Look again" in row_of(drawn.text, "gone")
    drawn.act("again", model="gone")
    assert re.fullmatch(r"Last looked \d\d:\d\d:\d\d\n", capsys.readouterr().out)
    shutil.copytree(LATE, desk.settings.models.parent / "nowhere")
    models, *_ = drawn.act("again", model="gone")
    told = row_of(models, "gone")
    assert "Ready to load" in told
    assert "Look again" not in told


@pytest.mark.parametrize(
    ("added", "may", "advice"),
    [
        (False, True, "correct its entry in models.toml"),
        (True, True, "remove it and add it again"),
        (True, False, "the administrator of this server can mend it."),
    ],
)
def test_the_advice_is_what_this_person_can_do(
    desk: AppService, *, added: bool, may: bool, advice: str
):
    if added:
        additions_path(desk.settings.database).write_text(
            '[late]\nbackend = "transformers"\npath = "/no/where"\n'
        )
    desk.settings.edit_models = may
    assert advice in row(desk, "late" if added else "gone")


def test_an_endpoint_probed_after_its_failed_test_is_believed(desk: AppService, moody: Moody):
    assert "Answers" in settled(desk)
    assert not moody.problem_now
    desk.models.queue_test("gpt", "local")
    trial = claim_model_test(desk.database, "w")
    assert trial
    finish_model_test(desk.database, replace(trial, error="Nobody answers."))
    assert "Did not answer the last test" in settled(desk)
    DrawnPage("models", desk).act("again", model="gpt")
    assert "Did not answer the last test" not in settled(desk)


# Devices


def test_on_a_cluster_the_page_says_where_models_are_opened(desk: AppService):
    local(desk)
    assert "Ray" not in page(desk)
    assert "fits" in row(desk, "late")
    desk.settings.engine, desk.settings.ray_address = "ray", "10.0.0.1:6379"
    told = page(desk)
    assert "Models are opened on the Ray cluster at" in told
    assert '<span class="mono">10.0.0.1:6379</span>' in told
    assert "a seat is 2 cores" in told
    assert "Below is this machine alone" in told
    assert "No GPU found" not in told, "what counts are those of the cluster"
    assert "about 12.5 MB" in row(desk, "late")
    assert "fits" not in row(desk, "late")
    desk.settings.ray_address = ""
    assert "that the worker starts on this machine" in page(desk)


def test_a_model_on_the_cluster_runs_there_and_an_endpoint_does_not(desk: AppService):
    desk.settings.engine = "ray"
    local(desk)
    trying(desk, "late")
    WorkerStatus(desk.database, "host:4711").update(model="late", device="cpu")
    assert "<td>Ray cluster</td>" in page(desk)
    WorkerStatus(desk.database, "host:4711").update(model="far", device="endpoint")
    trying(desk, "always-A", "host:4711")
    assert "<td>Ray cluster</td>" not in page(desk)


def test_without_a_worker_the_page_says_what_to_do(desk: AppService):
    assert "Start one with: evalui worker" in page(desk)


def test_a_worker_shows_its_run_and_its_model(desk: AppService, form_for: Callable[..., Form]):
    run_id = start_run(desk, form_to_spec(form_for(name="Midterm")))
    WorkerStatus(desk.database, "host:4711").update(model="biased", run=run_id, device="rule")
    assert f'<a href="runs?run={run_id}">Midterm</a>' in page(desk)
    assert "In use now" in row(desk, "biased")
    assert "1 busy, 0 idle" in page(desk)


def test_a_model_on_a_device_is_loaded_now(desk: AppService):
    local(desk)
    trying(desk, "late")
    presence = WorkerStatus(desk.database, "host:4711")
    presence.update(model="late")
    assert "Loading" in row(desk, "late")
    presence.update(model="late", device="cpu")
    assert "Loaded now" in row(desk, "late")
    assert "worker 4711" in row(desk, "late")


def test_the_run_of_another_user_is_busy_and_nothing_more(
    desk: AppService, form_for: Callable[..., Form], become: Callable[[str], None]
):
    run_id = start_run(desk, form_to_spec(form_for(name="Secret")))
    WorkerStatus(desk.database, "host:4711").update(model="biased", run=run_id, device="rule")
    become("bob")
    told = page(desk)
    assert "Secret" not in told
    assert "somebody else&#39;s run" in told
    assert "In use now" not in told


def test_a_worker_shows_all_of_its_runs(
    desk: AppService, form_for: Callable[..., Form], become: Callable[[str], None]
):
    names = ("First", "Second", "Third")
    runs = [start_run(desk, form_to_spec(form_for(name=name))) for name in names]
    for run in runs:
        assert queue.claim(desk.database, "host:4711", run)
    status = WorkerStatus(desk.database, "host:4711")
    status.update(model="biased", run=runs[2], device="rule")
    shown = page(desk)
    line = shown[shown.index('<span class="mono">4711</span>') :].partition("</tr>")[0]
    assert re.findall(r"\?run=([\w-]+)", line) == [runs[2], *runs[:2]], "what it computes is first"
    assert "somebody else" not in line
    become("bob")
    own = start_run(desk, form_to_spec(form_for(name="Bob's")))
    assert queue.claim(desk.database, "host:4711", own)
    shown = page(desk)
    line = shown[shown.index('<span class="mono">4711</span>') :].partition("</tr>")[0]
    assert re.findall(r"\?run=([\w-]+)", line) == [own]
    assert line.count("somebody else&#39;s run") == 1
    assert not any(name in shown for name in names)


def test_the_test_of_another_user_is_busy_and_nothing_more(
    desk: AppService, become: Callable[[str], None]
):
    desk.models.queue_test("biased", "local")
    claim_model_test(desk.database, "host:4711")
    WorkerStatus(desk.database, "host:4711").update(model="biased", device="rule")
    assert "In use now" in row(desk, "biased")
    become("bob")
    assert "In use now" not in row(desk, "biased")


def test_a_test_whose_owner_is_not_known_yet_is_hidden(desk: AppService):
    WorkerStatus(desk.database, "host:4711").update(model="biased", device="rule")
    assert "In use now" not in row(desk, "biased")
    assert "1 busy, 0 idle" in page(desk)


# Tests of models


@pytest.mark.slow  # the first reply to be graded loads what grades replies
def test_a_test_is_queued_and_shows_its_outcome(desk: AppService):
    models, *_ = DrawnPage("models", desk).act("test", model="biased")
    assert "Test is queued" in models
    Worker(desk.database, desk.models.catalog).run_test_once()
    shown = page(desk)
    assert "<b>Paris</b>" in shown
    assert "requests per s" in shown
    assert "Asked: Which city is the capital of France?" in shown


def test_a_queued_test_says_what_it_waits_for(
    desk: AppService, form_for: Callable[..., Form], become: Callable[[str], None]
):
    trying(desk, "always-A", "host:1")
    desk.models.queue_test("biased", "local")
    assert "No worker is running to take it." in row(desk, "biased")
    presence = WorkerStatus(desk.database, "host:1")
    presence.update()
    assert "A worker takes it in a moment." in row(desk, "biased")
    presence.update(model="always-A", device="rule")
    assert "It waits for another test to end." in row(desk, "biased")
    presence.update()
    presence.update(run=start_run(desk, form_to_spec(form_for(name="Midterm"))))
    assert "It waits for the run Midterm to end." in row(desk, "biased")
    become("bob")
    desk.models.queue_test("biased", "bob")
    assert "It waits for somebody else's run to end." in unescape(row(desk, "biased"))


def test_a_failed_test_says_why(desk: AppService):
    write(desk, '\n[odd]\nbackend = "scripted"\noptions = { rule = "odd" }\n')
    desk.models.queue_test("odd", "local")
    Worker(desk.database, desk.models.catalog).run_test_once()
    assert "failed." in row(desk, "odd")
    assert "&#39;odd&#39; is unknown" in row(desk, "odd").partition("tried")[2]


def test_what_a_model_writes_never_becomes_markup(desk: AppService):
    desk.models.queue_test("biased", "local")
    trial = claim_model_test(desk.database, "w")
    assert trial
    said = AbilityTest(
        "generate", "question_answer", answer=HOSTILE, tokens=20, seconds=0.5, requests=1
    )
    mute = AbilityTest("next_token", "multiple_choice", problem="<b>no</b>")
    object.__setattr__(trial, "load_s", 0.25)
    object.__setattr__(trial, "ability_tests", (said, mute))
    finish_model_test(desk.database, trial)
    told = row(desk, "biased")
    assert "<img" not in told
    assert "&lt;b&gt;no&lt;/b&gt;" in told
    assert "40 tokens per s (20 tokens)" in told
    assert "ready in 0.2 s" in told


def test_the_test_of_a_model_that_was_changed_since_is_not_its_own(desk: AppService):
    write(desk, '\n[odd]\nbackend = "scripted"\noptions = { rule = "odd" }\n')
    desk.models.queue_test("odd", "local")
    Worker(desk.database, desk.models.catalog).run_test_once()
    assert "tried" in row(desk, "odd")
    write(desk, '\n[odd]\nbackend = "scripted"\noptions = { rule = "noisy" }\n')
    assert "tried" not in row(desk, "odd")


def test_an_unknown_model_cannot_be_tested(desk: AppService):
    with pytest.raises(gr.Error, match="Unknown model"):
        DrawnPage("models", desk).act("test", model="nobody")


def test_the_page_looks_while_something_can_change(desk: AppService):
    desk.settings.workers = 0
    assert not DrawnPage("models", desk).timer
    desk.settings.workers = 1
    drawn = DrawnPage("models", desk)
    assert drawn.timer, "the server's own worker is on its way"
    desk.settings.workers = 0
    desk.models.queue_test("biased", "local")
    models, _, timer = drawn.look()
    assert "No worker is running" in row_of(models, "biased")
    assert timer["active"], "the test has no result yet"
    assert not DrawnPage("models", desk, "add=folder").timer


def test_an_idle_worker_states_the_model_that_it_keeps_and_its_device(desk: AppService):
    status = WorkerStatus(desk.database, "host:1", "cuda:1")
    status.update(model="biased", device="cuda:1", keeps=True)
    shown = page(desk)
    line = shown[shown.index('<td><span class="mono">1</span></td>') :].partition("</tr>")[0]
    for word in ("Idle", "biased", "kept loaded for the next run", "<td>cuda:1</td>"):
        assert word in line
    assert "0 busy, 1 idle" in shown
    assert desk.models.workers(desk.person)[0].row.has_loaded_model
    status.update(model="of another team", device="cuda:1", keeps=True)
    assert "of another team" not in page(desk)


# Adding and removing


def label_of(name: str, place: str) -> str:
    t = messages("en")
    return t(
        "set.chat" if name == "chat" else f"add.{place}_path" if name == "path" else f"add.{name}"
    )


def save(desk: AppService, query: str = "add=endpoint", /, **fields: object) -> str:
    """Where pressing the button of a form leads, else what is wrong."""
    form = DrawnPage("models", desk, query)
    place = form.component("Where the model is").value
    values = {label_of(name, place): value for name, value in fields.items()}
    address, problem = form.press("Save" if "edit" in query else "Add model", **values)
    return address or problem["value"]


def field(desk: AppService, label: str, query: str = "edit=far") -> object:
    """What stands in a field of a form."""
    return DrawnPage("models", desk, query).component(label).value


def test_a_model_is_added_tested_and_removed(desk: AppService, capsys: pytest.CaptureFixture[str]):
    assert save(desk, "add=folder", **FOLDER) == "?#model-late"
    drawn = DrawnPage("models", desk)
    assert "added here" in row_of(drawn.text, "late")
    assert desk.models.catalog()["late"].path == LATE
    assert "Its files stay where they are." in drawn.text
    models, *_ = drawn.act("test", model="late")
    assert "No worker is running to take it." in row_of(models, "late")
    models, *_ = drawn.act("remove", model="late")
    assert not row_of(models, "late")
    assert capsys.readouterr().out == "late is removed.\n"
    assert "late" not in desk.models.catalog()


def test_a_folder_that_is_not_there_is_reported_and_nothing_is_added(desk: AppService):
    assert "There is no folder …/where." in save(
        desk, "add=folder", **FOLDER | {"path": "/no/where"}
    )
    assert "late" not in desk.models.catalog()


def test_another_place_shows_other_fields(desk: AppService):
    form = DrawnPage("models", desk, "add=endpoint")
    assert "Base URL" in form.text
    assert "LoRA" not in form.text
    _, endpoint, path, _, local, rare = form.choose("Where the model is", "folder")
    assert [each["visible"] for each in (endpoint, local, rare)] == [False, True, False]
    assert path["label"] == "Folder of the model"
    other = DrawnPage("models", desk, "add=folder").text
    assert "LoRA" in other
    assert "Base URL" not in other


ENDPOINT: dict[str, object] = {
    "name": "far",
    "path": "gpt",
    "address": "http://127.0.0.1:9/v1",
}


def test_an_endpoint_is_added(desk: AppService):
    assert save(desk, **ENDPOINT, key_variable="FAR_API_KEY") == "?#model-far"
    assert "Its key goes with it." in row(desk, "far")
    entry = desk.models.catalog()["far"]
    assert (entry.backend, entry.chat) == ("openai", True)
    assert entry.options == {"base_url": "http://127.0.0.1:9/v1", "api_key_env": "FAR_API_KEY"}


def test_a_server_of_decisions_is_added_by_its_address_and_says_what_it_is(desk: AppService):
    with DecisionServer() as server:
        save(desk, **ENDPOINT | {"address": server.url, "path": MODEL})
        settled(desk)
        told = unescape(row(desk, "far"))
        for line in ("letters", "texts", "replies"):
            assert f"No {line}: it answers decisions and writes no text." in told
        assert "No pictures: it is asked for decisions in text alone, without pictures." in told
        assert "No decisions" not in told
        desk.models.queue_test("far", "local")
        assert Worker(desk.database, desk.models.catalog).run_test_once()
    tried = row(desk, "far").partition('class="tried"')[2]
    assert "decisions" in tried
    assert "No option stands out." in tried  # the server finds all of them as probable


def test_the_interface_of_an_endpoint_is_chosen_and_stays(desk: AppService):
    save(desk, **ENDPOINT)
    assert "api" not in desk.models.catalog()["far"].options
    assert field(desk, "Interface") == "auto"
    save(desk, "edit=far", api="decision")
    assert desk.models.catalog()["far"].options["api"] == "decision"
    assert field(desk, "Interface") == "decision"
    save(desk, "edit=far", path="gpt-2")
    assert desk.models.catalog()["far"].options["api"] == "decision"
    save(desk, "edit=far", api="auto")
    assert "api" not in desk.models.catalog()["far"].options


def test_an_endpoint_without_a_model_lacks_only_the_model(desk: AppService):
    faults = save(desk, address="http://127.0.0.1:9/v1")
    assert "Name the model as its server calls it" in faults
    assert faults.count('class="fault"') == 1  # the name would be the model's


PRICED = ENDPOINT | {
    "input_price": "0.15",
    "output_price": "0.6",
    "max_length": "8192",
    "timeout_s": "300",
}


def test_prices_and_length_are_added_and_shown(desk: AppService, moody: Moody):
    assert not moody.problem_now
    save(desk, **PRICED)
    entry = desk.models.catalog()["far"]
    assert (entry.input_price, entry.output_price, entry.max_length) == (0.15, 0.6, 8192)
    assert entry.options["timeout_s"] == 300
    settled(desk)
    assert "US$ 0.15 per million tokens read, 0.60 written" in row(desk, "far")
    assert "at most 8,192 tokens" in row(desk, "far")


def test_faults_are_told_with_their_fields(desk: AppService):
    faults = save(desk, **PRICED | {"output_price": "0,6", "key_variable": "sk-1"})
    assert 'role="alert"' in faults
    price = "<b>Price of tokens written</b> Expected an amount of US dollars, as in 0.15."
    assert price in faults
    assert re.search("<b>Variable that holds the key</b> [^<]*must end in _API_KEY", faults)
    assert faults.count('class="fault"') == 2
    assert "far" not in desk.models.catalog()


def test_a_name_that_is_taken_is_reported(desk: AppService):
    told = save(desk, "add=folder", **FOLDER | {"name": "biased"})
    assert "<b>Name</b> There is a model &#39;biased&#39; already. Choose another name." in told


@pytest.mark.parametrize(("price", "shown"), [("", False), ("0.15", True)])
def test_what_is_filled_in_is_not_folded_away(desk: AppService, *, price: str, shown: bool):
    save(desk, **ENDPOINT, input_price=price)
    blocks = DrawnPage("models", desk, "edit=far").layout.blocks.values()
    (rare,) = [each for each in blocks if isinstance(each, gr.Accordion)]
    assert rare.open is shown


@pytest.mark.parametrize(
    ("told", "host", "names", "may"),
    [
        (None, "127.0.0.1", [], True),
        (None, "localhost", [], True),
        (None, "::1", [], True),
        (None, "0.0.0.0", [], False),
        (None, "eval.example.org", [], False),
        (None, "127.0.0.1", ["eval.example.org"], False),  # reached through a proxy
        (True, "0.0.0.0", [], True),
        (False, "127.0.0.1", [], False),
    ],
)
def test_who_may_add_models(
    desk: AppService, told: bool | None, host: str, names: list[str], may: bool
):
    desk.settings.edit_models, desk.settings.host = told, host
    desk.settings.allowed_hosts = names
    assert desk.models.may_edit is may


def test_who_may_not_has_no_form_and_is_refused(desk: AppService):
    desk.models.add(models_service.NewModelForm("late", LATE))
    drawn = [DrawnPage("models", desk, query) for query in ("", "add=folder", "edit=late")]
    desk.settings.edit_models = False
    told = "added and removed by the administrator"
    assert 'data-do="ask"' not in page(desk)
    assert "edit=late" not in page(desk)
    for query in ("add=folder", "edit=late"):
        with pytest.raises(ModelError, match=told):
            page(desk, query)
    # What is still open is refused as well.
    assert told in drawn[1].press("Add model", Name="again")[1]["value"]
    assert told in drawn[2].press("Save")[1]["value"]
    with pytest.raises(gr.Error, match="administrator"):
        drawn[0].act("remove", model="late")
    assert list(desk.models.added()) == ["late"]


def test_an_added_model_whose_name_was_taken_since_is_reported_and_can_go(desk: AppService):
    additions_path(desk.settings.database).write_text('[biased]\nbackend = "scripted"\n')
    told = page(desk)
    assert "its own counts: biased" in told
    assert "Remove the added biased" in told
    assert "added here" not in row(desk, "biased")
    desk.settings.edit_models = False
    assert "Remove the added" not in page(desk)
    desk.settings.edit_models = True
    models, *_ = DrawnPage("models", desk).act("remove", model="biased")
    assert "its own counts" not in models
    assert "<h3>biased</h3>" in models


# Changing, and keys

KEYED = PRICED | {"key": "sk-secret-one"}


def test_a_key_is_kept_and_never_comes_back_to_a_page(desk: AppService):
    pages = [save(desk, **KEYED | {"max_length": "x"})]
    assert save(desk, **KEYED) == "?#model-far"
    assert read_endpoint(desk.models.catalog()["far"]).key == "sk-secret-one"
    pages += [page(desk), page(desk, "edit=far")]
    assert "A key is kept for it" in row_of(pages[1], "far")
    assert DrawnPage("models", desk, "edit=far").component("Key").info.startswith("a key is kept")
    assert all("secret" not in each for each in pages)


def test_the_form_of_a_change_holds_what_the_catalog_says(desk: AppService):
    save(desk, **KEYED)
    form = DrawnPage("models", desk, "edit=far")
    assert "Edit far" in form.text
    for told in ("gpt", "http://127.0.0.1:9/v1", "0.15", "8192"):
        assert told in form.text
    assert form.component("Chat template").value == "yes"
    assert not form.component("Name").visible


def test_a_model_is_changed_and_keeps_its_key(desk: AppService):
    save(desk, **KEYED)
    assert save(desk, "edit=far", path="gpt-2") == "?#model-far"
    entry = desk.models.catalog()["far"]
    assert entry.path == "gpt-2"
    assert read_endpoint(entry).key == "sk-secret-one"


def test_a_changed_address_needs_the_key_again(desk: AppService):
    save(desk, **KEYED)
    moved = {"address": "http://127.0.0.1:8/v1"}
    told = save(desk, "edit=far", **moved)
    assert "<b>Key</b> The key was entered for another address." in told
    save(desk, "edit=far", **moved, key="sk-secret-two")
    assert read_endpoint(desk.models.catalog()["far"]).key == "sk-secret-two"
    save(desk, "edit=far", drop_key=True)
    assert read_endpoint(desk.models.catalog()["far"]).key == ""


def test_an_endpoint_without_a_name_is_called_as_its_server_calls_it(desk: AppService):
    save(desk, **PRICED | {"name": "", "path": "org/gpt-9"})
    assert desk.models.catalog()["gpt-9"].path == "org/gpt-9"


def test_what_was_not_added_here_has_no_form(desk: AppService):
    with pytest.raises(ModelError, match="was not added on this page"):
        page(desk, "edit=biased")


# One state


def test_what_a_worker_waits_for_is_out_of_reach_everywhere(
    desk: AppService, moody: Moody, form_for: Callable[..., Form]
):
    assert not moody.problem_now
    assert "Answers" in settled(desk)
    start_run(desk, form_to_spec(form_for(models=["gpt"], modes=["generation"])))
    run = queue.claim(desk.database, "worker-1")
    assert run
    (cell,) = read_cells(desk.database, run.id)
    set_wait(desk.database, run.lease, cell.id, ModelWait("it is full", 1.0, 2.0))
    told = row(desk, "gpt")
    assert "Out of reach" in told
    assert "it is full" in told
    assert "Answers" not in told
    assert "1 out of reach" in page(desk)
    (state,) = [each for each in desk.models.states() if each.entry.name == "gpt"]
    assert state.is_endpoint_down
    clear_wait(desk.database, run.lease, cell.id)
    assert "Answers" in row(desk, "gpt")


@pytest.mark.parametrize("problem", [None, AWAY])
def test_a_row_has_one_state_and_no_tick_beside_out_of_reach(
    desk: AppService, moody: Moody, problem: Exception | None
):
    moody.problem_now = problem
    settled(desk)
    desk.models.queue_test("gpt", "local")
    trial = claim_model_test(desk.database, "w")
    assert trial
    good = AbilityTest("generate", "question_answer", answer="Rome", tokens=1, requests=1)
    finish_model_test(desk.database, replace(trial, load_s=0.1, ability_tests=(good,)))
    told = row(desk, "gpt")
    assert ("Rome" in told, 'class="st ok"' in told) == ((problem is None,) * 2)
    assert told.partition("</summary>")[0].count('class="st ') == 1


def test_where_nothing_can_be_changed_nothing_is_offered(desk: AppService):
    desk.settings.read_only = True
    assert "<button" not in row(desk, "biased")
    assert "Add a model" not in page(desk)
    assert "This server" not in page(desk)


# Elsewhere


def test_who_may_add_models_finds_the_way_to_the_form(desk: AppService):
    way = 'href="models?add=endpoint"'
    assert way in page(desk)
    desk.settings.edit_models = False
    assert way not in page(desk)


def test_of_a_path_the_end_is_shown(desk: AppService, tmp_path: Path):
    write(desk, f'\n[far]\nbackend = "transformers"\npath = "{tmp_path}/x"\n')
    assert f"{tmp_path}" not in row(desk, "far")
    assert f"…/{tmp_path.name}/x" in row(desk, "far")


def test_an_address_that_cannot_be_used_alone_says_why(
    desk: AppService, monkeypatch: pytest.MonkeyPatch
):
    class Two(Far):
        def unavailable_addresses(self, entry: ModelEntry) -> dict[str, str]:
            del entry
            return {"http://b/v1": "http://b/v1 cannot be reached"}

    monkeypatch.setitem(BACKENDS._entries, "far", Two())  # pyright: ignore[reportPrivateUsage]
    write(
        desk,
        '\n[gpt]\nbackend = "far"\npath = "gpt"\n'
        'options = { base_urls = ["http://a/v1", "http://b/v1"] }\n',
    )
    told = row(desk, "gpt")
    assert '<span class="mono">http://a/v1</span>' in told
    assert '<span class="warn">http://b/v1 cannot be reached</span>' in told
    assert "Test this model" in told


def test_an_endpoint_that_did_not_answer_its_test_is_not_shown_as_answering(
    desk: AppService, monkeypatch: pytest.MonkeyPatch
):
    far = BACKENDS["openai"]
    monkeypatch.setattr(far, "problem", lambda _: "")
    monkeypatch.setattr(far, "abilities", lambda _: frozenset({"generate"}))
    monkeypatch.setattr(far, "missing_reasons", lambda _: {})
    monkeypatch.setattr(far, "unavailable_addresses", lambda _: {})
    # Its own probe of the address, which other tests have too, may be under way.
    monkeypatch.setattr(far, "probe_status", lambda _, wait_s: ProbeStatus())  # noqa: ARG005
    monkeypatch.setattr(far, "open", lambda _: SimpleNamespace(close=lambda: None))
    address = 'base_url = "http://127.0.0.1:9/v1"'
    write(desk, f'\n[gpt]\nbackend = "openai"\npath = "gpt"\noptions = {{ {address} }}\n')
    assert "Answers" in row(desk, "gpt")
    desk.models.queue_test("gpt", "local")
    trial = claim_model_test(desk.database, "w")
    assert trial
    finish_model_test(desk.database, replace(trial, error="Nobody answers."))
    assert "Did not answer the last test" in row(desk, "gpt")
    assert "Answers" not in row(desk, "gpt")


def test_what_is_added_to_requests_is_typed_as_json_and_shown_again(desk: AppService):
    extras = {"extra_body": '{"a": {"b": false}}', "key_header": "api-key"}
    assert "is not a JSON object" in save(desk, **ENDPOINT, **extras, query="api-version")
    save(desk, **ENDPOINT, **extras, query='{"api-version": "1"}')
    options = desk.models.catalog()["far"].options
    assert (options["extra_body"], options["query"]) == ({"a": {"b": False}}, {"api-version": "1"})
    assert field(desk, "Fields added to each request") == '{"a": {"b": false}}'
    assert field(desk, "Query added to the address") == '{"api-version": "1"}'
    assert field(desk, "Header that carries the key") == "api-key"
