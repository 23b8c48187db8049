import ast
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from html import escape
from pathlib import Path

import gradio as gr
import pytest
from drawn_page import DrawnPage
from source_trees import nodes_of
from ui_admin_examples import ROOT, Administrator, spend

import evalui
from evalui.access import ANONYMOUS, LOCAL_PERSON, Person
from evalui.accounts.invitations import invited_person
from evalui.accounts.people import (
    add_person,
    find_person,
    read_account,
    read_accounts,
    set_disabled,
)
from evalui.accounts.sessions import start_session
from evalui.accounts.shares import add_share, list_shares, new_share
from evalui.app.service import AppService
from evalui.errors import EvaluiError, NotAllowed, SpecError
from evalui.messages import messages
from evalui.models.new_model import NewModelForm
from evalui.runs.fair_queue.limits import UserLimits, limits_of, usual_limits, write_limits
from evalui.runs.fair_queue.turns import read_decisions, set_queue_state, take_turn
from evalui.runs.worker.main import Worker
from evalui.settings import Settings
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.runs import read_run
from evalui.types import Language
from evalui.ui.current_person import acting_as, current_person
from evalui.ui.pages.admin.changes import CHANGES, make_change
from evalui.ui.top_bar import top_bar

OTHERS = [
    ANONYMOUS,
    Person("rita", "reader"),
    Person("ann", "annotator"),
    Person("otto", "operator"),
    Person("root", "admin", scope="read"),
]

PAGES: dict[Language, str] = {"en": "page", "zh": "page"}

# ------------------------------------------------------------------ who may


def test_each_change_requires_a_deed_of_administrators():
    assert {change.deed for change in CHANGES.values()} == {"administer", "manage_accounts"}


T = messages("en")
RUNNING, STORED, DOLLARS = (
    T(f"admin.limit.{each}") for each in ("running", "stored_bytes", "dollars_day")
)
PRIORITY, HEIR = T("admin.priority"), T("admin.heir")
FIELDS = {"person": "ann", "role": "admin", "name": "eve", "state": "paused"}


@pytest.mark.parametrize("person", OTHERS, ids=lambda person: person.name or "nobody")
@pytest.mark.parametrize("query", ["", "add=person", "person=ann", "sub=server"])
def test_what_an_administrator_has_open_answers_nobody_else(
    box: AppService, person: Person, query: str
):
    before = [read_accounts(box.database), read_decisions(box.database)]
    page = DrawnPage("admin", box.acting_for(ROOT), query)
    page.service = box.acting_for(person)
    buttons = [each.value for each in page.layout.blocks.values() if isinstance(each, gr.Button)]
    (body,) = [
        each
        for each in page.layout.blocks.values()
        if 'class="stack"' in str(getattr(each, "value", ""))
    ]
    events = [page.look, *(partial(page.press, word) for word in buttons)]
    events += [partial(page.act, do, within=body, **FIELDS) for do in (*CHANGES, "", "never")]
    for event in events:
        with pytest.raises((NotAllowed, gr.Error)) as raised:
            event()
        assert "root" not in str(raised.value)
    assert [read_accounts(box.database), read_decisions(box.database)] == before


def test_an_action_that_is_not_listed_is_refused(box: AppService):
    with pytest.raises(SpecError):
        make_change(box.acting_for(ROOT), "drop", {})


@pytest.mark.parametrize("person", OTHERS[1:], ids=lambda person: person.name)
@pytest.mark.parametrize("query", [{}, {"sub": "server"}, {"person": "root"}, {"add": "person"}])
def test_the_page_is_shown_to_no_one_else(box: AppService, person: Person, query: dict[str, str]):
    with pytest.raises(NotAllowed, match="Only administrators may do this"):
        Administrator(box, person=person).sees(**query)


def test_an_administrator_has_the_page(box: AppService):
    with acting_as(ROOT):
        assert 'id="tab-admin-link"' in top_bar(box, messages("en"), "evaluate", {})


def test_who_is_alone_on_a_server_has_none(desk: AppService):
    assert "tab-admin-link" not in top_bar(desk, messages("en"), "evaluate", {})


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("sub", ["users", "queue", "models", "storage", "server"])
def test_every_view_shows_where_it_is(box: AppService, sub: str, language: Language):
    page = Administrator(box, language).sees(sub=sub)
    word = messages(language)(f"admin.{sub}")
    assert f'aria-current="true">{word}</a>' in page
    assert page.count("<h1>") == 1


# ------------------------------------------------------------------ people


def test_people_stand_with_what_they_use(
    box: AppService, admin: Administrator, queued: Callable[[str], str]
):
    first, _ = queued("ann"), queued("ann")
    assert queue.claim(box.database, "w", first)
    usual = usual_limits(box.settings)
    limits = UserLimits(running=2, stored_bytes=20_000_000_000)
    write_limits(box.database, "ann", limits, usual)
    page = admin.sees()
    assert "1 job running, 1 waiting." in page
    assert f'1 of 2<div class="meta">{read_run(box.database, first).name}</div>' in page
    assert "0.0 of 20 GB" in page


def test_who_has_nothing_left_stands_in_the_sentence(
    box: AppService, admin: Administrator, queued: Callable[[str], str]
):
    run_id = queued("ann")
    write_limits(box.database, "ann", UserLimits(dollars_day=1.5), UserLimits())
    spend(box, run_id, time.time(), dollars=1.25)
    assert "has no dollars" not in admin.sees()
    spend(box, run_id, time.time(), dollars=0.25)
    page = admin.sees()
    assert "1 waiting. ann has no dollars left today." in page
    assert "no dollars until midnight UTC" in page


def test_what_was_spent_yesterday_counts_no_more(
    box: AppService, admin: Administrator, queued: Callable[[str], str]
):
    run_id = queued("ann")
    write_limits(box.database, "ann", UserLimits(dollars_day=1), UserLimits())
    spend(box, run_id, time.time() - 24 * 3600, dollars=2.0)
    assert "has no dollars" not in admin.sees()


def test_a_person_alone_is_shown_the_way(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("alone")
    settings = Settings(data_dir=folder, auth="password")
    service = AppService(settings, Database(settings.database)).with_sender(current_person)
    add_person(service.database, "root", "admin", by=LOCAL_PERSON)
    assert "Only you so far." in Administrator(service).sees()
    service.database.close()


def test_an_invitation_has_the_public_address_of_the_server(box: AppService):
    box.settings = box.settings.model_copy(update={"public_url": "https://box.test/e/"})
    page = Administrator(box).sends("Invite", {"add": "person"}, Name="nina", Role="reader")
    assert page.count("https://box.test/e/invitation/") == 2  # what is read, and what is copied


def test_an_invited_person_gets_a_link_once(box: AppService, admin: Administrator):
    page = admin.sends("Invite", {"add": "person"}, Name="Nina", Role="operator")
    secret = page.partition("/invitation/")[2].partition("<")[0]
    assert len(secret) == 43
    assert secret not in admin.sees()
    account = read_account(box.database, "nina")
    assert (account.role, account.invited) == ("operator", True)
    assert secret not in str(admin.log(10))
    assert [entry.deed for entry in admin.log(2)] == ["invite", "add-person"]
    row = admin.sees().partition('<b class="dim">nina')[2]
    assert "Copy invitation" in row
    assert "Withdraw" in row


def test_another_link_ends_the_first(box: AppService, admin: Administrator):
    pages = [admin.sends("Invite", {"add": "person"}, Name="nina", Role="reader")]
    pages.append(admin.presses("link", person="nina"))
    first, second = (each.partition("/invitation/")[2].partition("<")[0] for each in pages)
    assert invited_person(box.database, second) == "nina"
    with pytest.raises(EvaluiError):
        invited_person(box.database, first)


def test_an_invitation_that_is_withdrawn_leaves_nobody(box: AppService, admin: Administrator):
    admin.sends("Invite", {"add": "person"}, Name="nina", Role="reader")
    admin.presses("withdraw", person="nina")
    assert find_person(box.database, "nina") is None
    assert [entry.deed for entry in admin.log(2)] == ["remove-person", "withdraw"]


def test_a_person_who_was_here_stays_when_a_link_is_withdrawn(
    box: AppService, admin: Administrator
):
    admin.presses("link", person="ann")
    make_change(box.acting_for(ROOT), "withdraw", {"person": "ann"})
    assert not read_account(box.database, "ann").invited


def test_a_taken_name_is_a_problem_in_words(admin: Administrator):
    with pytest.raises(gr.Error, match="There is a person ann already"):
        admin.sends("Invite", {"add": "person"}, Name="ann", Role="reader")


def test_a_role_is_chosen_in_the_table(box: AppService, admin: Administrator):
    admin.sends("Save", {"person": "ann"}, Role="operator")
    assert read_account(box.database, "ann").role == "operator"
    (entry,) = admin.log()
    assert (entry.person, entry.deed, entry.thing) == ("root", "set-role", "person ann")


@pytest.mark.parametrize("role", ["owner", ""])
def test_no_other_role_can_be_chosen(box: AppService, admin: Administrator, role: str):
    with pytest.raises(gr.Error):
        admin.sends("Save", {"person": "ann"}, Role=role)
    assert read_account(box.database, "ann").role == "annotator"


def test_the_last_administrator_stays_one(admin: Administrator):
    with pytest.raises(gr.Error, match="root is the only administrator"):
        admin.sends("Save", {"person": "root"}, Role="reader")


def test_limits_are_shown_and_set(box: AppService, admin: Administrator):
    labels = [messages("en")(f"admin.limit.{name}") for name in UserLimits.__slots__]
    form = admin.drawn(person="ann")
    assert {form.component(label).value for label in labels} == {""}
    fields = {RUNNING: "2", STORED: "1.5", DOLLARS: "20"}
    closed = admin.sends("Save", {"person": "ann"}, **fields, **{PRIORITY: "1"})
    usual = usual_limits(box.settings)
    expected = UserLimits(running=2, dollars_day=20.0, stored_bytes=1_500_000_000)
    assert limits_of(box.database, "ann", usual) == expected
    assert read_decisions(box.database).priorities == {"ann": 1}
    (entry,) = admin.log()
    assert (entry.deed, entry.detail["running"], entry.detail["priority"]) == ("set-limits", 2.0, 1)
    assert admin.query == {}
    assert "The limits of ann are changed." in closed
    assert admin.drawn(person="ann").component(STORED).value == "1.5"
    admin.sends("Save", {"person": "ann"}, **dict.fromkeys(fields, ""), **{PRIORITY: "0"})
    assert limits_of(box.database, "ann", usual) == UserLimits()


def test_role_and_limits_are_changed_together_and_only_what_differs(admin: Administrator):
    shown = admin.sends("Save", {"person": "ann"}, Role="operator", **{RUNNING: "3"})
    assert T("admin.done.role_and_limits", name="ann") in shown
    assert [entry.deed for entry in admin.log(2)] == ["set-limits", "set-role"]
    admin.sends("Save", {"person": "ann"})
    assert [entry.deed for entry in admin.log(2)] == ["set-limits", "set-role"]


def test_a_token_of_an_administrator_sets_limits_and_no_role(box: AppService):
    admin = Administrator(box, person=Person("root", "admin", by_token=True))
    admin.sends("Save", {"person": "ann"}, **{RUNNING: "3"})
    assert limits_of(box.database, "ann", usual_limits(box.settings)).running == 3
    with pytest.raises(gr.Error):
        admin.sends("Save", {"person": "ann"}, Role="admin")
    assert read_account(box.database, "ann").role == "annotator"


@pytest.mark.parametrize("text", ["many", "-1", "nan", "inf", "1.5"])
def test_what_is_no_limit_is_refused(box: AppService, admin: Administrator, text: str):
    with pytest.raises(gr.Error, match="is not a limit"):
        admin.sends("Save", {"person": "ann"}, **{RUNNING: text}, Role="reader")
    assert read_account(box.database, "ann").role == "annotator"
    assert limits_of(box.database, "ann", UserLimits()) == UserLimits()


def test_a_person_is_disabled_and_enabled(box: AppService, admin: Administrator):
    assert "<button>Enable</button>" not in admin.sees(person="ann")
    admin.sends("Disable", {"person": "ann"})
    assert find_person(box.database, "ann") is None
    assert "<button>Disable</button>" not in admin.sees(person="ann")
    admin.sends("Enable", {"person": "ann"})
    assert find_person(box.database, "ann") is not None
    assert [entry.deed for entry in admin.log(2)] == ["enable", "disable"]


def test_nobody_ends_their_own_account_by_mistake(admin: Administrator):
    page = admin.sees(person="root")
    assert RUNNING in page
    assert "Remove this person" not in page


def test_removal_asks_for_an_heir_first(
    box: AppService, admin: Administrator, queued: Callable[[str], str]
):
    run_id = queued("ann")
    with pytest.raises(gr.Error, match="Choose first who takes over"):
        admin.sends("Remove this person", {"person": "ann"})
    assert find_person(box.database, "ann")
    admin.sends("Remove this person", {"person": "ann"}, **{HEIR: "rita"})
    assert find_person(box.database, "ann") is None
    assert read_run(box.database, run_id).owner == "rita"


def test_removal_with_everything(
    box: AppService, admin: Administrator, queued: Callable[[str], str]
):
    with acting_as(Person("ann", "operator")):
        place = NewModelForm("far", "m", "endpoint", address="http://93.184.216.34:9/v1")
        box.models.add(place)
    queued("ann")
    admin.sends("Remove this person", {"person": "ann"}, **{HEIR: "="})
    assert not box.database.rows("SELECT 1 FROM run")
    assert "far" not in box.models.all_models()


def test_links_of_all_are_listed_and_revoked(box: AppService, admin: Administrator):
    assert "Share links (0)" in admin.sees()
    new = new_share("ann", "run=k3f", "Midterm", 7)
    add_share(box.database, new, PAGES, PAGES, by=Person("ann"))
    page = admin.sees()
    assert "Share links (1)" in page
    assert T("admin.links_finding", soon=1, unseen=1) in page
    assert "Midterm" in page
    admin.presses("revoke_link", link=new.id)
    assert list_shares(box.database)[0].ended
    assert "Share links (0)" in admin.sees()
    assert admin.log()[0].deed == "withdraw-share"


# ------------------------------------------------------------------ queue


def test_the_queue_shows_runs_of_all_with_their_owners(
    box: AppService, admin: Administrator, queued: Callable[[str], str]
):
    first, second = queued("ann"), queued("root")
    assert queue.claim(box.database, "w", first)
    page = admin.sees(sub="queue")
    assert "1 job running, 1 waiting." in page
    assert f"runs?run={first}" in page
    assert f"runs?run={second}" in page
    assert ">ann</td>" in page
    assert ">root</td>" in page


def test_a_run_of_another_is_stopped_and_moved(
    box: AppService, admin: Administrator, queued: Callable[[str], str]
):
    first, second = queued("ann"), queued("root")
    page = admin.sends("Save", {"sub": "queue", "run": second}, Priority="2")
    assert admin.query == {"sub": "queue"}
    assert "before all" in page
    admin.presses("stop", target=first)
    assert read_run(box.database, first).state == "cancelled"
    stopped, moved = admin.log(2)
    assert (stopped.deed, stopped.thing, stopped.detail) == (
        "stop-run",
        f"run {first}",
        {"owner": "ann"},
    )
    assert (moved.deed, moved.detail["priority"]) == ("set-priority", 2)


@pytest.mark.parametrize(("state", "words"), [("paused", "is paused"), ("draining", "is draining")])
def test_the_queue_is_paused_drained_and_goes_on(
    box: AppService, admin: Administrator, queued: Callable[[str], str], state: str, words: str
):
    queued("ann")
    admin.sees(sub="queue")
    page = admin.presses("queue", state=state)
    assert words in page
    assert read_decisions(box.database).state == state
    assert queue_is_closed(box)
    assert words not in admin.presses("queue", state="open")
    assert read_decisions(box.database).state == "open"
    with pytest.raises(gr.Error):
        admin.presses("queue", state="never")


def queue_is_closed(box: AppService) -> bool:
    with box.database.writing() as connection:
        return not take_turn(connection, UserLimits(), time.time())


def test_why_a_run_waits_stands_beside_it(
    box: AppService, admin: Administrator, queued: Callable[[str], str]
):
    queued("ann")
    set_queue_state(box.database, "paused")
    assert "the queue is paused" in admin.sees(sub="queue")


def test_runs_stand_in_the_order_in_which_they_will_start(
    admin: Administrator, queued: Callable[[str], str]
):
    first, second = queued("ann"), queued("root")
    page = admin.sees(sub="queue")
    row = '<tr data-key="{}">'.format
    assert page.index(row(first)) < page.index(row(second))
    page = admin.sends("Save", {"sub": "queue", "run": second}, Priority="1")
    assert page.index(row(second)) < page.index(row(first))


# ------------------------------------------------------------------ models, storage, server


def test_added_models_stand_with_who_may_use_them(box: AppService, admin: Administrator):
    empty = admin.sees(sub="models")
    assert "No model has been added here." in empty
    assert "No model was added." in empty
    place = NewModelForm("far", "m", "endpoint", address="http://93.184.216.34:9/v1", key="sk-x")
    with acting_as(Person("ann", "operator")):
        box.models.add(place)
        box.models.add(replace(place, name="near", everyone=False, people=("rita",)))
        box.models.add(replace(place, name="mine", everyone=False))
    page = admin.sees(sub="models")
    assert "3 added models, 2 not for everyone." in page
    assert "http://93.184.216.34:9/v1" in page
    assert "sk-x" not in page
    for words in ("Everyone on this server", ">rita</td>", T("admin.owner_only"), "edit=near"):
        assert words in page


def test_storage_is_stated_by_person_and_run(
    box: AppService, admin: Administrator, queued: Callable[[str], str]
):
    run_id = queued("ann")
    assert "Nothing is stored." in admin.sees(sub="storage")
    Worker(box.database, box.models.all_models).run_once()
    with box.database.writing() as connection:
        connection.execute("INSERT INTO upload VALUES ('ann', 'u', 'a.csv', 5000000, 0)")
        connection.execute("UPDATE cell SET bytes = 2000000")
    page = admin.sees(sub="storage")
    for words in ("5 MB</td>", "2 MB</td>", "7 MB", f"runs?run={run_id}"):
        assert words in page
    assert page.count('<td class="r">') == 4  # numbers stand under each other, also in "Together"
    assert "The disk: " in page


def test_failures_stand_with_their_sentence(
    box: AppService, admin: Administrator, queued: Callable[[str], str]
):
    assert "Nothing has failed." in admin.sees(sub="server")
    assert "No worker is running.</h1>" in admin.sees(sub="server")
    run_id = queued("ann")
    lease = queue.claim(box.database, "w", run_id)
    assert lease
    queue.fail(box.database, lease.lease, "The disk is gone.")
    page = admin.sees(sub="server")
    assert "The disk is gone." in page
    assert f"runs?run={run_id}" in page


def _recorded_deeds() -> set[str]:
    """The deeds that the product writes into the log in so many words."""
    found: set[str] = set()
    for path in Path(evalui.__file__).parent.rglob("*.py"):
        for call in nodes_of(path):
            name = getattr(call, "func", None)
            if getattr(name, "attr", getattr(name, "id", "")).endswith(("record", "record_in")):
                assert isinstance(call, ast.Call)
                words = [each.value for each in call.args if isinstance(each, ast.Constant)]
                found |= {str(word) for word in words[:1]}
    return found


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_deed_of_the_log_has_words(language: Language):
    deeds = _recorded_deeds()
    assert {"add-person", "make-guest-link", "set-queue"} <= deeds
    assert [deed for deed in sorted(deeds) if f"deed.{deed}" not in messages(language)] == []


def test_settings_in_force_hold_no_secret_and_no_path(box: AppService, admin: Administrator):
    page = admin.sees(sub="server")
    assert "EVALUI_AUTH" in page
    assert "EVALUI_ENDPOINT_HOSTS" in page
    assert str(box.settings.data_dir) not in page
    assert "EVALUI_DATA_DIR" not in page


def test_everybody_else_is_signed_out(box: AppService, admin: Administrator):
    for name in ("ann", "ann", "rita", "root"):
        start_session(box.database, name)
    assert "4 browsers of 3 people signed in" in admin.sees(sub="server")
    page = admin.presses("sign_out")
    assert "3 sessions ended." in page
    rows = box.database.rows("SELECT person FROM session")
    assert [row["person"] for row in rows] == ["root"]
    assert [(each.deed, each.thing) for each in admin.log(2)] == [
        ("sign-out", "person rita"),
        ("sign-out", "person ann"),
    ]


def test_the_log_is_filtered_by_person(box: AppService, admin: Administrator):
    set_disabled(box.database, "rita", disabled=True, by=Person("other", "admin"))
    admin.sends("Save", {"person": "ann"}, Role="reader")
    page = admin.drawn(sub="server")
    assert "changed a role" in page.text
    assert "disabled" in page.text
    assert page.choose("Person", "other") == "?sub=server&who=other"
    page = admin.sees(sub="server", who="other")
    assert "changed a role" not in page
    assert "person rita" in page
    assert "changed a role" in admin.sees(sub="server", who="nobody")  # who is not in the log


def test_the_page_looks_again_beside_the_form_that_is_open(
    admin: Administrator, queued: Callable[[str], str]
):
    page = admin.drawn(sub="queue")
    run_id = queued("ann")
    verdict, body = page.look()
    assert "1 waiting" in verdict
    assert run_id in body


@pytest.mark.parametrize("text", ["${1}", "{{ x }}", "`", r"\underline{x}", "<b>&amp;"])
def test_no_text_of_others_is_markup_or_a_template(
    box: AppService, admin: Administrator, text: str
):
    add_share(box.database, new_share("ann", "run=k3f", text, 7), PAGES, PAGES, by=Person("ann"))
    assert f"<td>{escape(text)}</td>" in admin.sees()


def test_a_link_of_an_invitation_is_shown_once(admin: Administrator):
    page = admin.sends("Invite", {"add": "person"}, Name="nina", Role="reader")
    secret = page.partition("/invitation/")[2].partition("<")[0]
    assert secret
    assert "invited" in page, "she stands in the list"
    assert secret not in admin.sees()
