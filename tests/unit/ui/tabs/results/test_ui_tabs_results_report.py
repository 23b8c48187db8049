"""The Report view: files with their sizes, and what report.html shows."""

from collections.abc import Callable

from evalui.messages import messages
from evalui.report.export.formats import FORMATS
from evalui.ui.components.fragment import Action
from evalui.ui.services.service import AppService
from evalui.ui.tabs.results import ResultsTab


def test_each_format_has_its_link_and_the_report_is_a_preview_at_its_own_address(
    desk: AppService, finished: Callable[..., str]
):
    run_id = finished(name="Midterm")
    page = ResultsTab(desk, messages("en")).render({"run": run_id, "sub": "report"})
    for extension in FORMATS:
        assert f'href="../export/{run_id}.{extension}?lang=en"' in page
    assert "Every figure" not in page
    assert f'href="?run={run_id}&amp;tab=results&amp;sub=report&amp;preview=1"' in page
    assert "data-sizes" in page
    opened = {"run": run_id, "sub": "report", "preview": "1"}
    page = ResultsTab(desk, messages("en")).render(opened)
    assert page.index("report.html") < page.index("<h1>Midterm</h1>") < page.index("Every figure")
    assert "Close the preview" in page
    assert " kB<" not in page


def test_the_sizes_come_after_the_page(
    desk: AppService, finished: Callable[..., str], act: Callable[..., Action]
):
    run_id = finished()
    tab = ResultsTab(desk, messages("en"))
    opened = {"run": run_id, "sub": "report", "preview": "1"}
    action = act("poll", opened, sizes="1", revision="0")
    page = tab.act(action)
    assert page is not None
    assert "data-sizes" not in page
    assert "Every figure" in page
    written = desk.export_size(run_id, "md", "en")
    assert written == len(desk.export(run_id, "md", "en")[1])
    assert page.count(" kB</span>") + page.count(" B</span>") == len(FORMATS) - 1
