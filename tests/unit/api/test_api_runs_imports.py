"""Finished runs of other harnesses by REST: uploaded first, or a path for who may."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

from log_examples import CSV, SAMPLES
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


def test_files_of_a_folder_keep_their_places(api: TestClient) -> None:
    paths = sorted((LOGS / "opencompass").rglob("*.json"))
    files = [("files", (str(path.relative_to(LOGS)), path.read_bytes())) for path in paths]
    id_ = api.post("/datasets", files=files).json()["id"]
    sent = api.post("/imports", json={"upload": id_})
    assert sent.status_code == 201, sent.text
    assert {cell["model"] for cell in sent.json()["run"]["cells"]} == {"pick-a"}


def test_a_table_has_a_mapping_and_states_what_is_left_out(api: TestClient) -> None:
    id_ = upload(api, LOGS / "table/answers.csv")
    mapping = ["question=prompt", "options=one,two,three", "answer=right", "reply=output"]
    sent = api.post("/imports", json={"upload": id_, "mapping": mapping})
    assert sent.status_code == 201, sent.text
    (left_out,) = sent.json()["left_out"]
    assert "disagree with the right answer" in left_out


def test_a_model_that_no_file_states_is_named(api: TestClient) -> None:
    id_ = upload(api, SAMPLES)
    refused = api.post("/imports", json={"upload": id_})
    assert (refused.status_code, refused.json()["key"]) == (422, "log-model-unnamed")
    sent = api.post("/imports", json={"upload": id_, "models": ["qwen2"]})
    assert sent.status_code == 201, sent.text
    assert [cell["model"] for cell in sent.json()["run"]["cells"]] == ["qwen2"]
    more = api.post("/imports", json={"upload": id_, "models": ["a", "b"]})
    assert more.json()["key"] == "log-models"


def test_questions_beside_a_log_are_left_out_by_name(api: TestClient, tmp_path: Path) -> None:
    (tmp_path / "capitals.csv").write_bytes(CSV)
    id_ = upload(api, LOGS / "inspect/geography.eval", tmp_path / "capitals.csv")
    refused = api.post("/imports", json={"upload": id_})
    assert (refused.status_code, refused.json()["key"]) == (422, "log-apart")
    sent = api.post("/imports", json={"upload": id_, "without": ["capitals.csv"]})
    assert sent.status_code == 201, sent.text


def test_names_of_models_and_files_go_with_an_upload(api: TestClient) -> None:
    for more in ({"models": ["a"]}, {"without": ["a.csv"]}, {"mapping": ["question=q"]}):
        sent = api.post("/imports", json={"path": str(LOGS / "helm"), **more})
        assert sent.json()["key"] == "import-source"


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
