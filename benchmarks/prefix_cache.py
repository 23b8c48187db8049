"""How often the prefix cache of a vLLM server hits, as evalui sends requests and at random.

    python -m benchmarks.prefix_cache --python .venv-vllm/bin/python

It starts vLLM on the CPU with the demo model, and runs the sample files with worked examples
through a proxy that keeps what was sent. The same requests are then sent in random order; the cache
is emptied before. Shares are of the tokens of all prompts by vLLM's own counters, so they do not
depend on the speed of the machine.
"""

import argparse
import asyncio
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from aiohttp import ClientSession, web

ROOT = Path(__file__).parents[1]
SAMPLES = ROOT / "assets" / "samples" / "demo"
SUBJECTS = ("capitals_en", "arithmetic_en", "opposites_en", "words_en")
CELLS = (("multiple_choice", "circular"), ("multiple_choice", "origin"), ("cloze", "origin"))
CONCURRENCY = 8
BLOCK = 32  # tokens, as few as vLLM takes on a CPU; by default it takes 128 there
ROOMS = (65_536, 2048)  # tokens: room for all prompts, and for some more than are in flight
_COUNTER = re.compile(r"^vllm:prefix_cache_(queries|hits)_total\{.*\} (\S+)$", re.MULTILINE)
_START_S = 180


def main() -> None:
    """Print a table of Markdown."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--python", required=True, help="of an environment that has vLLM")
    parser.add_argument("--shots", type=int, default=3)
    parser.add_argument("--limit", type=int, default=20, help="questions of a subject")
    parser.add_argument("--block-size", type=int, default=BLOCK, help="tokens; vLLM's own is 128")
    given = parser.parse_args()
    print("| requests | prompts | room, in tokens | in the order sent | in random order |")
    print("|---|---|---|---|---|")
    for room in ROOMS:
        with tempfile.TemporaryDirectory() as folder:
            port = _free_port()
            server = _start(given, port, room, Path(folder) / "vllm.log")
            try:
                asyncio.run(_measure(f"http://127.0.0.1:{port}", given, room, Path(folder)))
            finally:
                server.terminate()
                server.wait()


async def _measure(server: str, given: argparse.Namespace, room: int, folder: Path) -> None:
    for mode, pattern in (
        ("multiple_choice", "circular"),
        ("multiple_choice", "origin"),
        ("cloze", "origin"),
    ):
        bodies: list[tuple[str, bytes]] = []
        await _reset(server)
        before = await _counters(server)
        await _evaluate(server, mode, pattern, given, folder, bodies)
        sent = _share(before, await _counters(server))
        shuffled = random.Random(0).sample(bodies, len(bodies))
        await _reset(server)
        before = await _counters(server)
        await _send(server, shuffled)
        drawn = _share(before, await _counters(server))
        name = f"{mode}, {pattern}, {given.shots} worked examples"
        print(f"| {name} | {len(bodies)} | {room:,} | {sent:.1%} | {drawn:.1%} |", flush=True)


async def _evaluate(
    server: str,
    mode: str,
    pattern: str,
    given: argparse.Namespace,
    folder: Path,
    bodies: list[tuple[str, bytes]],
) -> None:
    """Run evalui against the server, and keep each prompt that is sent."""

    async def forward(request: web.Request) -> web.Response:
        body = await request.read()
        if request.method == "POST" and request.path.endswith("completions"):
            bodies.append((request.path, body))
        headers = {"content-type": request.headers.get("content-type", "")}
        async with session.request(
            request.method, server + request.path_qs, data=body or None, headers=headers
        ) as answer:
            content = await answer.read()
            kind = answer.headers.get("content-type", "application/json").partition(";")[0]
            return web.Response(body=content, status=answer.status, content_type=kind)

    async with ClientSession() as session:
        proxy = web.Application(client_max_size=2**24)
        proxy.router.add_route("*", "/{rest:.*}", forward)
        runner = web.AppRunner(proxy)
        await runner.setup()
        port = _free_port()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        out = folder / f"{mode}-{pattern}"
        models = folder / "models.toml"
        tokenizer = ROOT / "assets" / "models" / "demo-late"
        models.write_text(
            f'[served]\nbackend = "openai"\npath = "demo"\nmax_length = 510\noptions = '
            f'{{ base_url = "http://127.0.0.1:{port}/v1", tokenizer = "{tokenizer}", '
            f"concurrency = {CONCURRENCY} }}\n",
            encoding="utf-8",
        )
        data = folder / "questions"
        data.mkdir(exist_ok=True)
        for name in SUBJECTS:
            for part in ("dev", "val"):
                shutil.copy(SAMPLES / f"{name}_{part}.csv", data)
        command = [sys.executable, "-m", "evalui.cli", "run", "--out", str(out), "--no-reuse"]
        command += ["--models-file", str(models), "--model", "served", "--no-chat"]
        command += ["--mode", mode, "--pattern", pattern, "--shots", str(given.shots)]
        command += ["--limit", str(given.limit), "--dataset", str(data)]
        process = await asyncio.create_subprocess_exec(
            *command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=ROOT
        )
        _, errors = await process.communicate()
        await runner.cleanup()
        if process.returncode:
            raise SystemExit(errors.decode()[-2000:])


async def _send(server: str, bodies: Sequence[tuple[str, bytes]]) -> None:
    """Send requests, as many at a time as evalui does."""
    room = asyncio.Semaphore(CONCURRENCY)
    headers = {"content-type": "application/json"}

    async def send(session: ClientSession, path: str, body: bytes) -> None:
        async with room, session.post(server + path, data=body, headers=headers) as answer:
            await answer.read()

    async with ClientSession() as session:
        await asyncio.gather(*(send(session, path, body) for path, body in bodies))


async def _reset(server: str) -> None:
    async with ClientSession() as session, session.post(f"{server}/reset_prefix_cache") as answer:
        answer.raise_for_status()


async def _counters(server: str) -> dict[str, float]:
    async with ClientSession() as session, session.get(f"{server}/metrics") as answer:
        return {name: float(value) for name, value in _COUNTER.findall(await answer.text())}


def _share(before: dict[str, float], after: dict[str, float]) -> float:
    asked = after["queries"] - before["queries"]
    return (after["hits"] - before["hits"]) / asked if asked else 0.0


def _start(given: argparse.Namespace, port: int, room: int, log: Path) -> subprocess.Popen[bytes]:
    size = given.block_size
    command = [given.python, "-m", "vllm.entrypoints.openai.api_server", "--dtype", "float32"]
    command += ["--model", str(ROOT / "assets" / "models" / "demo-late"), "--enforce-eager"]
    command += ["--served-model-name", "demo", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--max-model-len", "512", "--enable-prefix-caching"]
    command += ["--block-size", str(size), "--num-gpu-blocks-override", str(room // size)]
    outside = {
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_LOGGING_LEVEL": "WARNING",
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_SERVER_DEV_MODE": "1",  # which has the route that empties the cache
        "HF_HUB_OFFLINE": "1",
        "TORCHDYNAMO_DISABLE": "1",
        "OMP_NUM_THREADS": "1",
    }
    with log.open("wb") as file:
        process = subprocess.Popen(
            command, env={**os.environ, **outside}, stdout=file, stderr=subprocess.STDOUT
        )
    end = time.monotonic() + _START_S
    while process.poll() is None and time.monotonic() < end:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2).close()
        except OSError:
            time.sleep(0.5)
        else:
            return process
    process.kill()
    raise SystemExit(f"vLLM did not start:\n{log.read_text(errors='replace')[-2000:]}")


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


if __name__ == "__main__":
    main()
