"""Finished runs of other harnesses by REST: uploaded first, or a path for who may."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

from starlette.testclient import TestClient

LOGS = Path(__file__).parents[2] / "golden" / "harnesses"


def upload(api: TestClient, *paths: Path) -> str:
    files = [("files", (path.name, path.read_bytes())) for path in paths]
    return api.post("/datasets", files=files).json()["id"]


def test_an_uploaded_log_becomes_a_run(api: TestClient) -> None:
    id_ = upload(api, *(LOGS / "lmeval/qwen2-small-4l256").iterdir())
    sent = api.post("/imports", json={"upload": id_, "name": "Mine"})
    assert sent.status_code == 201, sent.text
    run = sent.json()["run"]
    assert (run["name"], run["state"], run["done"]) == ("Mine", "done", 32)
    assert sent.headers["location"] == f"runs/{run['id']}"
    assert len(api.get(f"/runs/{run['id']}/trials").text.splitlines()) == 32
    figures = api.get(f"/runs/{run['id']}/figures").json()
    assert "harness:lm-eval@0.4.13" in str(figures)


def test_a_folder_comes_as_a_zip(api: TestClient, tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in (LOGS / "opencompass").rglob("*.json"):
            archive.write(path, path.relative_to(LOGS))
    (tmp_path / "log.zip").write_bytes(packed.getvalue())
    sent = api.post("/imports", json={"upload": upload(api, tmp_path / "log.zip")})
    assert sent.status_code == 201, sent.text
    assert sent.json()["run"]["done"] == 40


def test_a_table_has_a_mapping_and_states_what_is_left_out(api: TestClient) -> None:
    id_ = upload(api, LOGS / "table/answers.csv")
    mapping = ["question=prompt", "options=one,two,three", "answer=right", "reply=output"]
    sent = api.post("/imports", json={"upload": id_, "mapping": mapping})
    assert sent.status_code == 201, sent.text
    (left_out,) = sent.json()["left_out"]
    assert "disagree with the right answer" in left_out


def test_a_path_is_for_administrators(api: TestClient, become: Callable[..., None]) -> None:
    path = str(LOGS / "helm")
    assert api.post("/imports", json={"path": path}).status_code == 201
    become("eve", "operator")
    assert api.post("/imports", json={"path": path}).status_code == 403
    become("ada", "admin")
    assert api.post("/imports", json={"path": path}).status_code == 201


def test_a_reader_imports_nothing(api: TestClient, become: Callable[..., None]) -> None:
    become("rob", "reader")
    assert api.post("/imports", json={"upload": "0" * 16}).status_code == 403


def test_another_persons_upload_is_unknown(api: TestClient, become: Callable[..., None]) -> None:
    id_ = upload(api, LOGS / "inspect/geography.eval")
    become("eve")
    answer = api.post("/imports", json={"upload": id_})
    assert (answer.status_code, answer.json()["key"]) == (422, "upload-gone")


def test_what_is_no_log_is_answered_with_the_cure(api: TestClient, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    answer = api.post("/imports", json={"upload": upload(api, tmp_path / "a.csv")})
    assert (answer.status_code, answer.json()["key"]) == (422, "log-unknown")
    both = api.post("/imports", json={"upload": "x", "path": "y"})
    assert both.json()["key"] == "import-source"
    assert api.get("/runs").json()["runs"] == []
