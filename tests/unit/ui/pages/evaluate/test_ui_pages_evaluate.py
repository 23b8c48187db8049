"""From a file to a queued run, without a browser."""

from collections.abc import Callable
from urllib.parse import parse_qsl

import pytest
from drawn_page import DrawnPage
from press import Press
from ui_evaluate_screen import Screen
from ui_examples import FAULTY, GOOD, HOSTILE

from evalui.access import Person
from evalui.app.datasets import read_upload, store_upload, upload_parts
from evalui.app.run_view import RunView
from evalui.app.samples import EXAMPLES
from evalui.app.service import AppService
from evalui.datasets.model import Layout
from evalui.messages import messages
from evalui.runs.spec import read_spec
from evalui.store.runs import read_runs
from evalui.ui.components.form import Form, field_value
from evalui.ui.current_person import acting_as

MakeForm = Callable[..., Form]
MakeAct = Callable[..., Press]


@pytest.fixture
def tab(desk: AppService) -> Screen:
    return Screen(desk, "en")


def test_the_empty_page_offers_a_file_and_the_sample(tab: Screen):
    page = tab.render({})
    assert "Drop a file of questions here" in page
    assert 'data-do="sample"' in page


def test_an_upload_is_checked_and_choices_appear(tab: Screen, desk: AppService, act: MakeAct):
    upload = store_upload(desk, [("capitals.csv", GOOD.encode())])
    page = tab.act(act("uploaded", upload=upload))
    assert "4 of 4 rows ready" in page
    assert "No faults" in page
    assert tab.may_start


def test_a_second_upload_joins_the_first(
    tab: Screen, desk: AppService, act: MakeAct, form_for: MakeForm
):
    other = store_upload(desk, [("more.csv", GOOD.replace("Capital", "Main town").encode())])
    page = tab.act(act("uploaded", form_for(), upload=other))
    assert page.count('name="uploads"') == 2
    assert "<b>capitals</b>" in page
    assert "<b>more</b>" in page


def test_rules_that_need_the_question_are_not_offered_a_mode_that_hides_it(
    tab: Screen, form_for: MakeForm
):
    form = {**form_for(), "models": ["biased", "always-A"], "modes": ["choices_only"]}
    row = tab.render(form).partition('value="choices_only"')[2].partition("</label>")[0]
    assert "no model here" in row


def test_a_removed_file_is_gone(tab: Screen, act: MakeAct, form_for: MakeForm):
    form = form_for()
    page = tab.act(act("remove", form, upload=form["uploads"][0]))
    assert "Drop a file of questions here" in page


def test_faulty_rows_are_set_aside_and_stated(tab: Screen, act: MakeAct, form_for: MakeForm):
    page = tab.act(act("set", form_for(FAULTY)))
    assert "4 of 6 rows ready" in page
    assert "2 rows are set aside." in page
    assert "2 rows cannot be used" in page
    assert "<td>6</td>" in page
    assert "one of A, B, C, D" in page
    assert tab.may_start


def test_the_worst_two_findings_stand_in_the_line(tab: Screen, form_for: MakeForm):
    rows = "".join(f"{n},Capital of France?,Paris,Rome,Oslo,Bern,A\n" for n in range(7, 60))
    page = tab.render(form_for(FAULTY + rows))
    line = page.partition("<summary>")[2].partition("</summary>")[0]
    assert "2 rows are set aside. 53 questions are duplicates." in line
    assert "Always picking" not in line


def test_rows_with_options_of_the_same_text_stay_until_they_are_left_out(
    tab: Screen, act: MakeAct, form_for: MakeForm
):
    form = form_for(GOOD + "5,Capital of Spain?,Rome,Madrid,Madrid,Bern,B\n")
    page = tab.act(act("set", form))
    assert "5 of 5 rows ready" in page
    assert "by line: 6 (B = C). They count in accuracy (1 in all)" in page
    assert "Leave out 1 row with options of the same text" in page
    assert "1 row has options of the same text." in page
    preview = tab.act(act("questions", form, upload=form["uploads"][0], start="3"))
    assert 'B. Madrid<span class="warn"> = C</span>' in preview
    assert tab.may_start
    page = tab.act(act("set", form | {f"datasets.{form['uploads'][0]}.duplicate_options": "skip"}))
    assert "4 of 5 rows ready" in page
    assert "were left out as requested, 1 in all, by line: 6 (B = C)." in page
    assert "Leave out 1 row with options of the same text" in page


def test_commas_in_texts_are_accepted_by_a_click(tab: Screen, act: MakeAct, form_for: MakeForm):
    form = form_for(GOOD + "5,In Spain, which is the capital?,Rome,Madrid,Oslo,Bern,B\n")
    page = tab.act(act("set", form))
    assert "4 of 5 rows ready" in page
    assert "A comma before a space belongs to the text" in page
    assert "5 of 5 rows are read" in page
    page = tab.act(act("set", form | {f"datasets.{form['uploads'][0]}.commas_in_text": "yes"}))
    assert "5 of 5 rows ready" in page
    assert "A comma before a space belongs to the text" in page  # to be taken back


def test_a_chinese_page_translates_the_faults(desk: AppService, form_for: MakeForm):
    page = Screen(desk, "zh").render(form_for(FAULTY))
    assert "答案不是选项之一：“E”" in page
    assert "one of A, B, C, D" not in page


def test_chinese_findings_stand_in_the_line_without_blanks(desk: AppService, form_for: MakeForm):
    rows = "".join(f"{n},Capital of France?,Paris,Rome,Oslo,Bern,A\n" for n in range(7, 60))
    page = Screen(desk, "zh").render(form_for(FAULTY + rows))
    line = page.partition("<summary>")[2].partition("</summary>")[0]
    assert line.count("。") == 2
    assert "。 " not in line


def test_many_faults_are_shown_in_part_and_counted(tab: Screen, form_for: MakeForm):
    rows = "".join(f"x{n},Q{n}?,a,b,c,d,E\n" for n in range(60))
    page = tab.render(form_for(GOOD + rows))
    assert page.count("<td>“E”") + page.count(">“E”</span>") == 50
    assert "and 10 more faults" in page


def test_faults_that_are_only_counted_are_marked_as_such(tab: Screen, form_for: MakeForm):
    rows = "".join(f"x{n},,a,b,c,d,E\n" for n in range(1500))
    page = tab.render(form_for(GOOD + rows))
    assert "1,500 rows cannot be used" in page
    assert "1,500 rows are set aside." in page
    assert "and 2,950 more faults; the download has the first 1,000" in page


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"models": []}, "Choose a model."),
        ({"modes": []}, "Choose a mode."),
        ({"shots": "5"}, "worked examples"),
        ({"limit": "many"}, "is not a whole number"),
        ({"models": ["always-A"], "modes": ["cloze"]}, "None of these models"),
    ],
)
def test_what_cannot_work_says_why_and_does_not_start(
    tab: Screen, form_for: MakeForm, fields: Form, reason: str
):
    page = tab.render(form_for(**fields))
    assert reason in page
    assert not tab.may_start


def test_a_model_that_cannot_load_is_off_with_its_reason(tab: Screen, form_for: MakeForm):
    page = tab.render(form_for())
    card = page.partition('value="gone"')[2].partition("</label>")[0]
    assert "disabled" in card
    assert "nowhere" in card


def test_every_order_is_announced_with_its_count(tab: Screen, form_for: MakeForm):
    page = tab.render(form_for(pattern="all_possible", modes=["multiple_choice"]))
    assert "This asks 192 requests" in page  # 4 questions x 24 orders x 2 models


def test_the_questions_of_several_datasets_are_counted_together(
    tab: Screen, desk: AppService, form_for: MakeForm
):
    other = store_upload(desk, [("more.csv", GOOD.replace("Capital", "Main town").encode())])
    form = form_for()
    page = tab.render(form | {"uploads": [*form["uploads"], other]})
    assert "With 8 questions" in page  # 4 of each, whichever models and modes answer them


def test_start_queues_the_run_and_leads_to_it(
    tab: Screen, desk: AppService, act: MakeAct, form_for: MakeForm
):
    page = tab.act(act("start", form_for(name="Midterm")))
    (row,) = read_runs(desk.database)
    assert (row.name, row.state) == ("Midterm", "queued")
    assert f'href="runs?run={row.id}" data-go' in page


def test_a_run_can_be_repeated_from_its_form(
    tab: Screen, desk: AppService, act: MakeAct, form_for: MakeForm
):
    tab.act(act("start", form_for(name="Midterm", shots="0", pattern="origin")))
    page = tab.render({"again": read_runs(desk.database)[0].id})
    assert 'value="Midterm"' in page
    assert tab.field("Orders of the options").value == "origin"


@pytest.mark.parametrize("examples", [0, 2])
def test_a_repetition_with_examples_opens_with_them_where_the_files_have_some(
    tab: Screen, desk: AppService, act: MakeAct, form_for: MakeForm, examples: int
):
    head, *rows = GOOD.splitlines(keepends=True)
    files = [("capitals_val.csv", GOOD.encode())]
    if examples:
        dev = "".join(rows[:examples]).replace("Capital", "Main town")
        files.append(("capitals_dev.csv", (head + dev).encode()))
    tab.act(act("start", form_for() | {"uploads": [store_upload(desk, files)]}))
    run_id = read_runs(desk.database)[0].id
    places = RunView(desk, messages("en"), run_id).places_with_steps
    assert (places.repeat, places.sample) == (f"evaluate?again={run_id}", "evaluate")
    assert places.examples == (f"{places.repeat}&shots={examples}" if examples else "")
    if examples:
        tab.open(dict(parse_qsl(places.examples.partition("?")[2])))
        assert field_value(tab.form(), "shots") == "2"
    with acting_as(Person("eve", "admin")):
        assert RunView(desk, messages("en"), run_id).places_with_steps.repeat == ""


def test_a_file_that_is_no_table_is_reported_on_the_empty_page(
    tab: Screen, desk: AppService, act: MakeAct
):
    upload = store_upload(desk, [("photo.csv", bytes(range(256)) * 40)])
    page = tab.act(act("uploaded", upload=upload))
    assert "photo.csv" in page
    assert "Drop a file of questions here" in page


@pytest.mark.parametrize(
    ("file", "content", "told"),
    [
        ("bin.csv", b"\xff\xfa\x81" * 99, "bin.csv 的编码无法确定。"),
        ("photo.csv", bytes(range(256)) * 40, "photo.csv 的编码无法确定。"),
        ("empty.csv", b"", "empty.csv 是空文件。"),
        ("a.zip", b"PK", "a.zip 不是 ZIP 压缩包"),
        ("a.doc", b"x", "a.doc 的类型无法读取。应为 CSV"),
        ("a.csv", b"PK\x03\x04", "a.csv 是 ZIP 压缩包或 Excel 工作簿"),
        (
            "a_test.csv",
            b"id,question,A,B\n1,Q,a,b\n",
            "没有可计分的题目。a_test.csv 没有答案，未读入。",
        ),
    ],
)
def test_a_chinese_page_tells_in_chinese_why_a_file_is_refused(
    desk: AppService, act: MakeAct, file: str, content: bytes, told: str
):
    tab = Screen(desk, "zh")
    assert told in tab.act(act("uploaded", upload=store_upload(desk, [(file, content)])))


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"shots": "5"}, "capitals 的 dev 文件只有 0 个示例，不够 5 个。"),
        ({"limit": "many"}, "题数：“many” 不是整数。"),
        ({"template": "mine.9"}, "没有名为 &#39;mine.9&#39; 的选项。"),
        ({"template": "own", "template.question": ""}, "提示词模板缺少"),
        ({"models": ["always-A"]}, "always-A 不能用这种方式：它不给出文本的概率。"),
    ],
)
def test_a_chinese_page_tells_in_chinese_what_cannot_work(
    desk: AppService, form_for: MakeForm, fields: Form, told: str
):
    page = Screen(desk, "zh").render(form_for(**fields))
    assert told in page
    assert "没有文件夹 " in page  # the model that cannot be loaded


def test_an_upload_of_another_user_is_not_opened(tab: Screen, desk: AppService, act: MakeAct):
    upload = desk.uploads.store("bob", [("capitals.csv", GOOD.encode())])
    assert "no longer here" in tab.act(act("uploaded", upload=upload))


def test_nothing_in_a_file_becomes_markup(tab: Screen, form_for: MakeForm):
    cell = HOSTILE.replace('"', '""')
    hostile = f'{GOOD}"9{cell}","{cell}","{cell}",b,c,d,A\n10,"{cell}",a,b,c,d,"{cell}"\n'
    page = tab.render(form_for(hostile, file=f"{HOSTILE.replace('/', '')}.csv"))
    assert "onerror=" in page
    assert "<img" not in page
    assert "<script" not in page
    assert "<iframe" not in page


def chosen_models(page: str) -> list[str]:
    boxes = [part.partition(">")[0] for part in page.split('name="models"')[1:]]
    return [box.partition('value="')[2].partition('"')[0] for box in boxes if "checked" in box]


def test_the_models_of_an_address_are_chosen_until_the_form_has_some(
    tab: Screen, desk: AppService, act: MakeAct
):
    upload = store_upload(desk, [("capitals.csv", GOOD.encode())])
    query: Form = {"models": ["always-A", "no-such-model"]}
    page = tab.act(act("uploaded", query, upload=upload))
    assert chosen_models(page) == ["always-A"]
    assert "checked" in page.partition('name="modes" value="multiple_choice"')[2].partition(">")[0]
    page = Screen(desk).act(act("uploaded", upload=upload))
    assert chosen_models(page) == ["biased"]


def test_no_model_is_chosen_for_a_person_who_chose_none(
    tab: Screen, act: MakeAct, form_for: MakeForm
):
    page = tab.act(act("set", form_for(models=[])))
    assert chosen_models(page) == []


def test_an_address_states_its_models_on_the_empty_page(tab: Screen):
    page = tab.render({"models": ["always-A", "no-such-model"]})
    assert "Chosen: always-A." in page
    assert "Chosen:" not in tab.render({"models": "no-such-model"})


def test_an_address_with_a_broken_catalog_is_an_empty_page(tab: Screen, desk: AppService):
    desk.settings.models.write_text("[biased", encoding="utf-8")
    page = tab.render({"models": ["always-A"]})
    assert "Drop a file of questions here" in page
    assert "Chosen:" not in page


def test_the_files_stand_in_the_address_and_come_back_from_it(
    tab: Screen, desk: AppService, act: MakeAct
):
    uploads = [
        store_upload(desk, [(f"{name}.csv", GOOD.replace("Capital", name).encode())])
        for name in ("one", "two")
    ]
    for upload in uploads:
        tab.act(act("uploaded", upload=upload))
    assert tab.query == f"uploads={uploads[0]},{uploads[1]}"
    shown = {name: tab.form()[name] for name in ("uploads", "models", "modes")}
    tab.render({"uploads": tab.query.partition("uploads=")[2]})
    assert {name: tab.form()[name] for name in shown} == shown
    tab.act(act("remove", upload=uploads[0]))
    assert tab.query == f"uploads={uploads[1]}"


def test_the_sample_starts_at_once_and_leads_to_its_overview(
    tab: Screen, desk: AppService, act: MakeAct
):
    page = tab.act(act("sample"))
    (row,) = read_runs(desk.database)
    assert f'href="results?run={row.id}" data-go' in str(page)
    spec = read_spec(row.spec)
    assert spec.models == ["biased", "always-A"]  # no demo model in this catalog
    assert [(mode.mode, mode.pattern) for mode in spec.modes] == [("multiple_choice", "circular")]


def test_every_format_has_an_example_that_is_read(desk: AppService, tab: Screen):
    page = tab.render({})
    for name, content in EXAMPLES.items():
        assert f'href="../examples/{name}"' in page
        upload = store_upload(desk, [(name, content())])
        for part in upload_parts(desk, upload):
            loaded = read_upload(desk, part, Layout())
            assert (loaded.n_questions > 1, loaded.faults) == (True, ())


def test_a_reader_is_led_to_what_others_share_instead_of_to_an_upload(tab: Screen):
    with acting_as(Person("rita", "reader")):
        page = tab.render({})
    assert "Your role lets you look, not start or upload." in page
    assert 'href="runs"' in page
    assert 'type="file"' not in page
    assert 'data-do="sample"' not in page
    assert 'type="file"' in tab.render({})


def test_what_was_typed_stays_while_a_file_joins_and_goes_with_all_files(
    tab: Screen, desk: AppService, act: MakeAct, form_for: MakeForm
):
    other = store_upload(desk, [("more.csv", GOOD.replace("Capital", "Main town").encode())])
    typed = {"name": "Midterm", "template": "own", "template.question": "{{question}}\n?"}
    page = tab.act(act("uploaded", form_for(**typed), upload=other))
    assert 'value="Midterm"' in page
    assert {name: tab.form()[name] for name in typed} == typed
    page = tab.act(act("replaced", upload=store_upload(desk, [("own.csv", GOOD.encode())])))
    assert "Midterm" not in page
    assert tab.form()["template"] == ""


def test_the_buttons_of_the_page_are_answered(desk: AppService):
    page = DrawnPage("evaluate", desk)
    assert "Drop a file of questions here" in page.text
    form = next(each for each in page.layout.blocks.values() if each.key == "form")
    to = page.act("sample", within=form)
    assert to == f"results?run={read_runs(desk.database)[0].id}"
