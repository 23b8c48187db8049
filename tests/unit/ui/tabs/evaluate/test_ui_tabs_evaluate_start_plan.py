import time
from collections.abc import Callable

from evalui.messages import messages
from evalui.runs.fair_queue.limits import UserLimits
from evalui.runs.fair_queue.spending import Spending, add_spending
from evalui.ui.components.form import Form
from evalui.ui.components.fragment import Action
from evalui.ui.services.run_form import read_run_form
from evalui.ui.services.service import AppService
from evalui.ui.tabs.evaluate import EvaluateTab

GPU_EN = "Your GPU time is used up until Monday. The run waits; nothing is lost."
GPU_ZH = "本周 GPU 时间已用完，周一恢复。任务会等待，不会丢失。"


def limit(desk: AppService, limits: UserLimits) -> None:
    for name in UserLimits.__slots__:
        setattr(desk.settings, f"limit_{name}", getattr(limits, name))


def test_a_run_that_would_wait_is_announced_and_can_start(
    desk: AppService, form_for: Callable[..., Form]
):
    form = form_for()
    run_id = desk.start(read_run_form(form))
    limit(desk, UserLimits(gpu_hours_week=1))
    with desk.database.writing() as connection:
        add_spending(connection, run_id, Spending(device_s=3600.0), time.time())
    for language, sentence in (("en", GPU_EN), ("zh", GPU_ZH)):
        page = EvaluateTab(desk, messages(language)).render(form)  # type: ignore[arg-type]
        assert sentence in page
        start = page.partition('data-do="start"')[2].partition(">")[0]
        assert "disabled" not in start


def test_a_limit_that_is_reached_is_stated_before_the_start(
    desk: AppService, form_for: Callable[..., Form]
):
    form = form_for()
    desk.start(read_run_form(form))
    limit(desk, UserLimits(queued=1))
    tab = EvaluateTab(desk, messages("en"))
    page = tab.render(form)
    assert "1 of your runs wait already" in page
    before, _, after = page.partition('data-do="start"')
    assert "disabled" in before.rpartition("<")[2] + after.partition(">")[0]
    # A click that came first is refused with the same sentence.
    assert "1 of your runs wait already" in (tab.act(Action("start", {}, form)) or "")
