"""Links to frozen pages: made of runs and comparisons, listed for their owners, withdrawn."""

from collections.abc import Callable
from typing import Any

from starlette.testclient import TestClient

from evalui.accounts.shares import find_share, read_page
from evalui.app.service import AppService
from evalui.runs.worker.worker import Worker


def test_a_link_shows_the_run_until_it_is_withdrawn(
    api: TestClient, desk: AppService, finished: str, become: Callable[..., None]
) -> None:
    made = api.post(f"/runs/{finished}/links?days=7")
    assert made.status_code == 201, made.text
    address = made.json()["address"]
    share = find_share(desk.database, address.removeprefix("/s/"))
    assert share
    assert "75.0" in read_page(desk.database, share, "en")
    (listed,) = api.get("/links").json()
    link = listed["link"]
    assert (link["id"], listed["address"], link["revoked"]) == (share.id, address, None)
    assert (link["opened"], link["address"]) == (1, f"?run={finished}")
    become("eve", "operator")
    assert api.get("/links").json() == []
    assert api.delete(f"/links/{share.id}").json()["key"] == "no-share"
    assert api.post(f"/runs/{finished}/links").status_code == 404
    become("local", "admin")
    assert api.delete(f"/links/{share.id}").status_code == 204
    (ended,) = api.get("/links").json()
    assert ended["link"]["revoked"]
    wrong = api.post(f"/runs/{finished}/links?days=8")
    assert (wrong.status_code, wrong.json()["key"]) == (422, "share-days")


def test_a_token_to_read_ends_no_link(
    api: TestClient, finished: str, become: Callable[..., None]
) -> None:
    link = api.post(f"/runs/{finished}/links").json()["id"]
    become("local", "annotator", scope="read")
    refused = api.delete(f"/links/{link}")
    assert (refused.status_code, refused.json()["key"]) == (403, "not-allowed-change")


def test_a_comparison_is_read_and_shared(
    api: TestClient, desk: AppService, spec: dict[str, Any], become: Callable[..., None]
) -> None:
    run = api.post("/runs", json={**spec, "models": ["biased", "always-A"]}).json()["id"]
    Worker(desk.database, desk.models.catalog).run_once()
    cells = [cell["id"] for cell in api.get(f"/runs/{run}").json()["cells"]]
    table = api.get("/comparisons.csv", params={"cells": cells})
    assert table.headers["content-type"].startswith("text/csv")
    assert "biased" in table.text
    chinese = api.get(
        "/comparisons.csv", params={"cells": cells}, headers={"Accept-Language": "zh"}
    )
    assert chinese.text != table.text
    made = api.post("/comparisons/links", params={"cells": cells})
    assert made.status_code == 201, made.text
    share = find_share(desk.database, made.json()["address"].removeprefix("/s/"))
    assert share
    assert "biased" in read_page(desk.database, share, "en")
    (listed,) = api.get("/links").json()
    assert (listed["link"]["title"], "tab=compare" in listed["link"]["address"]) == (
        "capitals",
        True,
    )
    one = api.get("/comparisons.csv", params={"cells": cells[:1]})
    assert (one.status_code, one.json()["key"]) == (422, "compare-gone")
    become("eve", "operator")
    for answer in (
        api.get("/comparisons.csv", params={"cells": cells}),
        api.post("/comparisons/links", params={"cells": cells}),
    ):
        assert (answer.status_code, answer.json()["key"]) == (422, "compare-gone")


def test_only_who_may_change_each_run_shares_a_comparison(
    api: TestClient, desk: AppService, spec: dict[str, Any], become: Callable[..., None]
) -> None:
    run = api.post("/runs", json={**spec, "models": ["biased", "always-A"]}).json()["id"]
    Worker(desk.database, desk.models.catalog).run_once()
    cells = [cell["id"] for cell in api.get(f"/runs/{run}").json()["cells"]]
    assert api.put(f"/runs/{run}/voters", json={"people": ["eve"]}).status_code == 204
    become("eve")
    assert api.get("/comparisons.csv", params={"cells": cells}).status_code == 200
    refused = api.post("/comparisons/links", params={"cells": cells})
    assert (refused.status_code, refused.json()["key"]) == (403, "not-allowed-change")
