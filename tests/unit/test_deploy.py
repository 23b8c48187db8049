"""What is shipped for hosting fits the product and the tools that read it."""

import json
import re
import shlex
import shutil
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families
from proxy_examples import NGINX, write_site

from evalui.cli import main as cli
from evalui.settings import Settings
from evalui.store.connection import Database
from evalui.ui.web.monitoring import Monitoring

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
HOSTING = (ROOT / "docs" / "hosting.md").read_text(encoding="utf-8")
SYSTEMD = shutil.which("systemd-analyze")


def settings_of(unit: Path) -> list[tuple[str, str]]:
    """The lines `name=value` of a unit, in order."""
    lines = unit.read_text(encoding="utf-8").splitlines()
    pairs = (line.partition("=") for line in lines if "=" in line and not line.startswith("#"))
    return [(name, value) for name, _, value in pairs]


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_unit_runs_a_command_that_there_is(unit: Path):
    program, *arguments = shlex.split(dict(settings_of(unit))["ExecStart"])
    assert program == "/opt/evalui/bin/evalui"
    assert callable(cli._parser(arguments).parse_args(arguments).command)


def test_both_units_are_closed_in_the_same_way():
    server, worker = (list(settings_of(unit)) for unit in UNITS if "backup" not in unit.name)
    begins = [place for place, (name, _) in enumerate(server) if name == "NoNewPrivileges"]
    assert begins
    closed = server[begins[0] : -1]
    assert closed == worker[-1 - len(closed) : -1]
    assert len(closed) > 20


@pytest.mark.skipif(SYSTEMD is None, reason="systemd-analyze is not installed (Debian: systemd)")
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_takes_a_unit_and_calls_it_closed(unit: Path, tmp_path: Path):
    text = unit.read_text(encoding="utf-8")
    copy = tmp_path / unit.name
    copy.write_text(text.replace("/opt/evalui/bin/evalui", "/bin/true"), encoding="utf-8")
    assert SYSTEMD
    verified = subprocess.run(
        [SYSTEMD, "verify", "--man=no", str(copy)], capture_output=True, text=True, check=False
    )
    assert (verified.returncode, verified.stderr) == (0, "")
    command = [SYSTEMD, "security", "--offline=yes", "--no-pager", "--threshold=25", str(copy)]
    rated = subprocess.run(command, capture_output=True, text=True, check=False)
    assert rated.returncode == 0, rated.stdout[-300:] + rated.stderr


@pytest.mark.skipif(NGINX is None, reason="nginx is not installed (Debian: nginx-light)")
def test_nginx_takes_the_site(tmp_path: Path):
    write_site(tmp_path, http_port=18080, https_port=18443, server_port=17860)
    command = [str(NGINX), "-t", "-c", str(tmp_path / "nginx.conf")]
    tested = subprocess.run(command, capture_output=True, text=True, check=False)
    assert tested.returncode == 0, tested.stderr


def test_no_place_of_the_site_passes_on_what_a_visitor_states_of_people():
    site = (DEPLOY / "nginx" / "evalui.conf").read_text(encoding="utf-8")
    passing = [part for part in site.split("location ")[1:] if "proxy_pass" in part]
    assert len(passing) == 2
    for part in passing:
        assert "proxy_set_header X-Forwarded-For $remote_addr;" in part
        for name in ("user", "groups"):
            header = Settings.model_fields[f"proxy_{name}_header"].default
            assert f'proxy_set_header {header} "";' in part
    for header in ("X-Forwarded-Host", "X-Gradio-Server", "Forwarded"):
        assert f'proxy_set_header {header} "";' in passing[-1]


def test_the_variables_for_the_units_are_settings(monkeypatch: pytest.MonkeyPatch):
    lines = (DEPLOY / "systemd" / "evalui.env").read_text(encoding="utf-8").splitlines()
    given = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    for name, value in given.items():
        assert name.removeprefix("EVALUI_").lower() in Settings.model_fields
        monkeypatch.setenv(name, value)
    made = Settings()
    assert (made.root_path, made.allowed_hosts) == ("/evalui", ["box.example.org"])
    assert [str(each) for each in made.proxy_addresses] == ["127.0.0.1/32"]  # nginx


def test_the_site_takes_uploads_as_large_as_the_server_does():
    site = (DEPLOY / "nginx" / "evalui.conf").read_text(encoding="utf-8")
    (limit,) = re.findall(r"client_max_body_size (\d+)m;", site)
    assert int(limit) > Settings.model_fields["max_upload_mb"].default
    assert f"127.0.0.1:{Settings.model_fields['port'].default}/;" in site


# ------------------------------------------------------------ the container file

KNOWN = {
    *("ARG", "FROM", "WORKDIR", "RUN", "COPY", "ENV", "USER", "VOLUME", "EXPOSE"),
    *("HEALTHCHECK", "STOPSIGNAL", "ENTRYPOINT", "CMD"),
}


def instructions() -> list[tuple[str, str]]:
    """The instructions of the container file, lines that go on put together."""
    text = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    kept = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    lines = [line for line in kept.replace("\\\n", " ").splitlines() if line.strip()]
    return [(name, rest.strip()) for name, _, rest in (line.partition(" ") for line in lines)]


def test_the_container_file_has_known_instructions_only():
    assert {name for name, _ in instructions()} <= KNOWN
    for name, rest in instructions():
        if name in ("ENTRYPOINT", "CMD"):
            assert all(isinstance(part, str) for part in json.loads(rest))


def test_everything_that_is_copied_is_there_and_is_all_that_a_build_needs():
    copied: set[str] = set()
    for name, rest in instructions():
        if name == "COPY" and not rest.startswith("--from=build"):
            *sources, _ = rest.split()
            copied.update(sources)
    assert copied
    assert [source for source in sorted(copied) if not (ROOT / source).exists()] == []
    build = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    needed = {
        "pyproject.toml",
        "LICENSE",
        "NOTICE",
        *re.findall(r'^readme = "(.+)"', build, re.MULTILINE),
    }
    needed |= set(re.findall(r'^packages = \["(.+)"\]', build, re.MULTILINE))
    needed |= set(re.findall(r'^"(assets)" = ', build, re.MULTILINE))
    assert needed <= copied
    stages = [
        rest.split(" AS ")[1] for name, rest in instructions() if " AS " in rest and name == "FROM"
    ]
    assert stages == ["build"]


def test_a_container_runs_as_nobody_special_with_a_volume_and_a_health_check():
    last = dict(instructions())
    assert last["USER"] == "10001:10001"
    assert last["VOLUME"] == "/var/lib/evalui"
    assert last["EXPOSE"] == str(Settings.model_fields["port"].default)
    assert "/healthz" in last["HEALTHCHECK"]
    code = json.loads(last["HEALTHCHECK"].partition("CMD ")[2])
    compile(code[2], "health check", "exec")
    entry = [*json.loads(last["ENTRYPOINT"]), *json.loads(last["CMD"])]
    assert callable(cli._parser(entry[1:]).parse_args(entry[1:]).command)
    environment = dict(pair.split("=", 1) for pair in last["ENV"].split())
    names = {name for name in environment if name.startswith("EVALUI_")}
    assert {name.removeprefix("EVALUI_").lower() for name in names} <= set(Settings.model_fields)
    order = [name for name, _ in instructions()]
    assert order.index("USER") > max(n for n, name in enumerate(order) if name == "RUN")


# ------------------------------------------------------------ files for other tools


def test_alerts_and_dashboard_ask_for_figures_that_there_are(tmp_path: Path):
    settings = Settings(data_dir=tmp_path)
    with closing(Database(settings.database)) as database:
        shown = Monitoring(settings, database).read_metrics().body.decode()
    figures = {family.name for family in text_string_to_metric_families(shown)}
    figures |= {f"{name}_{part}" for name in figures for part in ("count", "bucket", "sum")}
    alerts = yaml.safe_load((DEPLOY / "prometheus" / "evalui.rules.yml").read_text("utf-8"))
    (group,) = alerts["groups"]
    asked = [rule["expr"] for rule in group["rules"]]
    dashboard = json.loads((DEPLOY / "grafana" / "evalui.json").read_text("utf-8"))
    asked += [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    named = {name for each in asked for name in re.findall(r"\b(?:evalui|process)_\w+", each)}
    assert len(named) > 12
    assert named - figures == set()


def test_compose_and_quadlet_start_the_image_as_the_documents_do():
    (service,) = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))["services"].values()
    assert (DEPLOY / service["build"]["context"] / service["build"]["dockerfile"]).exists()
    unit = settings_of(DEPLOY / "quadlet" / "evalui.container")
    variables = {value.partition("=")[0] for name, value in unit if name == "Environment"}
    assert variables == set(service["environment"])
    assert {name.removeprefix("EVALUI_").lower() for name in variables} <= set(
        Settings.model_fields
    )
    assert dict(unit)["PublishPort"] == service["ports"][0] == "127.0.0.1:7860:7860"
    assert dict(unit)["ShmSize"] == service["shm_size"] == "1g"


# ------------------------------------------------------------ the table of settings


def default_of(name: str) -> str:
    """A default as the table writes it."""
    value = Settings.model_fields[name].default
    if isinstance(value, Path):
        home = str(Path.home())
        inside = str(value).replace(home, "~")
        return inside.replace(str(ROOT), "").lstrip("/")
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None or value == [] else str(value)


def test_the_table_of_settings_names_each_and_its_default():
    (section,) = re.findall(r"^## Settings\n(.*?)^## ", HOSTING, re.MULTILINE | re.DOTALL)
    rows = dict(re.findall(r"^\| `EVALUI_([A-Z_0-9]+)` \|([^|]*)\|", section, re.MULTILINE))
    expected = {name.upper(): default_of(name) for name in Settings.model_fields}
    assert {name: rows.get(name, "missing").strip(" `") for name in expected} == expected
    extra = {"SECRET_KEY"}  # read beside the settings
    assert set(rows) == set(expected) | extra


def test_settings_that_the_documents_name_exist():
    pages = [ROOT / "SECURITY.md", *(ROOT / "docs").glob("*.md")]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    named = set(re.findall(r"EVALUI_([A-Z_0-9]+[A-Z0-9])(?![A-Z_0-9])", text))
    assert named - {name.upper() for name in Settings.model_fields} <= {"SECRET_KEY", "RECORD"}
