"""How `make` brings in what is needed: by uv with pip's configuration, else by pip."""

import importlib.metadata
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
LISTING = """\
global.cert='/etc/ca.pem'
global.extra-index-url='https://more.example/simple file:///srv/simple'
global.index-url='https://mirror.example/simple'
install.find-links='/srv/wheels https://wheels.example/'
list.format='columns'
:env:.trusted-host='\\nmirror.example\\nmore.example'
:env:.index-url="https://nearer.example/simple"
:env:.default-timeout='180'
"""
PLAN = " + nvidia-ml-py==13.615.71\n - setuptools==65.5.0\n + torch==2.13.0{}\n"


class Programs:
    """What pip and uv would do; `broken` names the step that fails and its output."""

    def __init__(self, broken: str = "", output: str = "", plan: str = PLAN.format("+cpu")):
        self.broken, self.output, self.plan = broken, output, plan
        self.ran: list[list[str]] = []
        self.environment: dict[str, str] = {}

    def __call__(self, command: Sequence[str], **options: Any) -> Any:
        self.ran.append(list(command))
        self.environment = options.get("env", self.environment)
        words = " ".join(command)
        if self.broken and re.search(self.broken, words):
            return subprocess.CompletedProcess(command, 1, "", self.output)
        shown = LISTING if words.endswith("config list") else ""
        planned = self.plan if "--dry-run" in command else ""
        return subprocess.CompletedProcess(command, 0, shown, planned)


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    import install

    return install


def test_uv_goes_by_what_pip_is_configured_with(script: ModuleType):
    found = script.uv_environment(LISTING, {"HOME": "/root"})
    assert found == {
        "HOME": "/root",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_NO_PROGRESS": "1",
        "UV_DEFAULT_INDEX": "https://nearer.example/simple",
        "UV_INDEX": "https://more.example/simple file:///srv/simple",
        "UV_FIND_LINKS": "/srv/wheels,https://wheels.example/",
        "UV_INSECURE_HOST": "mirror.example more.example",
        "UV_HTTP_TIMEOUT": "180",
        "SSL_CERT_FILE": "/etc/ca.pem",
    }


def test_what_is_set_for_uv_itself_stays(script: ModuleType):
    found = script.uv_environment(LISTING, {"UV_INDEX": "https://own.example/simple"})
    assert found["UV_INDEX"] == "https://own.example/simple"


def test_a_bundle_that_pip_would_take_from_the_environment_serves_uv(script: ModuleType):
    assert script.uv_environment("", {"REQUESTS_CA_BUNDLE": "/b"})["SSL_CERT_FILE"] == "/b"
    assert (
        script.uv_environment(LISTING, {"CURL_CA_BUNDLE": "/b"})["SSL_CERT_FILE"] == "/etc/ca.pem"
    )


def test_uv_installs_pinned_and_compiled(script: ModuleType, capfd: pytest.CaptureFixture[str]):
    programs = Programs()
    assert script.install(".[test,dev]", {}, run=programs, cuda=False) == 0
    brought, last = programs.ran[0], programs.ran[-1]
    assert brought[-3:] == ["-c", "constraints.txt", "uv"]
    assert Path(last[0]).name == "uv"
    assert {"constraints.txt", ".[test,dev]", "--compile-bytecode"} < set(last)
    assert "--torch-backend" not in last
    assert programs.environment["UV_FIND_LINKS"] == "/srv/wheels,https://wheels.example/"
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("broken", "output", "line"),
    [
        (
            " install .* uv$",
            "WARNING: slow\nERROR: No matching distribution found for uv\n",
            "install: uv cannot be installed: ERROR: No matching distribution found for uv; "
            "pip installs instead.\n",
        ),
        (
            "/uv pip install .*--compile-bytecode",
            "  × Failed to fetch: `https://a.example/`\n  ╰─▶ invalid peer certificate\n",
            "install: uv failed: Failed to fetch: `https://a.example/`: invalid peer certificate; "
            "pip installs instead.\n",
        ),
        (
            "/uv pip install .*--compile-bytecode",
            "error: Failed to build `evalui`\n  cause: no answer\n  cause: refused\n",
            "install: uv failed: error: Failed to build `evalui`: cause: refused; "
            "pip installs instead.\n",
        ),
    ],
)
def test_pip_installs_with_one_line_of_reason(
    script: ModuleType, capfd: pytest.CaptureFixture[str], broken: str, output: str, line: str
):
    programs = Programs(broken, output)
    assert script.install(".", {}, run=programs) == 0
    assert capfd.readouterr().err == line
    assert programs.ran[-1][1:3] == ["-m", "pip"]
    assert programs.ran[-1][-4:] == ["-c", "constraints.txt", "--editable", "."]


def test_a_wheel_is_installed_as_it_is(script: ModuleType):
    programs = Programs()
    assert script.install("dist/evalui-0.1.0-py3-none-any.whl", {}, run=programs) == 0
    (installed,) = [command for command in programs.ran if "--compile-bytecode" in command]
    assert "dist/evalui-0.1.0-py3-none-any.whl" in installed
    assert "--editable" not in installed


def test_the_status_is_pip_s_where_both_fail(script: ModuleType):
    assert script.install(".", {}, run=Programs("install", "error: no network")) == 1


def test_an_index_with_cuda_builds_only_gives_the_cpu_s_torch_where_there_is_no_gpu(
    script: ModuleType,
):
    plan = PLAN.format("") + " + nvidia-cublas==13.1\n + triton==3.5\n + cuda-toolkit==13.0\n"
    assert script.cuda_packages(plan) == ["nvidia-cublas", "triton", "cuda-toolkit"]
    without, with_gpu = Programs(plan=plan), Programs(plan=plan)
    script.install(".", {}, run=without, cuda=False)
    script.install(".", {}, run=with_gpu, cuda=True)
    assert without.ran[-1].count("--torch-backend") == 1
    assert with_gpu.ran[-1].count("--torch-backend") == 0


def test_no_cuda_library_is_installed_where_there_is_no_cuda_device(script: ModuleType):
    if script.has_cuda():
        pytest.skip("there is a CUDA device")
    names = {found.name.lower().replace("_", "-") for found in importlib.metadata.distributions()}
    assert {"torch", "nvidia-ml-py"} <= names
    assert sorted(name for name in names if script.CUDA_PACKAGE.fullmatch(name)) == []


def test_the_installer_and_the_checkers_are_pinned():
    pinned = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    assert re.findall(r"^(uv|pyright|ruff)==[\d.]+$", pinned, re.MULTILINE) == [
        "pyright",
        "ruff",
        "uv",
    ]
