"""Whatever a client sends to the events of the page, none answers 500 and none leaves a traceback.

The table is drawn with a fixed seed from what the pages themselves read: every listener, every act
and field that the source names, with values of every wrong kind.
"""

import json
import os
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from annotate_examples import open_run
from starlette.testclient import TestClient
from ui_examples import GOOD, MODELS, built

from evalui.runs.store import Store
from evalui.runs.worker import Worker
from evalui.settings import Settings
from evalui.ui import events
from evalui.ui.desk import Desk
from evalui.ui.draft import read_draft
from evalui.ui.server import create_app

SOURCE = "".join(
    path.read_text(encoding="utf-8") for path in sorted(Path(events.__file__).parent.glob("*.py"))
)
FIELDS = sorted(
    set(re.findall(r'one\((?:[a-z.]+, )?"([a-z_]+)"', SOURCE))
    | set(re.findall(r"\bdata_([a-z_]+)=", SOURCE))
    | {"name", "uploads", "models", "modes", "cells", "answers", "picks", "judges"}
)
ACTS = sorted(
    set(re.findall(r'(?:act\.do (?:==|!=) |data_do=|case )"([a-z_]+)"', SOURCE))
    | set(re.findall(r'button\([^\n]+?, "([a-z_]+)"', SOURCE))
    | set(re.findall(r'"([a-z_]+)": self\.\w+,', SOURCE))
)
TEXTS = (
    *("", "x", "-1", "0", "7", "1e999", "9" * 30, "²", "٣", "nan", "null", "{", "{}", "[]"),
    *("[1, 2]", '["a"]', '[["a"], {}]', "\0", "a:b:c", "a@b@c", "../..", "1,2,x", "中" * 5000),
    *('["", 9, 9, "duels", [], 1e300]', "[null, null, null]", '[1, "x", 2, [], [], "soon"]'),
)
COUNT = int(os.environ.get("EVALUI_FUZZ", "1200"))


@dataclass(frozen=True, slots=True)
class Site:
    """A running application with finished runs of both kinds."""

    client: TestClient
    runs: tuple[str, ...]
    upload: str
    listeners: tuple[dict[str, Any], ...]

    def send(self, body: Any, page: str = "en", name: str = "predict") -> Any:
        content = body if isinstance(body, (str, bytes)) else json.dumps(body)
        return self.client.post(
            f"/{page}/gradio_api/run/{name}",
            content=content,
            headers={"content-type": "application/json"},
        )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    (folder / "models.toml").write_text(MODELS, encoding="utf-8")
    settings = Settings(
        data_dir=folder / "data", models=folder / "models.toml", workers=0, token=False
    )
    settings.data_dir.mkdir()
    desk = Desk(settings, Store(settings.database))
    upload = desk.keep([("capitals.csv", GOOD.encode())])
    run = desk.start(
        read_draft(
            {"uploads": [upload], "models": ["biased", "always-A"], "modes": ["multiple_choice"]}
        )
    )
    Worker(desk.store, desk.catalog).work_once()
    runs = (run, open_run(desk, judged=True), "nowhere00")
    desk.store.close()
    app = built(lambda: create_app(settings))
    with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        listeners = tuple(client.get("/en/config").json()["dependencies"])
        yield Site(client, runs, upload, listeners)


def drawn(site: Site, seed: int) -> dict[str, Any]:
    """An event of the right shape for Gradio, and of any contents."""
    chance = random.Random(seed)
    listener = site.listeners[seed % len(site.listeners)]
    texts = (*TEXTS, *site.runs, *site.runs, site.upload)
    some = {name: chance.choice(texts) for name in chance.sample(FIELDS, 12)}
    form: dict[str, Any] = {name: chance.choice(texts) for name in chance.sample(FIELDS, 30)}
    form |= {name: [chance.choice(texts)] for name in chance.sample(FIELDS, 8)}
    form |= chance.choice(({}, {"uploads": [site.upload], "models": ["biased"]}))
    form |= chance.choice(({}, {"modes": ["multiple_choice"], "pattern": "circular"}))
    act = {**some, "run": chance.choice(site.runs), "do": chance.choice(ACTS), "form": form}
    strange: Any = chance.choice(({}, {"do": 7, "form": []}, {"form": {"a": {}}, "do": None}))
    return {
        "data": [chance.choice((*texts, *site.runs * 8, None)) for _ in listener["inputs"]],
        "event_data": chance.choice((act, act, act, strange, None)),
        "fn_index": listener["id"],
        "trigger_id": chance.choice((None, listener["targets"][0][0], 10**6)),
        "session_hash": "fuzz",
    }


def test_no_event_of_any_contents_is_answered_by_a_traceback(
    site: Site, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
):
    failed: dict[str, str] = {}
    for seed in range(COUNT):
        event = drawn(site, seed)
        answer = site.send(event)
        if answer.status_code == 500 or "Traceback" in answer.text:
            where = "\n".join(capfd.readouterr().err.splitlines()[-4:])
            failed.setdefault(where, json.dumps(event)[:300])
    said = capfd.readouterr()
    assert not failed, "\n\n".join(f"{event}\n{where}" for where, event in failed.items())
    assert "Traceback" not in said.out + said.err + caplog.text
