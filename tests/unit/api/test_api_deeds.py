"""All that the screen can do: each action of each tab by a route, or with a reason why not."""

from starlette.testclient import TestClient

from evalui.ui.deeds import _OF_ALL, DEEDS
from evalui.ui.pages.admin.changes import CHANGES

SHOWS = "it changes the form in the browser, or what of a page is in view"
POLLS = "GET /runs/{run_id}/events"
TEAMS = "PUT /runs/{run_id}/rights/{team}"
ROUTES: dict[tuple[str, str], str] = {
    ("evaluate", "start"): "POST /runs",
    ("evaluate", "import"): "POST /imports",
    ("evaluate", "published"): "POST /benchmarks/{name}/take",
    ("evaluate", "uploaded"): "POST /datasets",
    ("evaluate", "replaced"): "POST /datasets",
    ("evaluate", "answered"): "POST /datasets",
    ("evaluate", "columns"): "POST /datasets/{upload_id}/columns",
    ("evaluate", "take"): "POST /datasets/{upload_id}/take",
    ("evaluate", "grant"): "PUT /datasets/{upload_id}/rights/{team}",
    ("evaluate", "ungrant"): "PUT /datasets/{upload_id}/rights/{team}",
    ("evaluate", "questions"): "POST /datasets/{upload_id}/columns",
    ("evaluate", "set"): "POST /runs/plan",  # each choice is planned anew
    ("results", "poll"): POLLS,
    ("results", "watch"): POLLS,
    ("results", "share"): "POST /runs/{run_id}/links",
    ("results", "withdraw"): "DELETE /links/{link_id}",
    ("results", "grant"): TEAMS,
    ("results", "ungrant"): TEAMS,
    ("compare", "set"): "GET /comparisons.csv",
    ("compare", "share"): "POST /comparisons/links",
    ("compare", "withdraw"): "DELETE /links/{link_id}",
    ("admin", "person"): "PUT /people/{name}/limits",
    ("admin", "invite"): "POST /people/{invite_name}",
    ("admin", "remove"): "DELETE /people/{person}",
    ("admin", "link"): "POST /people/{person}/invitation",
    ("admin", "withdraw"): "DELETE /people/{person}/invitation",
    ("admin", "disable"): "POST /people/{person}/disable",
    ("admin", "enable"): "POST /people/{person}/enable",
    ("admin", "add_team"): "POST /teams/{team_name}",
    ("admin", "remove_team"): "DELETE /teams/{team}",
    ("admin", "members"): "PUT /teams/{team}/members/{person}",
    ("admin", "queue"): "PUT /queue/{state}",
    ("admin", "stop"): "POST /queue/runs/{target}/stop",
    ("admin", "priority"): "PUT /queue/runs/{target}/priority/{priority}",
    ("admin", "sign_out"): "DELETE /sessions",
    ("admin", "revoke_link"): "DELETE /links/{link_id}",
}
SAMPLE = "it uploads files that are shipped and starts a run: POST /datasets, then POST /runs"
REASONS: dict[tuple[str, str], str] = {
    ("evaluate", "sample"): SAMPLE,
    ("evaluate", "open_sample"): SAMPLE,
    ("evaluate", "remove"): SHOWS,
    ("evaluate", "open"): SHOWS,
    ("evaluate", "preset"): "it fills in the form: a specification states its settings itself",
    ("evaluate", "forget"): SHOWS,
}


def test_each_action_of_the_screen_has_a_route_or_a_reason(api: TestClient):
    document = api.get("/openapi.json").json()["paths"]
    routes = {f"{method.upper()} {path}" for path, item in document.items() for method in item}

    assert sorted(set(ROUTES.values()) - routes) == []
    actions = {(tab, do) for tab, own in DEEDS.items() for do in own}
    actions |= {("admin", do) for do in CHANGES}
    general = {(tab, do) for tab in DEEDS for do in _OF_ALL}
    missing = actions - ROUTES.keys() - REASONS.keys()
    # What all tabs have: another form, a look, a question before a change.
    assert sorted(missing - general) == []
    assert sorted((ROUTES.keys() | REASONS.keys()) - actions - general) == []
    assert not ROUTES.keys() & REASONS.keys()
