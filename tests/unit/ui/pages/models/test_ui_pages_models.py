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

import pytest
from press import Press
from ui_examples import HOSTILE, MODELS
from ui_models_screen import Screen

from evalui.app import models_service
from evalui.app.evaluations import start_run
from evalui.app.service import AppService
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
from evalui.types import Ability
from evalui.ui.components.form import Form
from evalui.ui.pages.evaluate.spec import form_to_spec

MakeAct = Callable[..., Press]
LATE = str(ASSETS / "models" / "demo-late")
FOLDER: Form = {"add_place": "folder", "add_name": "late", "add_path": LATE, "add_dtype": "auto"}


@pytest.fixture(autouse=True)
def devices(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A machine whose memory the tests know."""
    known = SimpleNamespace(machine=DeviceMemory("", 16 * 10**9, 4 * 10**9), gpus=())
    monkeypatch.setattr(models_service.devices, "machine_memory", lambda: known.machine)
    monkeypatch.setattr(models_service.devices, "gpus", lambda: known.gpus)
    return known


@pytest.fixture
def tab(desk: AppService) -> Screen:
    return Screen(desk)


def write(desk: AppService, more: str) -> None:
    desk.settings.models.write_text(MODELS + more, encoding="utf-8")


def page(tab: Screen) -> str:
    return tab.render({})


def acted(tab: Screen, action: Press) -> str:
    """The page after an action that changes it."""
    shown = tab.act(action)
    assert shown is not None
    return shown


def row(tab: Screen, name: str) -> str:
    return row_of(page(tab), name)


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


def test_a_model_that_cannot_be_loaded_says_why(tab: Screen):
    told = row(tab, "gone")
    assert "Cannot be used" in told
    assert "There is no folder" in told
    assert "Test this model" not in told


def test_a_missing_ability_is_marked_with_its_reason(tab: Screen):
    told = row(tab, "always-A")
    assert "letters · replies" in told
    assert "No texts: it gives no probability of a text." in told


@pytest.mark.usefixtures("far")
def test_a_backend_tells_better_reasons(tab: Screen):
    assert "No texts: it drops echo." in row(tab, "gpt")


def test_a_model_in_a_folder_tells_its_size_and_whether_it_fits(
    tab: Screen, desk: AppService, devices: SimpleNamespace
):
    local(desk)
    assert "1.02 M · fits" in row(tab, "late")
    assert "about 12.5 MB, fits" in row(tab, "late")
    assert "weights 4.07 MB in float32, 8.39 MB for 4,096 tokens" in row(tab, "late")
    devices.machine = DeviceMemory("", 16 * 10**9, 10**7)
    assert "about 12.5 MB, only 10 MB free" in row(tab, "late")
    assert "May not fit" in row(tab, "late")
    assert "Ready to load" not in row(tab, "late")


def test_a_long_context_is_an_upper_bound_and_no_need(
    tab: Screen, desk: AppService, devices: SimpleNamespace, tmp_path: Path
):
    long = tmp_path / "long"
    shutil.copytree(LATE, long)
    config = json.loads((long / "config.json").read_text()) | {"max_position_embeddings": 131072}
    (long / "config.json").write_text(json.dumps(config))
    write(desk, f'\n[long]\nbackend = "transformers"\npath = "{long}"\n')
    devices.machine = DeviceMemory("", 16 * 10**9, 2 * 10**7)
    told = row(tab, "long")
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
    tab: Screen,
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
    assert told in row(tab, "late")


def test_an_unreadable_folder_is_reported_and_the_page_stands(
    tab: Screen, desk: AppService, tmp_path: Path
):
    half = tmp_path / "half"
    half.mkdir()
    (half / "config.json").write_text("{}")
    (half / "model.safetensors").symlink_to(tmp_path / "blobs" / "gone")
    write(desk, f'\n[half]\nbackend = "transformers"\npath = "{half}"\n')
    told = row(tab, "half")
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
def test_an_address_is_shown_without_what_is_secret(
    tab: Screen, desk: AppService, options: str, shown: str
):
    write(desk, f'\n[gpt]\nbackend = "far"\npath = "gpt"\noptions = {{ {options} }}\n')
    told = row(tab, "gpt")
    assert "secret" not in told
    assert f'<span class="mono">{shown}</span>' in told if shown else "Test this model" in told


def test_a_gpu_takes_the_files_own_format(tab: Screen, desk: AppService, devices: SimpleNamespace):
    local(desk)
    devices.gpus = (DeviceMemory("H", 10**11, 10**10, 0.5), DeviceMemory("H", 10**11, 2 * 10**10))
    assert "weights 2.04 MB in bfloat16" in row(tab, "late")
    assert "90.0 GB of 100 GB used · computing 50 %" in page(tab)


def test_a_hub_id_is_fetched_later(tab: Screen, desk: AppService):
    write(desk, '\n[hub]\nbackend = "transformers"\npath = "owner/name"\n')
    assert "fetched when first used" in row(tab, "hub")


@pytest.mark.usefixtures("far")
def test_prices_and_measured_speed_are_shown(tab: Screen, desk: AppService):
    database = desk.database
    store_throughput(database, "gpt", "generation", 0, fingerprint="f", rate=12.34)
    told = row(tab, "gpt")
    assert "US$ 0.15 per million tokens read, 0.60 written" in told
    assert "12.3 per s (reply)" in told


def test_a_tuned_model_leads_to_a_comparison_with_its_base(tab: Screen, desk: AppService):
    write(
        desk,
        '\n[base]\nbackend = "scripted"\npath = "/m"\noptions = { rule = "noisy" }\n'
        '[tuned]\nbackend = "scripted"\npath = "/m"\nadapter = "/a"\n'
        'options = { rule = "perfect" }\n'
        '[alone]\nbackend = "scripted"\npath = "/n"\nadapter = "/a"\n'
        'options = { rule = "perfect" }\n',
    )
    assert 'href="?tab=evaluate&amp;models=base&amp;models=tuned"' in row(tab, "tuned")
    assert "Compare with base" not in row(tab, "alone")


def test_a_tuned_model_without_its_base_says_so(tab: Screen, desk: AppService):
    local(desk, adapter="/no/such")
    assert "Its base is not in the catalog." in row(tab, "late")


def test_an_empty_catalog_tells_the_next_step(tab: Screen, desk: AppService):
    desk.settings.models.write_text("", encoding="utf-8")
    assert "Add one below, or name it in models.toml." in page(tab)


def test_a_broken_catalog_is_reported_and_the_page_stands(tab: Screen, desk: AppService):
    desk.settings.models.write_text("[", encoding="utf-8")
    assert "is not valid TOML" in page(tab)
    assert "This server" in page(tab)
    assert "No model yet" not in page(tab)


def test_names_and_paths_never_become_markup(tab: Screen, desk: AppService):
    name = json.dumps(HOSTILE)
    write(desk, f'\n[{name}]\nbackend = "transformers"\npath = {name}\nnotes = {name}\n')
    assert "<img" not in page(tab)
    assert "&lt;img" in page(tab)


def test_a_chinese_page_speaks_chinese(desk: AppService):
    told = page(Screen(desk, "zh"))
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


def settled(tab: Screen) -> str:
    """The row of gpt when nobody asks any more."""
    deadline = time.monotonic() + 60
    while any(look.pending for look in tab.service.models.current_statuses().values()):
        assert time.monotonic() < deadline, "it was not answered in time"
        time.sleep(0.01)
    return row(tab, "gpt")


def test_out_of_reach_does_not_look_like_cannot_be_used(tab: Screen, moody: Moody):
    moody.problem_now = AWAY
    told = settled(tab)
    assert 'class="st warn"' in told
    assert "Out of reach" in told
    assert "The endpoint cannot be asked: it is away." in told
    assert "It may come back" in told
    assert "Cannot be used" not in told
    assert "1 out of reach" in page(tab)
    told = row(tab, "gone")
    assert 'class="st bad"' in told
    assert "Waiting does not help" in told
    assert "It may come back" not in told


def test_an_endpoint_is_probed_again_at_a_click(tab: Screen, moody: Moody, act: MakeAct):
    moody.problem_now = AWAY
    told = settled(tab)
    assert 'data-do="again" data-model="gpt">Ask again</button>' in told
    moody.problem_now = None
    assert "Out of reach" in settled(tab), "it is left alone for a while"
    tab.act(act("again", model="gpt"))
    told = settled(tab)
    assert "Answers" in told
    assert re.search(r"Last asked \d\d:\d\d:\d\d", told)
    assert "Ask again" in told


def test_files_are_looked_at_again_at_a_click(tab: Screen, desk: AppService, act: MakeAct):
    assert "Look again" in row(tab, "gone")
    shown = acted(tab, act("again", model="gone"))
    assert re.search(r"Last looked \d\d:\d\d:\d\d", shown)
    assert not tab.looks(), "nothing has changed by itself"
    assert "Last looked" in tab.html()
    shutil.copytree(LATE, desk.settings.models.parent / "nowhere")
    shown = acted(tab, act("again", model="gone"))
    told = row_of(shown, "gone")
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
    tab: Screen, desk: AppService, *, added: bool, may: bool, advice: str
):
    if added:
        additions_path(desk.settings.database).write_text(
            '[late]\nbackend = "transformers"\npath = "/no/where"\n'
        )
    desk.settings.edit_models = may
    assert advice in row(tab, "late" if added else "gone")


def test_an_endpoint_probed_after_its_failed_test_is_believed(
    tab: Screen, desk: AppService, moody: Moody, act: MakeAct
):
    assert "Answers" in settled(tab)
    assert not moody.problem_now
    desk.models.queue_test("gpt", "local")
    trial = claim_model_test(desk.database, "w")
    assert trial
    finish_model_test(desk.database, replace(trial, error="Nobody answers."))
    assert "Did not answer the last test" in settled(tab)
    tab.act(act("again", model="gpt"))
    assert "Did not answer the last test" not in settled(tab)


# Devices


def test_on_a_cluster_the_page_says_where_models_are_opened(tab: Screen, desk: AppService):
    local(desk)
    assert "Ray" not in page(tab)
    assert "fits" in row(tab, "late")
    desk.settings.engine, desk.settings.ray_address = "ray", "10.0.0.1:6379"
    told = page(tab)
    assert "Models are opened on the Ray cluster at" in told
    assert '<span class="mono">10.0.0.1:6379</span>' in told
    assert "a seat is 2 cores" in told
    assert "Below is this machine alone" in told
    assert "No GPU found" not in told, "what counts are those of the cluster"
    assert "about 12.5 MB" in row(tab, "late")
    assert "fits" not in row(tab, "late")
    desk.settings.ray_address = ""
    assert "that the worker starts on this machine" in page(tab)


def test_a_model_on_the_cluster_runs_there_and_an_endpoint_does_not(tab: Screen, desk: AppService):
    desk.settings.engine = "ray"
    local(desk)
    trying(desk, "late")
    WorkerStatus(desk.database, "host:4711").update(model="late", device="cpu")
    assert "<td>Ray cluster</td>" in page(tab)
    WorkerStatus(desk.database, "host:4711").update(model="far", device="endpoint")
    trying(desk, "always-A", "host:4711")
    assert "<td>Ray cluster</td>" not in page(tab)


def test_without_a_worker_the_page_says_what_to_do(tab: Screen):
    assert "Start one with: evalui worker" in page(tab)


def test_a_worker_shows_its_run_and_its_model(
    tab: Screen, desk: AppService, form_for: Callable[..., Form]
):
    run_id = start_run(desk, form_to_spec(form_for(name="Midterm")))
    WorkerStatus(desk.database, "host:4711").update(model="biased", run=run_id, device="rule")
    assert f'<a href="runs?run={run_id}">Midterm</a>' in page(tab)
    assert "In use now" in row(tab, "biased")
    assert "1 busy, 0 idle" in page(tab)


def test_a_model_on_a_device_is_loaded_now(tab: Screen, desk: AppService):
    local(desk)
    trying(desk, "late")
    presence = WorkerStatus(desk.database, "host:4711")
    presence.update(model="late")
    assert "Loading" in row(tab, "late")
    presence.update(model="late", device="cpu")
    assert "Loaded now" in row(tab, "late")
    assert "worker 4711" in row(tab, "late")


def test_the_run_of_another_user_is_busy_and_nothing_more(
    tab: Screen, desk: AppService, form_for: Callable[..., Form], become: Callable[[str], None]
):
    run_id = start_run(desk, form_to_spec(form_for(name="Secret")))
    WorkerStatus(desk.database, "host:4711").update(model="biased", run=run_id, device="rule")
    become("bob")
    told = page(tab)
    assert "Secret" not in told
    assert "somebody else&#39;s run" in told
    assert "In use now" not in told


def test_a_worker_shows_all_of_its_runs(
    tab: Screen, desk: AppService, form_for: Callable[..., Form], become: Callable[[str], None]
):
    names = ("First", "Second", "Third")
    runs = [start_run(desk, form_to_spec(form_for(name=name))) for name in names]
    for run in runs:
        assert queue.claim(desk.database, "host:4711", run)
    status = WorkerStatus(desk.database, "host:4711")
    status.update(model="biased", run=runs[2], device="rule")
    shown = page(tab)
    line = shown[shown.index('<span class="mono">4711</span>') :].partition("</tr>")[0]
    assert re.findall(r"\?run=([\w-]+)", line) == [runs[2], *runs[:2]], "what it computes is first"
    assert "somebody else" not in line
    become("bob")
    own = start_run(desk, form_to_spec(form_for(name="Bob's")))
    assert queue.claim(desk.database, "host:4711", own)
    shown = page(tab)
    line = shown[shown.index('<span class="mono">4711</span>') :].partition("</tr>")[0]
    assert re.findall(r"\?run=([\w-]+)", line) == [own]
    assert line.count("somebody else&#39;s run") == 1
    assert not any(name in shown for name in names)


def test_the_test_of_another_user_is_busy_and_nothing_more(
    tab: Screen, desk: AppService, become: Callable[[str], None]
):
    desk.models.queue_test("biased", "local")
    claim_model_test(desk.database, "host:4711")
    WorkerStatus(desk.database, "host:4711").update(model="biased", device="rule")
    assert "In use now" in row(tab, "biased")
    become("bob")
    assert "In use now" not in row(tab, "biased")


def test_a_test_whose_owner_is_not_known_yet_is_hidden(tab: Screen, desk: AppService):
    WorkerStatus(desk.database, "host:4711").update(model="biased", device="rule")
    assert "In use now" not in row(tab, "biased")
    assert "1 busy, 0 idle" in page(tab)


# Tests of models


@pytest.mark.slow  # the first reply to be graded loads what grades replies
def test_a_test_is_queued_and_shows_its_outcome(tab: Screen, desk: AppService, act: MakeAct):
    shown = acted(tab, act("test", model="biased"))
    assert "Test is queued" in shown
    Worker(desk.database, desk.models.catalog).run_test_once()
    shown = page(tab)
    assert "<b>Paris</b>" in shown
    assert "requests per s" in shown
    assert "Asked: Which city is the capital of France?" in shown


def test_a_queued_test_says_what_it_waits_for(
    tab: Screen, desk: AppService, form_for: Callable[..., Form], become: Callable[[str], None]
):
    trying(desk, "always-A", "host:1")
    desk.models.queue_test("biased", "local")
    assert "No worker is running to take it." in row(tab, "biased")
    presence = WorkerStatus(desk.database, "host:1")
    presence.update()
    assert "A worker takes it in a moment." in row(tab, "biased")
    presence.update(model="always-A", device="rule")
    assert "It waits for another test to end." in row(tab, "biased")
    presence.update()
    presence.update(run=start_run(desk, form_to_spec(form_for(name="Midterm"))))
    assert "It waits for the run Midterm to end." in row(tab, "biased")
    become("bob")
    desk.models.queue_test("biased", "bob")
    assert "It waits for somebody else's run to end." in unescape(row(tab, "biased"))


def test_a_failed_test_says_why(tab: Screen, desk: AppService):
    write(desk, '\n[odd]\nbackend = "scripted"\noptions = { rule = "odd" }\n')
    desk.models.queue_test("odd", "local")
    Worker(desk.database, desk.models.catalog).run_test_once()
    assert "failed." in row(tab, "odd")
    assert "&#39;odd&#39; is unknown" in row(tab, "odd").partition("tried")[2]


def test_what_a_model_writes_never_becomes_markup(tab: Screen, desk: AppService):
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
    told = row(tab, "biased")
    assert "<img" not in told
    assert "&lt;b&gt;no&lt;/b&gt;" in told
    assert "40 tokens per s (20 tokens)" in told
    assert "ready in 0.2 s" in told


def test_the_test_of_a_model_that_was_changed_since_is_not_its_own(tab: Screen, desk: AppService):
    write(desk, '\n[odd]\nbackend = "scripted"\noptions = { rule = "odd" }\n')
    desk.models.queue_test("odd", "local")
    Worker(desk.database, desk.models.catalog).run_test_once()
    assert "tried" in row(tab, "odd")
    write(desk, '\n[odd]\nbackend = "scripted"\noptions = { rule = "noisy" }\n')
    assert "tried" not in row(tab, "odd")


def test_an_unknown_model_cannot_be_tested(tab: Screen, act: MakeAct):
    shown = acted(tab, act("test", model="nobody"))
    assert "Unknown model" in shown


def test_a_look_without_news_changes_nothing(tab: Screen, desk: AppService):
    page(tab)
    assert not tab.looks()
    desk.models.queue_test("biased", "local")
    assert tab.looks()
    assert "No worker is running" in row_of(tab.html(), "biased")


def test_a_look_keeps_a_problem(tab: Screen, desk: AppService, act: MakeAct):
    assert "Unknown model" in acted(tab, act("test", model="nobody"))
    desk.models.queue_test("biased", "local")
    assert tab.looks()
    assert "Unknown model" in tab.html()


def test_the_page_looks_only_while_something_can_change(tab: Screen, desk: AppService):
    desk.settings.workers = 0
    page(tab)
    assert not tab.is_live()
    desk.settings.workers = 1
    page(tab)
    assert tab.is_live(), "the server's own worker is on its way"
    tab.render({"add": "folder"})
    assert not tab.is_live(), "the form is never drawn anew"


def test_an_idle_worker_states_the_model_that_it_keeps_and_its_device(
    tab: Screen, desk: AppService
):
    status = WorkerStatus(desk.database, "host:1", "cuda:1")
    status.update(model="biased", device="cuda:1", keeps=True)
    shown = page(tab)
    line = shown[shown.index('<td><span class="mono">1</span></td>') :].partition("</tr>")[0]
    for word in ("Idle", "biased", "kept loaded for the next run", "<td>cuda:1</td>"):
        assert word in line
    assert "0 busy, 1 idle" in shown
    assert desk.models.workers(desk.person)[0].row.has_loaded_model
    status.update(model="of another team", device="cuda:1", keeps=True)
    assert "of another team" not in page(tab)


# Adding and removing


def test_a_model_is_added_tested_and_removed(tab: Screen, desk: AppService, act: MakeAct):
    shown = acted(tab, act("save", FOLDER))
    assert "late is in the catalog." in shown
    assert 'data-address=""' in shown
    assert "added here" in shown
    assert desk.models.catalog()["late"].path == LATE
    shown = acted(tab, act("ask", model="late"))
    assert "Remove from the catalog" in shown
    assert "late" in desk.models.catalog()
    assert "Its files stay where they are." in shown
    assert "late is removed." in acted(tab, act("remove", model="late"))
    assert "late" not in desk.models.catalog()


def test_a_wrong_field_is_reported_and_the_form_keeps_the_rest(tab: Screen, act: MakeAct):
    form = acted(tab, act("save", FOLDER | {"add_path": "/no/where"}))
    assert 'data-address="add=folder"' in form
    assert "There is no folder …/where." in form
    assert "/no/where" in form
    assert 'value="late"' in form


def test_another_place_shows_other_fields(tab: Screen, act: MakeAct):
    form = acted(tab, act("set", FOLDER | {"add_place": "endpoint"}, name="add_place"))
    assert "add_address" in form
    assert "add_adapter" not in form
    assert 'value="late"' in form


def test_an_endpoint_is_added(tab: Screen, desk: AppService, act: MakeAct):
    form = {
        "add_place": "endpoint",
        "add_name": "far",
        "add_path": "gpt",
        "add_address": "http://127.0.0.1:9/v1",
        "add_variable": "FAR_API_KEY",
        "add_chat": "yes",
    }
    assert "far is in the catalog. Its row says whether it answers." in acted(
        tab, act("save", form)
    )
    assert "Its key goes with it." in acted(tab, act("ask", model="far"))
    entry = desk.models.catalog()["far"]
    assert (entry.backend, entry.chat) == ("openai", True)
    assert entry.options == {"base_url": "http://127.0.0.1:9/v1", "api_key_env": "FAR_API_KEY"}


def test_an_endpoint_without_a_model_lacks_only_the_model(tab: Screen, act: MakeAct):
    form = {"add_place": "endpoint", "add_address": "http://127.0.0.1:9/v1"}
    faults = acted(tab, act("save", form))
    assert "Name the model as its server calls it" in faults
    assert 'id="fault-name"' not in faults  # it would be the model's


PRICED: Form = {
    "add_place": "endpoint",
    "add_name": "far",
    "add_path": "gpt",
    "add_address": "http://127.0.0.1:9/v1",
    "add_input_price": "0.15",
    "add_output_price": "0.6",
    "add_max_length": "8192",
    "add_timeout_s": "300",
}


def test_prices_and_length_are_added_and_shown(
    tab: Screen, desk: AppService, moody: Moody, act: MakeAct
):
    assert not moody.problem_now
    tab.act(act("save", PRICED))
    entry = desk.models.catalog()["far"]
    assert (entry.input_price, entry.output_price, entry.max_length) == (0.15, 0.6, 8192)
    assert entry.options["timeout_s"] == 300
    settled(tab)
    assert "US$ 0.15 per million tokens read, 0.60 written" in row(tab, "far")
    assert "at most 8,192 tokens" in row(tab, "far")


def test_a_fault_stands_beside_its_field_and_the_rest_is_kept(
    tab: Screen, desk: AppService, act: MakeAct
):
    wrong = PRICED | {"add_output_price": "0,6", "add_variable": "sk-1"}
    form = acted(tab, act("save", wrong))
    assert "Not added. Correct what is marked." in form
    field = form.partition('name="add_output_price"')[2].partition("</label>")[0]
    assert 'value="0,6"' in field
    assert 'aria-invalid="true"' in field
    assert "Expected an amount of US dollars, as in 0.15." in field
    key = form.partition('name="add_variable"')[2].partition("</label>")[0]
    assert "must end in _API_KEY" in key
    assert form.count("aria-invalid") == 2
    assert "far" not in desk.models.catalog()


def test_a_name_that_is_taken_is_reported_beside_it(tab: Screen, act: MakeAct):
    form = acted(tab, act("save", FOLDER | {"add_name": "biased"}))
    name = form.partition('name="add_name"')[2].partition("</label>")[0]
    assert "There is a model &#39;biased&#39; already." in name


@pytest.mark.parametrize(("price", "shown"), [("", False), ("0.15", True)])
def test_what_is_filled_in_is_not_folded_away(
    tab: Screen, act: MakeAct, *, price: str, shown: bool
):
    tab.act(
        act(
            "save",
            PRICED
            | {"add_input_price": price, "add_output_price": ""}
            | {"add_max_length": "", "add_timeout_s": ""},
        )
    )
    form = tab.render({"edit": "far"})
    assert ("<details" in form, "<details open>" in form) == (True, shown)


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


def test_who_may_not_has_no_form_and_is_refused(tab: Screen, desk: AppService, act: MakeAct):
    desk.models.add(models_service.NewModelForm("late", LATE))
    desk.settings.edit_models = False
    told = "added and removed by the administrator"
    assert 'data-do="ask"' not in page(tab)
    assert "edit=late" not in page(tab)
    for address in ({"add": "folder"}, {"edit": "late"}):
        form = tab.render(address)
        assert told in form
        assert "add_path" not in form
    assert told in acted(tab, act("save", FOLDER | {"add_name": "again"}))
    assert told in acted(tab, act("save", {**FOLDER, "edit": "late"}))
    shown = acted(tab, act("remove", model="late"))
    assert "administrator" in shown
    assert list(desk.models.added()) == ["late"]


def test_an_added_model_whose_name_was_taken_since_is_reported_and_can_go(
    tab: Screen, desk: AppService, act: MakeAct
):
    additions_path(desk.settings.database).write_text('[biased]\nbackend = "scripted"\n')
    told = page(tab)
    assert "its own counts: biased" in told
    assert "Remove the added biased" in told
    assert "added here" not in row(tab, "biased")
    desk.settings.edit_models = False
    assert "Remove the added" not in page(tab)
    desk.settings.edit_models = True
    shown = acted(tab, act("remove", model="biased"))
    assert "its own counts" not in shown
    assert "<h3>biased</h3>" in shown


# Changing, and keys

KEYED: Form = PRICED | {"add_key": "sk-secret-one"}


def changed(**fields: str) -> Form:
    """What the form of the changed model sends: no key unless one is typed."""
    return {**PRICED, "edit": "far", "add_input_price": "0.15", **fields}


def test_a_key_is_kept_and_never_comes_back_to_a_page(tab: Screen, desk: AppService, act: MakeAct):
    pages = [acted(tab, act("save", KEYED | {"add_max_length": "x"}))]  # refused: shown again
    pages.append(acted(tab, act("save", KEYED)))
    assert read_endpoint(desk.models.catalog()["far"]).key == "sk-secret-one"
    assert "A key is kept for it" in row_of(pages[-1], "far")
    pages += [tab.render({"edit": "far"}), acted(tab, act("set", KEYED, name="add_place"))]
    assert "a key is kept; fill in to replace it" in pages[2]
    assert all("secret" not in each for each in pages)


def test_the_form_of_a_change_holds_what_the_catalog_says(tab: Screen, act: MakeAct):
    tab.act(act("save", KEYED | {"add_chat": "yes"}))
    form = tab.render({"edit": "far"})
    assert "Edit far" in form
    assert 'data-address="edit=far"' in form
    for told in ('value="gpt"', 'value="http://127.0.0.1:9/v1"', 'value="0.15"', 'value="8192"'):
        assert told in form
    assert '<option value="yes" selected>' in form
    assert "add_name" not in form


def test_a_model_is_changed_and_keeps_its_key(tab: Screen, desk: AppService, act: MakeAct):
    tab.act(act("save", KEYED))
    shown = acted(tab, act("save", changed(add_path="gpt-2")))
    assert "far is changed." in shown
    entry = desk.models.catalog()["far"]
    assert entry.path == "gpt-2"
    assert read_endpoint(entry).key == "sk-secret-one"


def test_a_changed_address_needs_the_key_again_beside_its_field(
    tab: Screen, desk: AppService, act: MakeAct
):
    tab.act(act("save", KEYED))
    moved = changed(add_address="http://127.0.0.1:8/v1")
    form = acted(tab, act("save", moved))
    key = form.partition('name="add_key"')[2].partition("</label>")[0]
    assert "The key was entered for another address." in key
    tab.act(act("save", moved | {"add_key": "sk-secret-two"}))
    assert read_endpoint(desk.models.catalog()["far"]).key == "sk-secret-two"
    tab.act(act("save", moved | {"add_drop_key": "yes"}))
    assert read_endpoint(desk.models.catalog()["far"]).key == ""


def test_an_endpoint_without_a_name_is_called_as_its_server_calls_it(
    tab: Screen, desk: AppService, act: MakeAct
):
    tab.act(act("save", PRICED | {"add_name": "", "add_path": "org/gpt-9"}))
    assert desk.models.catalog()["gpt-9"].path == "org/gpt-9"


def test_what_was_not_added_here_has_no_form(tab: Screen, act: MakeAct):
    assert "was not added on this page" in tab.render({"edit": "biased"})
    told = acted(tab, act("save", FOLDER | {"edit": "biased"}))
    assert "was not added on this page" in told


# One state


def test_what_a_worker_waits_for_is_out_of_reach_everywhere(
    tab: Screen, desk: AppService, moody: Moody, form_for: Callable[..., Form]
):
    assert not moody.problem_now
    assert "Answers" in settled(tab)
    start_run(desk, form_to_spec(form_for(models=["gpt"], modes=["generation"])))
    run = queue.claim(desk.database, "worker-1")
    assert run
    (cell,) = read_cells(desk.database, run.id)
    set_wait(desk.database, run.lease, cell.id, ModelWait("it is full", 1.0, 2.0))
    told = row(tab, "gpt")
    assert "Out of reach" in told
    assert "it is full" in told
    assert "Answers" not in told
    assert "1 out of reach" in page(tab)
    (state,) = [each for each in desk.models.states() if each.entry.name == "gpt"]
    assert state.is_endpoint_down
    clear_wait(desk.database, run.lease, cell.id)
    assert "Answers" in row(tab, "gpt")


@pytest.mark.parametrize("problem", [None, AWAY])
def test_a_row_has_one_state_and_no_tick_beside_out_of_reach(
    tab: Screen, desk: AppService, moody: Moody, problem: Exception | None
):
    moody.problem_now = problem
    settled(tab)
    desk.models.queue_test("gpt", "local")
    trial = claim_model_test(desk.database, "w")
    assert trial
    good = AbilityTest("generate", "question_answer", answer="Rome", tokens=1, requests=1)
    finish_model_test(desk.database, replace(trial, load_s=0.1, ability_tests=(good,)))
    told = row(tab, "gpt")
    assert ("Rome" in told, 'class="st ok"' in told) == ((problem is None,) * 2)
    assert told.partition("</summary>")[0].count('class="st ') == 1


def test_where_nothing_can_be_changed_nothing_is_offered(tab: Screen, desk: AppService):
    desk.settings.read_only = True
    assert "<button" not in row(tab, "biased")
    assert "Add a model" not in page(tab)
    assert "This server" not in page(tab)


# Elsewhere


def test_who_may_add_models_finds_the_way_to_the_form(tab: Screen, desk: AppService):
    way = 'href="models?add=endpoint"'
    assert way in page(tab)
    desk.settings.edit_models = False
    assert way not in page(tab)


def test_of_a_path_the_end_is_shown(tab: Screen, tmp_path: Path, desk: AppService):
    write(desk, f'\n[far]\nbackend = "transformers"\npath = "{tmp_path}/x"\n')
    assert f"{tmp_path}" not in row(tab, "far")
    assert f"…/{tmp_path.name}/x" in row(tab, "far")


def test_an_address_that_cannot_be_used_alone_says_why(
    tab: Screen, desk: AppService, monkeypatch: pytest.MonkeyPatch
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
    told = row(tab, "gpt")
    assert '<span class="mono">http://a/v1</span>' in told
    assert '<span class="warn">http://b/v1 cannot be reached</span>' in told
    assert "Test this model" in told


def test_an_endpoint_that_did_not_answer_its_test_is_not_shown_as_answering(
    tab: Screen, desk: AppService, monkeypatch: pytest.MonkeyPatch
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
    assert "Answers" in row(tab, "gpt")
    desk.models.queue_test("gpt", "local")
    trial = claim_model_test(desk.database, "w")
    assert trial
    finish_model_test(desk.database, replace(trial, error="Nobody answers."))
    assert "Did not answer the last test" in row(tab, "gpt")
    assert "Answers" not in row(tab, "gpt")


def test_what_is_added_to_requests_is_typed_as_json_and_shown_again(
    tab: Screen, desk: AppService, act: MakeAct
):
    extras = {"add_extra_body": '{"a": {"b": false}}', "add_key_header": "api-key"}
    wrong = PRICED | extras | {"add_query": "api-version"}
    assert "This is no JSON object" in acted(tab, act("save", wrong))
    tab.act(act("save", PRICED | extras | {"add_query": '{"api-version": "1"}'}))
    options = desk.models.catalog()["far"].options
    assert (options["extra_body"], options["query"]) == ({"a": {"b": False}}, {"api-version": "1"})
    form = tab.render({"edit": "far"})
    assert "{&quot;a&quot;: {&quot;b&quot;: false}}" in form
    assert "{&quot;api-version&quot;: &quot;1&quot;}" in form
    assert 'value="api-key"' in form
