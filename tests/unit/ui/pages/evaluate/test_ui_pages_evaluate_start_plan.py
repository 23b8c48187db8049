import time
from collections.abc import Callable

import pytest
from endpoint_server_examples import ToyServer
from press import Press
from ui_evaluate_screen import Screen
from ui_examples import MODELS

from evalui.app.service import AppService
from evalui.messages import messages
from evalui.report.compile import markdown
from evalui.runs.estimate import Estimate, TimeRange
from evalui.runs.fair_queue.limits import UserLimits
from evalui.runs.fair_queue.place import QueueAhead
from evalui.runs.fair_queue.spending import Spending, add_spending
from evalui.runs.worker.worker import Worker
from evalui.types import Language
from evalui.ui.components.form import Form, field_values
from evalui.ui.pages.evaluate.spec import form_to_spec
from evalui.ui.pages.evaluate.start_card import cost_rows

GPU_EN = "Your GPU time is used up until Monday. The run waits; nothing is lost."
GPU_ZH = "本周 GPU 时间已用完，周一恢复。任务会等待，不会丢失。"


def limit(desk: AppService, limits: UserLimits) -> None:
    for name in UserLimits.__slots__:
        setattr(desk.settings, f"limit_{name}", getattr(limits, name))


def test_a_run_that_would_wait_is_announced_and_can_start(
    desk: AppService, form_for: Callable[..., Form]
):
    form = form_for()
    run_id = desk.start(form_to_spec(form))
    limit(desk, UserLimits(gpu_hours_week=1))
    with desk.database.writing() as connection:
        add_spending(connection, run_id, Spending(device_s=3600.0), time.time())
    for language, sentence in (("en", GPU_EN), ("zh", GPU_ZH)):
        page = Screen(desk, language).render(form)  # type: ignore[arg-type]
        assert sentence in page
        start = page.partition('data-do="start"')[2].partition(">")[0]
        assert "disabled" not in start


def test_a_limit_that_is_reached_is_stated_before_the_start(
    desk: AppService, form_for: Callable[..., Form]
):
    form = form_for()
    desk.start(form_to_spec(form))
    limit(desk, UserLimits(queued=1))
    tab = Screen(desk, "en")
    page = tab.render(form)
    assert "1 of your runs wait already" in page
    before, _, after = page.partition('data-do="start"')
    assert "disabled" in before.rpartition("<")[2] + after.partition(">")[0]
    # A click that came first is refused with the same sentence.
    assert "1 of your runs wait already" in (tab.act(Press("start", {}, form)) or "")


@pytest.mark.parametrize(
    ("span", "english", "chinese"),
    [
        (TimeRange(12.0, 40.0, "measured"), "12 s – 40 s, measured", "12 秒至 40 秒，实测"),
        (TimeRange(6.0, 600.0, "guessed"), "6 s – 10 min, guessed", "6 秒至 10 分钟，推测"),
        (TimeRange(0.1, 0.4, "measured"), "about 1 s, measured", "约 1 秒，实测"),
        (None, "not yet known", "尚不清楚"),
    ],
    ids=["measured", "guessed", "at once", "unknown"],
)
def test_the_time_is_a_range_and_says_where_it_comes_from(
    span: TimeRange | None, english: str, chinese: str
):
    languages: tuple[tuple[Language, str], ...] = (("en", english), ("zh", chinese))
    for language, words in languages:
        t = messages(language)
        rows = dict(cost_rows(t, Estimate(1, 1, 0, None, range=span), QueueAhead(0, 0.0, ""), ()))
        assert rows[t("cost.time")] == words


def test_replies_of_a_server_that_has_moved_are_offered_and_used_if_somebody_says_so(
    desk: AppService, form_for: Callable[..., Form]
):
    form = form_for(models=["moved"], modes=["generation"], kinds=["multiple_choice"])
    with ToyServer() as before, ToyServer() as after:
        _serve(desk, before)
        first = desk.start(form_to_spec(form))
        Worker(desk.database, desk.catalog).run_once()
        _serve(desk, after)
        page = Screen(desk, "en")
        assert "Already answered" not in page.render(form)
        ((words, value),) = page.state[page.page.fields.component("replies_of")]["choices"]
        assert f"are kept from run {first} of" in words
        chosen = form | {"replies_of": [value]}
        assert "Already answered" in page.render(chosen)
        second = desk.start(form_to_spec(chosen))
        Worker(desk.database, desk.catalog).run_once()
        text = markdown(desk.report(second, "en"), "en")
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
