"""Installs this project into the environment whose Python runs the script, by uv or else by pip.

    .venv/bin/python scripts/install.py '.[test,dev]'

uv is several times faster and reads nothing that pip is configured with, so that configuration is
passed on to it. Where uv cannot be had or fails, pip installs the same, and one line says why.
"""

import ast
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Mapping
from pathlib import Path

PINS = ("-c", "constraints.txt")
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")
Run = Callable[..., "subprocess.CompletedProcess[str]"]

# pip's option -> uv's variable, and what stands between several values (in pip: white space).
OPTIONS = {
    "index-url": ("UV_DEFAULT_INDEX", " "),
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "trusted-host": ("UV_INSECURE_HOST", " "),
    "cert": ("SSL_CERT_FILE", ""),
    "client-cert": ("SSL_CLIENT_CERT", ""),
    "proxy": ("ALL_PROXY", ""),
    "timeout": ("UV_HTTP_TIMEOUT", ""),
    "default-timeout": ("UV_HTTP_TIMEOUT", ""),
}
# Without a GPU these are gigabytes for nothing. nvidia-ml-py only reads a driver that is there.
CUDA_PACKAGE = re.compile(r"(?:nvidia-(?!ml-py\b)|triton\b|cuda-)[\w.-]*")
CUDA_DEVICES = (Path("/dev/nvidiactl"), Path("/dev/dxg"))  # the second in WSL


def options(listing: str) -> dict[str, str]:
    """pip's options for `install` by name, from what `pip config list` prints.

    What the environment says wins over files, and what files say for `install` over the rest.
    """
    found: dict[str, dict[str, str]] = {"global": {}, "install": {}, ":env:": {}}
    for line in listing.splitlines():
        if match := re.fullmatch(r"(global|install|:env:)\.([a-z-]+)=(['\"].*)", line):
            section, name, value = match.groups()
            found[section][name] = str(ast.literal_eval(value))
    return found["global"] | found["install"] | found[":env:"]


def uv_environment(listing: str, environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for uv: what pip is configured with, unless it is set for uv itself.

    `listing` is what `pip config list` prints.
    """
    settings = {
        # As pip does: the best version of all indexes, and a build 2.13.0+cpu before 2.13.0.
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_NO_PROGRESS": "1",
    }
    if bundle := environment.get("REQUESTS_CA_BUNDLE") or environment.get("CURL_CA_BUNDLE"):
        settings["SSL_CERT_FILE"] = bundle
    for name, value in options(listing).items():
        if name in OPTIONS and value.strip():
            variable, between = OPTIONS[name]
            settings[variable] = between.join(value.split()) if between else value
    own = {name: value for name, value in environment.items() if name.startswith("UV_")}
    return {**environment, **settings, **own}


def cuda_packages(plan: str) -> list[str]:
    """What uv would install for CUDA, from the lines ` + name==version` of a dry run."""
    names = re.findall(r"^ \+ ([^=@\s]+)", plan, re.MULTILINE)
    return [name for name in names if CUDA_PACKAGE.fullmatch(name)]


def reason(output: str) -> str:
    """What uv or pip stopped with, and the last cause it names, as one line."""
    lines = [line.strip(" \t×│╰╭─▶├·") for line in output.splitlines()]
    said = [line for line in lines if line and not line.lower().startswith(("warning", "hint"))]
    first = [line for line in said if line.lower().startswith("error")] or said
    return ": ".join(dict.fromkeys([*first[:1], *said[-1:]]))[:300] or "it stopped without a word"


def with_uv(target: str, environment: Mapping[str, str], run: Run, cuda: bool) -> str:
    """Installs with uv. Returns why it did not work, or "" where it did."""
    piped = {"capture_output": True, "text": True}
    brought = run([*PIP, "install", "--quiet", *PINS, "uv"], **piped)
    if brought.returncode:
        return f"uv cannot be installed: {reason(brought.stderr)}"
    listing = run([*PIP, "config", "list"], **piped).stdout
    uv = str(Path(sysconfig.get_path("scripts")) / "uv")
    command = [uv, "pip", "install", "--python", sys.executable, *PINS, *what(target)]
    piped["env"] = uv_environment(listing, environment)
    if not cuda:
        plan = run([*command, "--dry-run"], **piped)
        if plan.returncode == 0 and cuda_packages(plan.stderr):
            command += ["--torch-backend", "cpu"]
    done = run([*command, "--quiet", "--compile-bytecode"], **piped)
    return f"uv failed: {reason(done.stderr)}" if done.returncode else ""


def install(
    target: str, environment: Mapping[str, str], *, run: Run = subprocess.run, cuda: bool = True
) -> int:
    """Installs `target`, pinned: a wheel, or a folder (with its extras) for editing.

    Returns the exit status. `cuda` says whether the machine has such a device; without one torch
    is the CPU's.
    """
    if why := with_uv(target, environment, run, cuda):
        sys.stderr.write(f"install: {why}; pip installs instead.\n")
        return run([*PIP, "install", "--quiet", *PINS, *what(target)]).returncode
    return 0


def what(target: str) -> tuple[str, ...]:
    """The arguments that name it: a folder is installed for editing, a wheel is not."""
    return (target,) if target.endswith(".whl") else ("--editable", target)


def has_cuda() -> bool:
    """Whether the machine has a CUDA device, or cannot be told to have none."""
    return sys.platform != "linux" or any(path.exists() for path in CUDA_DEVICES)


if __name__ == "__main__":
    sys.exit(install(sys.argv[1], os.environ, cuda=has_cuda()))
