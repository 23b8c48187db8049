"""All that the screen can do: each event of each page by routes, or with a reason why not."""

import re

from starlette.testclient import TestClient
from ui_examples import served

from evalui.app.service import AppService
from evalui.messages import messages
from evalui.ui.build import build
from evalui.ui.pages.context import PageContext

SHOWS = "it changes the form in the browser, or what of a page is in view"
SAMPLE = "it uploads files that are shipped and starts a run: POST /datasets, then POST /runs"
POLLS = "GET /runs/{run_id}/events"
LOOKS = "GET /runs/{run_id}"
PLAN = "POST /runs/plan"  # each choice is planned anew
UPLOAD = "POST /datasets"
COLUMNS = "POST /datasets/{upload_id}/columns"
DECIDE = "PUT /runs/{run_id}/disagreements/{pair}"
PERSON = "/people/{person}"
# By the name of an event, what reaches the same; several events begin alike.
ROUTES: dict[str, tuple[str, ...]] = {
    "admin_act_links": ("DELETE /links/{link_id}",),
    "admin_act_people": (f"POST {PERSON}/invitation", f"DELETE {PERSON}/invitation"),
    "admin_act_runs": ("POST /queue/runs/{target}/stop",),
    "admin_act_verdict": ("PUT /queue/{state}", "DELETE /sessions"),
    "admin_disable": (f"POST {PERSON}/disable",),
    "admin_enable": (f"POST {PERSON}/enable",),
    "admin_invite": ("POST /people/{invite_name}",),
    "admin_open": ("GET /people", "GET /queue", "GET /audit", "GET /links"),
    "admin_person": (f"PUT {PERSON}/role/{{role}}", "PUT /people/{name}/limits"),
    "admin_priority": ("PUT /queue/runs/{target}/priority/{priority}",),
    "admin_remove": (f"DELETE {PERSON}",),
    "annotate_assign": ("PUT /runs/{run_id}/voters",),
    "annotate_close": ("POST /runs/{run_id}/votes/close",),
    "annotate_decide_": (DECIDE,),
    "annotate_finish": ("POST /runs/{run_id}/votes/finish",),
    "annotate_guests": (
        "DELETE /runs/{run_id}/guest-links/{link_id}",
        "DELETE /runs/{run_id}/guest-links/{link_id}/guests",
    ),
    "annotate_import": ("POST /runs/{run_id}/votes/import",),
    "annotate_link": ("POST /runs/{run_id}/guest-links",),
    "annotate_open": ("GET /runs/{run_id}/ballot", "GET /runs/{run_id}/disagreements"),
    "annotate_undo": ("DELETE /runs/{run_id}/votes/last",),
    "annotate_vote": ("POST /runs/{run_id}/votes",),
    "arena_open": ("GET /leaderboard",),
    "evaluate_act_add": (UPLOAD,),
    "evaluate_act_answers": (UPLOAD,),
    "evaluate_act_columns": (COLUMNS,),
    "evaluate_act_datasets": (UPLOAD, COLUMNS),
    "evaluate_act_drop": (UPLOAD,),
    "evaluate_act_given": (UPLOAD,),
    "evaluate_act_logs": (UPLOAD,),
    "evaluate_act_questions": (UPLOAD,),
    "evaluate_act_sets": ("POST /benchmarks/{name}/take",),
    "evaluate_find": ("GET /benchmarks",),
    "evaluate_import": ("POST /imports",),
    "evaluate_map": (COLUMNS,),
    "evaluate_set": (PLAN,),
    "evaluate_start": ("POST /runs",),
    "models_act": ("DELETE /models/{name}", "POST /models/{name}/test", "POST /models/{name}/look"),
    "models_look": ("GET /models/{name}",),
    "models_open": ("GET /models",),
    "models_save": ("POST /models", "PUT /models/{name}"),
    "results_everyone": ("PUT /runs/{run_id}/everyone", "DELETE /runs/{run_id}/everyone"),
    "results_link": ("DELETE /links/{link_id}",),
    "results_look": (POLLS,),
    "results_open": ("GET /runs/{run_id}/figures",),
    "results_share": ("POST /runs/{run_id}/links",),
    "results_watch": (LOOKS,),
    "runs_act_": (
        "POST /runs/{run_id}/stop",
        "POST /runs/{run_id}/resume",
        "DELETE /runs/{run_id}",
    ),
    "runs_follow": (POLLS,),
    "runs_open": ("GET /runs",),
    "runs_search": ("GET /runs",),
    # Of tabs that the server draws: any other form, or what is named.
    "compare_": ("GET /comparisons.csv",),
    "compare_share": ("POST /comparisons/links",),
    "compare_link": ("DELETE /links/{link_id}",),
    "results_": ("GET /runs/{run_id}/trials",),
}
REASONS = {
    "admin_filter": SHOWS,
    "admin_look": SHOWS,
    "annotate_ask": SHOWS,
    "annotate_begin": "a request has the name of its token",
    "annotate_stay": SHOWS,
    "arena_pick": SHOWS,
    "evaluate_open": SHOWS,
    "evaluate_open_sample": SAMPLE,
    "evaluate_preset": "it fills in the form: a specification states its settings itself",
    "evaluate_sample": SAMPLE,
    "models_place": SHOWS,
    "results_bias": SHOWS,
    "results_statistics": SHOWS,
}
_DRAWN = re.compile(r"apply(_\d+)?|js_fn")  # what Gradio names itself


def test_each_event_of_the_screen_has_a_route_or_a_reason(api: TestClient, desk: AppService):
    document = api.get("/openapi.json").json()["paths"]
    routes = {f"{method.upper()} {path}" for path, item in document.items() for method in item}
    assert sorted({each for reached in ROUTES.values() for each in reached} - routes) == []

    app = served(lambda: build(PageContext(desk, messages("en"))))
    named = {str(fn.api_name) for fn in app.fns.values()}
    events = {each for each in named if not _DRAWN.fullmatch(each)}
    known = (*ROUTES, *REASONS)
    assert [each for each in sorted(events) if not each.startswith(known)] == []
    assert [one for one in known if not any(each.startswith(one) for each in events)] == []
