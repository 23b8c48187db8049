import time
from collections.abc import Callable

from endpoint_server_examples import ToyServer
from press import Press
from ui_evaluate_screen import Screen
from ui_examples import MODELS

from evalui.app.evaluations import start_run
from evalui.app.results import run_report
from evalui.app.service import AppService
from evalui.report.compile import markdown
from evalui.runs.fair_queue.limits import Spending, UserLimits, add_spending
from evalui.runs.worker.worker import Worker
from evalui.ui.components.form import Form, field_values
from evalui.ui.pages.evaluate.spec import form_to_spec

SPENT_EN = "Your tokens for today are used up. The run goes on after midnight UTC; nothing is lost."
SPENT_ZH = "今天的词元额度已用完。任务在 UTC 零点后继续，不会丢失。"


def limit(desk: AppService, limits: UserLimits) -> None:
    for name in UserLimits.__slots__:
        setattr(desk.settings, f"limit_{name}", getattr(limits, name))


def test_a_run_that_would_wait_is_announced_and_can_start(
    desk: AppService, form_for: Callable[..., Form]
):
    form = form_for()
    run_id = start_run(desk, form_to_spec(form))
    limit(desk, UserLimits(tokens_day=1))
    with desk.database.writing() as connection:
        add_spending(connection, run_id, Spending(tokens=1), time.time())
    for language, sentence in (("en", SPENT_EN), ("zh", SPENT_ZH)):
        tab = Screen(desk, language)  # type: ignore[arg-type]
        assert sentence in tab.render(form)
        assert tab.may_start


def test_a_limit_that_is_reached_is_stated_before_the_start(
    desk: AppService, form_for: Callable[..., Form]
):
    form = form_for()
    start_run(desk, form_to_spec(form))
    limit(desk, UserLimits(queued=1))
    tab = Screen(desk, "en")
    page = tab.render(form)
    assert "1 of your runs are already waiting" in page
    assert not tab.may_start
    # A click that came first is refused with the same sentence.
    assert "1 of your runs are already waiting" in (tab.act(Press("start", {}, form)) or "")


def test_replies_of_a_server_that_has_moved_are_offered_and_used_if_somebody_says_so(
    desk: AppService, form_for: Callable[..., Form]
):
    form = form_for(models=["moved"], modes=["generation"], kinds=["multiple_choice"])
    with ToyServer() as before, ToyServer() as after:
        _serve(desk, before)
        first = start_run(desk, form_to_spec(form))
        Worker(desk.database, desk.models.catalog).run_once()
        _serve(desk, after)
        page = Screen(desk, "en")
        shown = page.render(form)
        assert "Already answered" not in shown
        assert f"are kept from run {first} of" in shown
        ((_, value),) = page.field(page.t("kept.title")).choices
        chosen = form | {"replies_of": [value]}
        assert "Already answered" in page.render(chosen)
        second = start_run(desk, form_to_spec(chosen))
        Worker(desk.database, desk.models.catalog).run_once()
        text = markdown(run_report(desk, second, "en"), "en")
        assert "0 replies were made in this run." in text
        assert f"kept from run {first} of" in text.replace("\\", "")
        # Who repeats the run finds it chosen, and other models take it away.
        page.open({"again": second})
        assert field_values(page.form(), "replies_of") == (value,)
        page.act(Press("set", {}, form | {"models": ["biased"], "replies_of": [value]}))
        assert field_values(page.form(), "replies_of") == ()


def _serve(desk: AppService, server: ToyServer) -> None:
    own = '[moved]\nbackend = "openai"\npath = "toy"\nchat = true\n'
    own += f'[moved.options]\nbase_url = "{server.url}"\napi = "chat"\n'
    desk.settings.models.write_text(MODELS + own, encoding="utf-8")
