"""Plain routes: uploads, downloads, permalinks, and what they refuse."""

import asyncio
import io
import zipfile
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress

import pytest
from fastapi import FastAPI
from pictured_runs import RED, RED_MARK, SMALL, give_pictures
from starlette.requests import ClientDisconnect
from starlette.testclient import TestClient
from starlette.types import Message
from ui_examples import FAULTY, GOOD

from evalui.app.datasets import store_upload
from evalui.app.exports import ExportFailed
from evalui.app.service import AppService
from evalui.pictures import mark_of
from evalui.report.write.formats import FORMATS
from evalui.ui.web.routes import add_routes
from evalui.web.downloads import ExportResponse


@pytest.fixture
def client(desk: AppService) -> TestClient:
    app = FastAPI()
    add_routes(app, desk)
    return TestClient(app, follow_redirects=False)


@pytest.mark.parametrize("path", ["/", "/en", "/r/nowhere", "/r/nowhere/q/1", "/healthz"])
def test_an_address_can_be_looked_up_without_its_contents(client: TestClient, path: str):
    assert client.head(path).status_code == client.get(path).status_code


def test_an_upload_is_kept_and_named(client: TestClient, desk: AppService):
    sent = client.post("/upload", files=[("files", ("题目.csv", GOOD.encode()))])
    (path,) = desk.uploads.paths(desk.owner, sent.json()["upload"])
    assert path.name == "题目.csv"
    assert path.read_text(encoding="utf-8") == GOOD


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (None, "Waiting until other files are read"),
        (0, "Reading"),
        (120_000, "Reading: 120,000 rows so far"),
    ],
)
def test_an_upload_says_how_far_its_reading_is(
    client: TestClient,
    desk: AppService,
    monkeypatch: pytest.MonkeyPatch,
    rows: int | None,
    told: str,
):
    upload = store_upload(desk, [("a.csv", GOOD.encode())])
    monkeypatch.setattr(desk.files.runner, "rows_read", lambda *_: rows)
    assert client.get(f"/upload/{upload}").json() == {"status": told}


def test_a_picture_is_kept_by_the_browser_of_who_may_see_it(
    client: TestClient, desk: AppService, finished: Callable[..., str]
):
    run_id = finished()
    give_pictures(desk.database, run_id, RED)
    whole = client.get(f"/pictures/{run_id}/{RED_MARK.id}")
    assert (whole.content, whole.headers["content-type"]) == (RED, "image/png")
    assert whole.headers["cache-control"] == "private, max-age=604800, immutable"
    assert whole.headers["vary"] == "Cookie, Authorization"
    assert client.get(f"/pictures/{run_id}/{RED_MARK.id}?small").content == SMALL
    assert client.get(f"/pictures/{run_id}/{'0' * 32}").status_code == 404


def test_what_is_no_picture_is_not_sent_as_one(
    client: TestClient, desk: AppService, finished: Callable[..., str]
):
    run_id = finished()
    page = b"<script>"
    give_pictures(desk.database, run_id, page)
    assert client.get(f"/pictures/{run_id}/{mark_of(page).id}").status_code == 404


def test_an_upload_over_the_limit_is_refused_in_the_language_of_the_page(
    client: TestClient, desk: AppService
):
    desk.uploads.limit = 10
    sent = client.post("/upload?lang=zh", files=[("files", ("a.csv", b"x" * 2_000_000))])
    assert sent.status_code == 413
    assert "文件合计超过" in sent.json()["error"]


@pytest.mark.parametrize("length", ["5" * 5000, "9" * 16, "-1", "1e3", ""])
def test_an_upload_of_no_known_length_is_refused(client: TestClient, length: str):
    sent = client.post("/upload", content=b"x", headers={"content-length": length})
    assert sent.status_code == 413


def test_an_upload_without_a_file_is_refused(client: TestClient):
    sent = client.post("/upload", files=[("other", ("a.csv", b"x"))])
    assert (sent.status_code, sent.json()) == (400, {"error": "The upload holds no file."})


def test_a_refusal_is_in_the_language_of_the_page(client: TestClient):
    sent = client.post("/upload?lang=zh", files=[("other", ("a.csv", b"x"))])
    assert sent.json() == {"error": "上传内容中没有文件。"}
    assert "重新拖入" in client.get("/faults/0123456789abcdef.csv?lang=zh").text
    assert client.get("/export/none.pdf?lang=zh").text.startswith("没有 pdf 格式的导出")


def test_faults_come_as_a_sheet_without_formulas(client: TestClient, desk: AppService):
    upload = store_upload(desk, [("=bad.csv", (FAULTY + "7,=1+1,Paris,,,,A\n").encode())])
    sheet = client.get(f"/faults/{upload}.csv")
    assert sheet.headers["content-disposition"].startswith("attachment")
    lines = sheet.content.decode("utf-8-sig").splitlines()
    assert lines[0] == "file,line,column,rule,found,expected"
    assert lines[1].startswith("'=bad.csv,6,answer,answer-not-an-option,“E”")
    assert len(lines) == 4


def test_the_sheet_of_faults_ends_with_how_many_more_there_are(
    client: TestClient, desk: AppService
):
    rows = "id,question,A,B,C,D,answer\n" + "1,,,,,,\n" * 1500
    upload = store_upload(desk, [("bad_val.csv", rows.encode())])
    lines = client.get(f"/faults/{upload}.csv").content.decode("utf-8-sig").splitlines()
    assert len(lines) == 1 + 1000 + 1
    assert lines[-1] == '"and 3,500 more, which are not listed",,,,,'
    chinese = client.get(f"/faults/{upload}.csv?lang=zh").content.decode("utf-8-sig")
    assert chinese.splitlines()[-1] == '"另有 3,500 处，未列出",,,,,'


def test_faults_of_nothing_are_not_found(client: TestClient):
    assert client.get("/faults/0123456789abcdef.csv").status_code == 404


@pytest.mark.parametrize("extension", [each for each in FORMATS if each != "opencompass.md"])
def test_a_run_can_be_downloaded(client: TestClient, finished: Callable[..., str], extension: str):
    run_id = finished(name="Midterm")
    answer = client.get(f"/export/{run_id}.{extension}")
    assert answer.status_code == 200
    assert (
        answer.headers["content-disposition"] == f"attachment; filename*=UTF-8''Midterm.{extension}"
    )
    assert answer.content
    assert int(answer.headers["content-length"]) == len(answer.content)


def test_a_run_without_a_judge_has_no_report_of_opencompass(
    client: TestClient, finished: Callable[..., str]
):
    answer = client.get(f"/export/{finished()}.opencompass.md")
    assert (answer.status_code, answer.text[:19]) == (404, "No answers of this ")


@pytest.mark.parametrize("extension", ["trials.jsonl", "json"])
def test_a_larger_run_is_sent_as_another_process_makes_it(
    client: TestClient,
    finished: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
    extension: str,
):
    run_id = finished(name="Midterm")
    small = client.get(f"/export/{run_id}.{extension}?lang=zh")
    monkeypatch.setattr("evalui.web.downloads._MOST_AT_ONCE", 0)
    monkeypatch.setattr("evalui.web.downloads.export_run", None)  # nothing is written here
    large = client.get(f"/export/{run_id}.{extension}?lang=zh")
    assert large.content == small.content
    assert large.headers["content-disposition"] == small.headers["content-disposition"]
    assert "content-length" not in large.headers


def test_an_export_that_fails_is_broken_off(
    client: TestClient,
    desk: AppService,
    finished: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
):
    run_id = finished()
    monkeypatch.setattr("evalui.web.downloads._MOST_AT_ONCE", 0)
    with desk.database.writing() as connection:
        connection.execute("UPDATE trial_block SET body = x'00'")
    with pytest.raises(ExportFailed):
        client.get(f"/export/{run_id}.trials.csv")


@pytest.mark.parametrize("version", ["2.3", "2.4"])  # older servers report who goes otherwise
def test_what_makes_a_file_ends_when_its_reader_goes(version: str):
    ended: list[bool] = []

    async def pieces() -> AsyncGenerator[bytes]:
        try:
            while True:
                yield b"x"
                await asyncio.sleep(0)
        finally:
            ended.append(True)

    async def gone() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.body" and version == "2.4":
            raise OSError

    async def transfer() -> None:
        with suppress(ClientDisconnect):
            await ExportResponse(pieces())(
                {**_SCOPE, "asgi": {"spec_version": version}}, gone, send
            )
        assert ended == [True]

    asyncio.run(transfer())


_SCOPE = {"type": "http", "method": "GET", "path": "/", "headers": []}


def test_a_format_whose_package_is_missing_is_refused_in_words(
    client: TestClient, finished: Callable[..., str], monkeypatch: pytest.MonkeyPatch
):
    run_id = finished()
    monkeypatch.setattr("evalui.report.write.formats.find_spec", lambda _: None)
    answer = client.get(f"/export/{run_id}.trials.parquet")
    assert answer.status_code == 503
    assert "evalui[parquet]" in answer.text


def test_the_archive_holds_the_report(client: TestClient, finished: Callable[..., str]):
    answer = client.get(f"/export/{finished()}.zip")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert {"report.md", "report.json", "trials.jsonl"} <= set(archive.namelist())


def test_a_run_of_another_user_is_not_found(
    client: TestClient,
    finished: Callable[..., str],
    become: Callable[[str], None],
):
    run_id = finished()
    become("bob")
    assert client.get(f"/export/{run_id}.zip").status_code == 404


def test_a_broken_catalog_is_reported_instead_of_a_file(
    client: TestClient, desk: AppService, finished: Callable[..., str]
):
    run_id = finished()
    desk.settings.models.write_text("[", encoding="utf-8")
    answer = client.get(f"/export/{run_id}.zip?lang=zh")
    assert answer.status_code == 503
    assert "models.toml 不是有效的 TOML" in answer.text


def test_an_unknown_kind_of_file_is_not_found(client: TestClient, finished: Callable[..., str]):
    answer = client.get(f"/export/{finished()}.exe")
    assert answer.status_code == 404
    assert "Known: csv" in answer.text


@pytest.mark.parametrize(
    ("address", "target"),
    [
        ("/", "en/"),
        ("/?lang=zh&run=k3f", "zh/?run=k3f"),
        ("/?cells=1&cells=2", "en/?cells=1&cells=2"),
        ("/?lang=../evil", "en/"),
        ("/r/k3f", "../en/?run=k3f"),
        ("/r/a%3Fc", "../en/?run=a%3Fc"),
        ("/r/k3f/q/7", "../../../en/?run=k3f&tab=results&sub=samples&q=7"),
        ("/r/k3f/q/a/7?cell=2", "../../../../en/?run=k3f&tab=results&sub=samples&q=a%2F7&cell=2"),
    ],
)
def test_addresses_lead_to_the_page_at_once(client: TestClient, address: str, target: str):
    assert client.get(address).headers["location"] == target


@pytest.mark.parametrize(
    ("accepted", "language"),
    [("zh-CN,zh;q=0.9,en;q=0.8", "zh"), ("fr,en;q=0.5,zh;q=0.4", "en"), ("fr", "en"), ("", "en")],
)
def test_the_browser_decides_the_first_language(client: TestClient, accepted: str, language: str):
    headers = {"accept-language": accepted}
    assert client.get("/", headers=headers).headers["location"] == f"{language}/"
    assert client.get("/r/k3f", headers=headers).headers["location"].startswith(f"../{language}/")


def test_a_chosen_language_is_kept(client: TestClient):
    chinese = {"accept-language": "zh"}
    assert client.get("/?lang=en", headers=chinese).headers["location"] == "en/"
    assert client.get("/", headers=chinese).headers["location"] == "en/"
    assert client.get("/r/k3f", headers=chinese).headers["location"] == "../en/?run=k3f"


def test_the_server_says_that_it_lives(client: TestClient):
    assert client.get("/healthz").json()["ok"] is True
