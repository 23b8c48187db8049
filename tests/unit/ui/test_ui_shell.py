"""What an address shows, and what stands around a tab."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from ui_tab_examples import ExampleTab

from evalui.access import Person
from evalui.app import service
from evalui.app.service import AppService
from evalui.errors import EvaluiError, SpecError, UnknownRun
from evalui.messages import LANGUAGES
from evalui.report.analyses.base import Report
from evalui.report.html import Html
from evalui.runs.database import queue
from evalui.types import Language
from evalui.ui.components.form import Form
from evalui.ui.components.fragment import Action
from evalui.ui.current_person import acting_as
from evalui.ui.run_form import read_run_form
from evalui.ui.shell import TABS, AppShell, sections


@pytest.fixture
def shell(desk: AppService) -> AppShell:
    made = AppShell(desk, "en")
    made._tabs |= dict.fromkeys(TABS, ExampleTab())
    return made


def test_an_address_shows_its_tab_and_no_other(shell: AppShell):
    page = shell.page({"tab": "results", "cell": "3"})
    assert page.tab == "results"
    assert "cell 3" in (page.content or "")
    told = sections(page)
    assert told.count("<h1>") == 1
    assert told.count("<section") == len(TABS)
    assert told.count(" hidden>") == len(TABS) - 1


@pytest.mark.parametrize(
    ("form", "tab"),
    [
        ({"tab": "nonsense", "run": "gone"}, "results"),
        ({"run": "gone"}, "results"),
        ({"tab": "runs"}, "results"),
        ({"run": "gone", "tab": "runs"}, "results"),
    ],
)
def test_an_address_names_its_tab(shell: AppShell, form: dict[str, str], tab: str):
    assert shell.page(form).tab == tab  # pyright: ignore[reportArgumentType] # texts only


def test_a_run_that_goes_on_is_shown_by_its_progress(
    desk: AppService, form_for: Callable[..., Form]
):
    shell, run_id = AppShell(desk, "en"), desk.start(read_run_form(form_for()))
    assert shell.place({"run": run_id}) == "runs"
    assert shell.place({"run": run_id, "sub": "samples"}) == "results"
    assert shell.place({"run": run_id, "tab": "results"}) == "results"
    assert shell.place({"tab": "runs"}) == "runs"
    queue.cancel(desk.database, run_id)
    assert shell.place({"run": run_id}) == "results"


def test_a_finished_run_is_shown_by_its_results(shell: AppShell, finished: Callable[..., str]):
    assert shell.place({"run": finished()}) == "results"


@pytest.mark.parametrize(
    ("form", "page"),
    [
        ({"tab": "results"}, "results"),
        ({"run": "gone"}, "results"),
        ({"run": "gone", "tab": "results", "sub": "bias"}, "results"),
        ({"run": "gone", "tab": "results", "sub": "samples"}, "results"),
        ({"run": "gone", "sub": "duels"}, "results"),
        ({"run": "gone", "tab": "runs"}, "runs"),
        ({"tab": "models", "add": "hub"}, "models"),
        ({"tab": "compare", "cells": "1,2"}, "compare"),
        ({"tab": "compare", "run": "gone", "q": "quiz/1"}, "compare"),
        ({"tab": "arena", "board_language": "zh"}, "arena"),
        ({"tab": "arena", "run": "gone", "arena": "1"}, "results"),
        ({"tab": "arena", "run": "gone", "sub": "duels"}, "results"),
        ({}, "evaluate"),
    ],
)
def test_old_addresses_lead_to_the_pages_that_have_moved(
    shell: AppShell, form: dict[str, str], page: str
):
    assert shell.page_of({**form}) == page


def test_links_to_tabs_keep_the_run_where_it_matters(shell: AppShell):
    bar = shell.page({"run": "k3f", "tab": "results", "sub": "bias"}).bar
    assert 'href="arena" id="tab-arena-link"' in bar
    assert 'href="annotate?run=k3f"' in bar
    assert 'href="evaluate" id="tab-evaluate-link"' in bar
    assert 'href="results?run=k3f" id="tab-results-link"' in bar
    assert bar.count('aria-current="page"') == 1


def test_the_other_language_shows_the_same_address(shell: AppShell):
    bar = shell.page({"run": "k3f", "tab": "compare", "cells": ["1", "2"]}).bar
    assert 'href="../?lang=zh&amp;run=k3f&amp;tab=compare&amp;cells=1&amp;cells=2"' in bar
    bar = shell.page({"tab": "compare", "lang": "en"}).bar
    assert 'href="../?lang=zh&amp;tab=compare"' in bar


def test_runs_that_go_on_are_counted_beside_their_tab(
    shell: AppShell, form_for: Callable[..., object], desk: AppService
):
    from evalui.ui.run_form import read_run_form

    assert "data-live-count></i>" in shell.page({}).bar
    desk.start(read_run_form(form_for()))  # type: ignore[arg-type]
    assert "data-live-count>1</i>" in shell.page({}).bar
    assert 'data-live="1"' in shell.answer("results", Action("set", {}, {}))


class CountedTab(ExampleTab):
    """Notes what it rendered; raises `error` if there is one."""

    def __init__(self) -> None:
        self.rendered: list[Form] = []
        self.error: EvaluiError | None = None

    def render(self, form: Form) -> Html:
        self.rendered.append(form)
        if self.error:
            raise self.error
        return super().render(form)


def counted(desk: AppService, language: Language = "en") -> tuple[AppShell, CountedTab]:
    shell, tab = AppShell(desk, language), CountedTab()
    shell._tabs |= dict.fromkeys(TABS, tab)
    return shell, tab


def test_fifty_who_open_one_revision_have_it_rendered_once(
    desk: AppService, finished: Callable[..., str]
):
    form: Form = {"run": finished(), "tab": "results", "cells": ["1", "2"]}
    shell, shown = counted(desk)
    with ThreadPoolExecutor(50) as pool:
        pages = list(pool.map(shell.page, [form] * 50))
    assert {page.content for page in pages} == {ExampleTab().render(form)}
    assert shown.rendered == [form]
    shell.page(form | {"sub": "bias"})
    assert len(shown.rendered) == 2
    with desk.database.writing() as connection:
        queue.bump_revision(connection, str(form["run"]))
    for _ in range(3):
        shell.page(form)
    assert len(shown.rendered) == 3


def test_each_language_renders_its_own(desk: AppService, finished: Callable[..., str]):
    form: Form = {"run": finished(), "tab": "compare"}
    shells = [counted(desk, language) for language in LANGUAGES]
    for shell, _ in shells * 3:
        shell.page(form)
    assert [len(tab.rendered) for _, tab in shells] == [1, 1]


def test_two_hundred_watchers_of_twenty_people_share_no_list_of_runs(
    desk: AppService, finished: Callable[..., str]
):
    form: Form = {"run": finished(), "tab": "results"}
    mine, _ = counted(desk)
    mine.page(form)
    with acting_as(Person("someone else", "annotator")):
        assert "There is no run" in AppShell(desk, "en").page(form).content
    assert "cell" in mine.page(form).content


def test_people_who_may_do_the_same_share_what_is_rendered(
    desk: AppService, finished: Callable[..., str]
):
    run_id = finished()
    with desk.database.writing() as connection:
        connection.execute("INSERT INTO team VALUES ('team', 0), ('voters', 0)")
        connection.execute(
            "INSERT INTO team_right VALUES ('run', ?1, 'team', 'view'),"
            " ('run', ?1, 'voters', 'annotate')",
            (run_id,),
        )
    form: Form = {"run": run_id, "tab": "results"}
    shell, tab = counted(desk)
    for name in ("ann", "bob", "eve"):
        with acting_as(Person(name, "annotator", frozenset({"team"}))):
            shell.page(form)
    assert len(tab.rendered) == 1
    with acting_as(Person("ada", "annotator", frozenset({"voters"}))):
        shell.page(form)
    assert len(tab.rendered) == 2  # they may vote, too


def test_two_hundred_watchers_of_twenty_people_share_a_run(
    desk: AppService, finished: Callable[..., str]
):
    run_id = finished()
    with desk.database.writing() as connection:
        connection.execute("INSERT INTO team VALUES ('team', 0)")
        connection.execute("INSERT INTO team_right VALUES ('run', ?, 'team', 'view')", (run_id,))
    shell, shown = counted(desk)

    def look(number: int) -> None:
        with acting_as(Person(f"person-{number % 20}", "reader", frozenset({"team"}))):
            shell.page({"run": run_id, "tab": "results"})

    for revisions in (1, 2):
        with ThreadPoolExecutor(50) as pool:
            list(pool.map(look, range(200)))
        assert len(shown.rendered) == revisions
        with desk.database.writing() as connection:
            queue.bump_revision(connection, run_id)


def test_what_failed_is_rendered_again(desk: AppService, finished: Callable[..., str]):
    form: Form = {"run": finished(), "tab": "compare"}
    shell, tab = counted(desk)
    tab.error = SpecError("no-model")
    assert [shell.page(form).problem for _ in range(2)] == [tab.error] * 2
    tab.error = None
    assert "cell" in shell.page(form).content
    assert len(tab.rendered) == 3


def test_other_prices_are_another_page(desk: AppService, finished: Callable[..., str]):
    form: Form = {"run": finished(), "tab": "compare"}
    shell, tab = counted(desk)
    shell.page(form)
    models = desk.settings.models
    models.write_text(models.read_text("utf-8") + "\n# dearer\n", encoding="utf-8")
    shell.page(form)
    assert len(tab.rendered) == 2


def test_pages_of_one_moment_share_the_figures_of_a_run_that_goes_on(
    desk: AppService, finished: Callable[..., str], monkeypatch: pytest.MonkeyPatch
):
    compiled: list[str] = []
    real = service.compile_report

    def counting(name: str, *given: Any, **named: Any) -> Report:
        compiled.append(name)
        return real(name, *given, **named)

    monkeypatch.setattr(service, "compile_report", counting)
    run_id = finished()

    def look(moment: int | None) -> None:
        for language in LANGUAGES:
            for _ in range(3):
                with desk.runs.at(moment):
                    desk.report(run_id, language)
                with desk.database.writing() as connection:
                    connection.execute("UPDATE cell SET started = started + 1")
                    queue.bump_revision(connection, run_id)

    look(1)
    assert len(compiled) == 1
    look(2)
    assert len(compiled) == 2
    look(None)
    assert len(compiled) == 8


def test_what_a_user_can_change_is_told_in_place_of_the_tab(shell: AppShell):
    page = shell.page({"tab": "results", "cell": "nonsense"})
    assert isinstance(page.problem, SpecError)
    assert "no number" in (page.content or "")


def test_an_answer_names_the_action_it_is_for(shell: AppShell):
    told = shell.answer("results", Action("set", {"sequence": "7"}, {"cell": "2"}))
    assert "cell 2" in told
    assert 'data-answer="7" data-kind="page"' in told


def test_no_action_shows_the_tab_again(shell: AppShell):
    assert "cell 4" in shell.answer("results", Action("", {}, {"cell": "4"}))


def test_a_tab_that_stays_as_it_is_sends_nothing(shell: AppShell):
    told = shell.answer("results", Action("poll", {"sequence": "8"}, {}))
    same = 'data-answer="8" data-kind="same" data-live="0"'
    assert told == f'<div {same} data-title="Results · evalui"></div>'


def test_a_refused_action_is_answered_by_a_sentence(shell: AppShell):
    told = shell.answer("results", Action("set", {"sequence": "9"}, {"cell": "nonsense"}))
    assert 'data-kind="problem"' in told
    assert "no number" in told


def test_a_run_that_is_deleted_while_it_is_read_is_reported(
    shell: AppShell,
    desk: AppService,
    finished: Callable[..., str],
    act: Callable[..., Action],
    monkeypatch: pytest.MonkeyPatch,
):
    form = {"run": finished(), "tab": "compare"}

    def render(*_: object) -> None:
        raise KeyError(1)

    monkeypatch.setattr(shell.tab("compare"), "render", render)
    with pytest.raises(KeyError):  # while the run is there the mistake is ours
        shell.page(form)
    queue.delete(desk.database, form["run"])
    page = shell.page(form)
    assert isinstance(page.problem, UnknownRun)
    assert "There is no run" in page.content
    assert "There is no run" in shell.answer("compare", act("", form))
