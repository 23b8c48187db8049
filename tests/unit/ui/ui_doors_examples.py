"""A small app of plain Gradio behind the doors, and people who send requests to it."""

import asyncio
import json
import warnings
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import gradio as gr
import pytest
from fastapi import FastAPI
from gradio.events import api  # pyright: ignore[reportUnknownVariableType] # of any callable
from pydantic import ByteSize
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send

from evalui.access import Person
from evalui.app.receiving import receiving
from evalui.app.service import AppService
from evalui.errors import EvaluiError
from evalui.settings import Settings
from evalui.store.connection import Database
from evalui.ui.doors import Doors
from evalui.web.middleware import set_sender

PEOPLE = {
    "ann": Person("ann", "annotator"),
    "ben": Person("ben", "annotator"),
    "eve": Person("eve", "reader"),
    "mia": Person("guest:Mia", "annotator", guest_of="one"),
    "other mia": Person("guest:Mia", "annotator", guest_of="another"),
}
Part = dict[str, Any]  # of a body
GONE: Part = {"type": "http.disconnect"}
LIMIT = 20_000  # bytes that a person may store


def part(content: bytes, *, more: bool = False) -> Part:
    """A part of a body."""
    return {"type": "http.request", "body": content, "more_body": more}


class House:
    """The app behind the doors. A request is from the person whom the header `x-person` names."""

    def __init__(self, folder: Path) -> None:
        self.heard: list[Any] = []  # what listeners were given
        settings = Settings(
            data_dir=folder,
            workers=0,
            auth="password",
            limit_stored_bytes=ByteSize(LIMIT),
            max_upload_mb=1,
        )
        self.service = AppService(settings, Database(settings.database))
        self.folder = folder / "gradio"

    @contextmanager
    def open(self) -> Generator["House"]:
        """Begin, as after a start of the server: what was kept of sessions is gone."""
        app, self.demo = asyncio.run(self._made())
        self.app = app
        self.forget()
        self.numbers = {fn.api_name: number for number, fn in self.demo.fns.items()}
        with TestClient(self._from_header, base_url="http://127.0.0.1") as self.client:
            yield self

    def forget(self) -> None:
        """Begin anew with the same app: all that the doors have noted is gone."""
        self.heard.clear()
        self.demo.state_holder.session_data.clear()
        self.doors = Doors(
            self.app, ("en",), {"en": self.demo}, _ready, self._receiving, _refused, self.folder
        )

    async def _made(self) -> tuple[FastAPI, gr.Blocks]:
        with gr.Blocks(analytics_enabled=False) as demo:
            api(self._hear, api_name="call")
        with demo.route("Plain", "plain"):
            field, file = gr.Textbox(), gr.File()
            field.submit(self._hear, field, field, api_name="queued")
            field.change(self._hear, field, field, api_name="direct", queue=False)
            file.upload(self._hear, file, field, api_name="file", queue=False)
            field.blur(None, field, field, js="x => x", api_name="browser")
        with demo.route("Annotate", "annotate"):
            place = gr.HTML("")
            gr.render(triggers=[place.submit], queue=False)(self._draw)
        with demo.route("Last", "last"):
            gr.HTML("")
        demo.queue()
        demo.has_launched = True
        app = FastAPI(openapi_url=None)
        settings: dict[str, Any] = {"ssr_mode": False, "run_history": False}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "SSR mode is not supported")
            gr.mount_gradio_app(app, demo, "/en", max_file_size=2**20, **settings)
        return app, demo

    def _hear(self, value: str) -> str:
        self.heard.append(value)
        return f"heard {value}"

    def _draw(self) -> None:
        field = gr.Textbox(interactive=True)
        field.submit(self._hear, field, field, queue=False)
        field.change(self._hear, field, field)

    async def _from_header(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            set_sender(scope, PEOPLE[Headers(scope=scope)["x-person"]])
        await self.doors(scope, receive, send)

    def _receiving(self, person: Person | None, headers: Headers, held: int) -> Any:
        return receiving(self.service.acting_for(person), headers, held=held)

    def event(self, name: str, *data: Any, session: str = "s", **more: Any) -> dict[str, Any]:
        """An event for a listener."""
        return {
            "fn_index": self.numbers[name],
            "session_hash": session,
            **more,
            "data": list(data),
        }

    def post(self, person: str, path: str, content: Any) -> Any:
        """The answer to what a person sends."""
        sent = content if isinstance(content, bytes) else json.dumps(content).encode()
        headers = {"x-person": person, "content-type": "application/json"}
        return self.client.post(f"/en/gradio_api/{path}", content=sent, headers=headers)

    def run(self, person: str, event: Any) -> Any:
        """The answer to an event past the queue."""
        return self.post(person, "run/predict", event)

    def join(self, person: str, event: Any) -> Any:
        """The answer to an event by the queue."""
        return self.post(person, "queue/join", event)

    def get(self, person: str, path: str) -> Any:
        """What a person reads."""
        return self.client.get(f"/en/{path}", headers={"x-person": person})

    def told(self, person: str, session: str) -> Any:
        """What becomes of the calls of a session."""
        return self.get(person, f"gradio_api/queue/data?session_hash={session}")

    def draw(self, person: str, session: str) -> int:
        """Have the ballot drawn; the number of the listener in it, the next one has the queue."""
        answer = self.run(person, self.event("apply", session=session))
        assert answer.status_code == 200, answer.text
        direct, _ = answer.json()["render_config"]["dependencies"]
        return direct["id"]

    def upload(self, person: str, content: bytes = b"x", name: str = "a.csv", **more: Any) -> Any:
        """The answer to a file."""
        headers = {"x-person": person, **more.pop("headers", {})}
        files = [(more.pop("field", "files"), (name, content))]
        return self.client.post("/en/gradio_api/upload", files=files, headers=headers)

    @property
    def kept(self) -> list[str]:
        """The sessions of which Gradio keeps anything."""
        return list(self.demo.state_holder.session_data)

    def send(self, person: str, path: str, *body: Part, **headers: str) -> int | None:
        """The status of the answer to a body of these parts, after which nothing comes any more."""
        assert self.client.portal
        return self.client.portal.call(partial(self.sent, person, path, *body, **headers))

    async def sent(self, person: str, path: str, *body: Part, **headers: str) -> int | None:
        """The same within the loop of the app; None where nothing was answered."""
        parts, statuses = iter(body), list[int]()

        async def receive() -> Message:
            for part in parts:
                return part
            await asyncio.sleep(1)
            return GONE

        async def send(message: Message) -> None:
            statuses.extend([message["status"]] if "status" in message else [])

        lines = [(name.replace("_", "-").encode(), one.encode()) for name, one in headers.items()]
        scope: dict[str, Any] = {
            "type": "http",
            "method": "POST",
            "path": f"/en/gradio_api/{path}",
            "query_string": b"",
            "headers": [(b"host", b"127.0.0.1"), *lines],
            "server": ("127.0.0.1", 80),
            "client": ("127.0.0.1", 5),
            "scheme": "http",
        }
        set_sender(scope, PEOPLE[person])
        with suppress(ClientDisconnect):  # as a server does
            await self.doors(scope, receive, send)
        return statuses[0] if statuses else None


async def _ready() -> None:
    """Gradio is there."""


def _refused(error: EvaluiError) -> JSONResponse:
    return JSONResponse({"error": str(error)}, 413)


def _opened(folder: Path) -> Generator[House]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("GRADIO_TEMP_DIR", str(folder / "gradio"))
        with House(folder).open() as opened:
            yield opened


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Generator[House]:
    """A house of all tests of a module."""
    yield from _opened(tmp_path_factory.mktemp("house"))


@pytest.fixture
def house(shared: House) -> House:
    """The same, in which nothing was heard and nobody has a session."""
    shared.forget()
    return shared


@pytest.fixture
def own_house(tmp_path: Path) -> Generator[House]:
    """A house of a test's own."""
    yield from _opened(tmp_path)
