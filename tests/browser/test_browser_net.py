"""Views in both languages in a browser, as recorded: their words, figures, fields and charts' data.

What every view of a run's results says is compared by tests/flow/test_net_runs.py; here are the
pages around it, and of results one of each kind, for what only a browser shows.

The goldens stand under tests/golden/net/views; SOURCES.md there tells how they are recorded anew.
"""

import re
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from browser_examples import unfold_baselines, upload_sample
from browser_servers import ROOT, admitted
from browser_views import COUNT_REQUESTS, GOLDEN, check, complete, differences
from open_browser_examples import (
    CONTESTANTS,
    Hall,
    answer,
    contest,
    look_at_pair,
    open_hall,
    question,
)
from playwright.sync_api import expect
from steady import normalised

SAMPLES = ROOT / "assets" / "samples"
LANGUAGES = ("en", "zh")
SIZE = {"width": 1280, "height": 900}
VOTER = "ann"
MODELS = f"""
[steady]
backend = "scripted"
notes = "Leans to A."
options = {{ rule = "position-biased" }}

[wordy]
backend = "scripted"
options = {{ rule = "verbose", role = "answers" }}

[always-A]
backend = "scripted"
baseline = true
options = {{ rule = "always-A" }}

[restless]
backend = "scripted"
baseline = true
options = {{ rule = "noisy" }}

[reference-judge]
backend = "scripted"
baseline = true
options = {{ rule = "reference-judge", role = "judge" }}

[first-biased-judge]
backend = "scripted"
baseline = true
options = {{ rule = "first-biased-judge", role = "judge" }}

[demo-late]
backend = "transformers"
path = "{ROOT / "assets" / "models" / "demo-late"}"
notes = "A tiny model."
"""


@dataclass(frozen=True, slots=True)
class View:
    """A page by its address, and what is done there before it is read.

    `{choice}`, `{other}`, `{open}` and `{voted}` are runs.
    """

    name: str
    address: str = ""
    act: Callable[[Any], None] | None = field(default=None, repr=False)


def files(*chosen: Path | dict[str, Any], place: int = 0) -> Callable[[Any], None]:
    """Hand files, or their names and contents, to the page's drop area number `place`."""

    def act(tab: Any) -> None:
        complete(tab)
        if place:
            tab.locator("#given > button").click()
        tab.locator(".drop input[type=file]:visible").nth(place).set_input_files(list(chosen))
        complete(tab)

    return act


def in_turn(*acts: Callable[[Any], None]) -> Callable[[Any], None]:
    """Several acts as one."""

    def act(tab: Any) -> None:
        for each in acts:
            each(tab)

    return act


def unfold(tab: Any) -> None:
    """Show what each model can do, which its row folds away."""
    complete(tab)
    tab.evaluate("document.querySelectorAll('main details').forEach(each => (each.open = true))")
    complete(tab)


def unfold_rare(tab: Any) -> None:
    """Show the fields that few models need."""
    complete(tab)
    tab.locator("main button.label-wrap:visible").click()
    complete(tab)


def unfold_sections(tab: Any) -> None:
    """Show what each section of a result holds."""
    complete(tab)
    for section in tab.locator("main button.label-wrap:visible").all():
        section.click()
    complete(tab)


def weigh(tab: Any) -> None:
    """Wait until the sizes of files are known, which come after the files."""
    complete(tab)
    tab.locator(".files .meta", has_text=re.compile("^(about|约)")).first.wait_for()
    complete(tab)


def choose_second(tab: Any) -> None:
    """Choose the second entry of the first visible list, here always of models and modes."""
    complete(tab)
    tab.locator("main [role=combobox]:visible, main [role=listbox]:visible").first.click()
    tab.get_by_role("option").nth(1).click()
    complete(tab)


# Two of the 40 questions are answered; one answer belongs to none, and one line is no JSON.
ANSWERS = {
    "name": "careful.jsonl",
    "mimeType": "application/jsonl",
    "buffer": """{"index": "cn-1", "answer": "北京"}
{"index": "en-1", "answer": "Paris"}
{"index": "cn-99", "answer": "罗马"}
no JSON at all
""".encode(),
}
OPEN_FILE = SAMPLES / "open" / "arena-demo.jsonl"
VIEWS = (
    View("evaluate-empty"),
    View("evaluate-choice", act=files(*sorted((SAMPLES / "demo").glob("*_en_*.csv")))),
    View("evaluate-faulty", act=files(SAMPLES / "faulty.csv")),
    View("evaluate-open", act=files(OPEN_FILE)),
    View("evaluate-answers", act=in_turn(files(OPEN_FILE), files(ANSWERS, place=1))),
    View("evaluate-again", "again={choice}&tab=evaluate"),
    View("runs", "tab=runs"),
    View("runs-choice", "tab=runs&run={choice}"),
    View("runs-open", "tab=runs&run={open}"),
    View("results-none", "tab=results"),
    View("results-unknown", "run=unknown&tab=results"),
    View("choice-overview", "run={choice}&sub=overview"),
    View("choice-bias", "run={choice}&sub=bias"),
    View("choice-bias-second", "run={choice}&sub=bias", act=choose_second),
    View("choice-samples", "run={choice}&sub=samples&q=arithmetic_en/14"),
    View("choice-report", "run={choice}&sub=report", act=weigh),
    View("open-overview", "run={open}&sub=overview"),
    View("open-duels", "run={open}&sub=duels"),
    View("open-report", "run={open}&sub=report", act=weigh),
    View("arena-none", "tab=arena"),
    View("arena-overall-judge", "run={open}&tab=arena&arena=1"),
    View("arena-duels", "run={open}&tab=arena&sub=duels&duel=squares/en-7|numbat|wombat"),
    View("annotate-none", "tab=annotate"),
    View("annotate-unknown", "run=unknown&tab=annotate"),
    View("annotate-pair", "run={open}&tab=annotate"),
    View("annotate-result", "run={voted}&tab=annotate", act=unfold_sections),
    View("compare-run", "run={choice}&tab=compare"),
    View("compare-runs", "tab=compare&cells=1,5&q=arithmetic_en/14"),
    View("compare-none", "tab=compare&cells=999999"),
    View("models", "tab=models", act=unfold),
    View("models-hub", "tab=models&add=hub"),
    View("models-endpoint", "tab=models&add=endpoint", act=unfold_rare),
)


@dataclass(frozen=True, slots=True)
class Net:
    """A tab per language of a server whose runs are all done; `runs` are their ids by name."""

    tabs: dict[str, Any]
    runs: dict[str, str]
    errors: list[str]

    @property
    def ids(self) -> dict[str, str]:
        """The ids of runs with what stands for them in the goldens."""
        return {run_id: f"<{name} run>" for name, run_id in self.runs.items()}

    def enter(self, language: str, address: str) -> Any:
        """Open a page."""
        tab = self.tabs[language]
        tab.goto(f"/{language}/?{address.format_map(self.runs)}")
        return tab


@pytest.fixture(scope="module")
def net(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Net]:
    """A server of its own: other tests leave runs on theirs, and lists of runs are views too."""
    errors: list[str] = []
    with open_hall(tmp_path_factory.mktemp("net"), models=MODELS) as hall:
        tabs = {language: _tab(chromium, hall.address, errors) for language in LANGUAGES}
        runs = {
            "choice": _choose(tabs["en"], "steady", "always-A"),
            "other": _choose(tabs["en"], "restless"),
        }
        with pytest.MonkeyPatch.context() as patch:
            # In what order people meet pairs, and on which side, is drawn by the id of the run.
            patch.setattr(secrets, "token_urlsafe", lambda _: "net-open-1")
            runs["open"] = contest(hall)
            patch.setattr(secrets, "token_urlsafe", lambda _: "net-voted2")
            runs["voted"] = _short(hall)
        assert (runs["open"], runs["voted"]) == ("net-open-1", "net-voted2")
        net = Net(tabs, runs, errors)
        _vote(net)
        yield net
        for tab in tabs.values():
            tab.context.close()
    assert errors == []


def _tab(chromium: Any, address: str, errors: list[str]) -> Any:
    context = admitted(chromium, address, viewport=SIZE)
    context.add_init_script(COUNT_REQUESTS)
    tab = context.new_page()
    tab.set_default_timeout(30_000)
    tab.on("pageerror", lambda error: errors.append(str(error)))
    return tab


def _choose(tab: Any, *models: str) -> str:
    """A finished run of the sample."""
    tab.goto("/en/")
    upload_sample(tab)
    unfold_baselines(tab)
    for name in ("steady", "wordy", "demo-late", "always-A", "restless"):
        tab.get_by_label(name, exact=True).set_checked(name in models)
    complete(tab)
    tab.get_by_role("button", name="Start evaluation").click()
    tab.wait_for_url("**run=**", wait_until="commit")
    tab.get_by_role("link", name="Read the results").click(timeout=60_000)
    tab.wait_for_url("**/results?run=**")
    return tab.url.partition("run=")[2].partition("&")[0]


def _short(hall: Hall) -> str:
    """Three questions and two contestants, so that all pairs can be voted on."""
    numbers = (0, 1, 2)
    samples = [question(number) for number in numbers]
    written = {
        name: {
            sample.id: (answer(name, number),)
            for sample, number in zip(samples, numbers, strict=True)
        }
        for name in CONTESTANTS[:2]
    }
    return hall.wait(hall.start("short", samples, written))


def _vote(net: Net) -> None:
    """Ann votes on every pair of the short run and is told the names, in both browsers."""
    for language in LANGUAGES:
        tab = net.enter(language, "run={voted}&tab=annotate")
        complete(tab)
        name = tab.get_by_role("textbox")
        name.fill(VOTER)
        name.press("Enter")
        complete(tab)
        if language == LANGUAGES[0]:
            tab.evaluate("document.activeElement.blur()")
            for number, key in enumerate("123", start=1):
                complete(tab)
                look_at_pair(tab)
                tab.keyboard.press(key)
                expect(tab.get_by_text(f"{number} done", exact=True).first).to_be_visible()
            complete(tab)
            tab.get_by_role("button", name="Finish and show names").click()  # all pairs are done
            result = tab.get_by_role("heading", name=re.compile("^You (preferred|had)"))
            expect(result).to_be_visible()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_a_view_is_as_it_was_recorded(net: Net, language: str, view: View):
    tab = net.enter(language, view.address)
    if view.act:
        view.act(tab)
    check(tab, f"{language}/{view.name}", net.ids)


def test_every_golden_belongs_to_a_view():
    known = {f"{language}/{view.name}" for language in LANGUAGES for view in VIEWS}
    found = {str(path.relative_to(GOLDEN).with_suffix("")) for path in GOLDEN.glob("*/*.*")}
    assert found == known


def test_what_changes_from_run_to_run_is_normalised_and_figures_stay():
    told = "finished today 09:42, about 43 s; 149 MB; steady 63.0 %  (57-69)\n\nn k3f"
    assert normalised(told, {"k3f": "<run>"}) == (
        "finished <moment>, about <duration>; <size>; steady 63.0 % (57-69)\nn <run>"
    )
    assert (
        normalised("今天 09:42，约 2 分钟，每秒 1,234 条", {})
        == "<moment>，约 <duration>，每秒 <speed> 条"
    )


def test_a_figure_that_moved_is_found_and_the_last_digits_are_not_compared():
    recorded = [{"x": [1, 2.5], "name": "steady"}]
    assert differences(recorded, [{"x": [1, 2.5 * (1 + 1e-12)], "name": "steady"}]) == []
    assert differences(recorded, [{"x": [1, 2.5 + 1e-6], "name": "steady"}]) != []
    assert differences(recorded, [{"x": [1], "name": "steady"}]) != []
    assert differences(recorded, [{"x": [1, 2.5], "name": "Steady"}]) != []
