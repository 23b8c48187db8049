"""Programs in a real bubblewrap: what is right passes, and what is hostile is a wrong answer."""

import os
import socket
import threading
import time
from pathlib import Path

import pytest
from bubblewrap_here import needs_bubblewrap

from evalui.errors import ModelError
from evalui.modes import bubblewrap
from evalui.modes.bubblewrap import hindrance, run_program

pytestmark = needs_bubblewrap
ADD = "def add(a, b):\n    return a + b\n"
TESTS = "assert add(1, 2) == 3\nassert add(-1, 1) == 0\n"


@pytest.fixture(autouse=True)
def _turned_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALUI_RUN_CODE", "true")


def test_a_right_program_passes_and_a_wrong_one_fails():
    assert hindrance() is None
    assert run_program(ADD, TESTS) == "passed"
    assert run_program(ADD.replace("+", "-"), TESTS) == "failed"
    assert run_program("def add(a):\n    return a\n", TESTS) == "error"
    assert run_program("here is the code:", TESTS) == "error"
    assert run_program("", TESTS) == "error"
    assert run_program("x = '\ud800é'", "assert x[1] == 'é'") == "passed"


def test_what_the_library_of_python_has_is_there():
    program = (
        "import collections, dataclasses, decimal, hashlib, heapq, math, random, re, sqlite3\n"
        "from typing import List\n@dataclasses.dataclass\nclass P:\n    x: 'List[int]'\n"
    )
    assert run_program(program, "assert P([1]).x == [1] and math.gcd(4, 6) == 2") == "passed"
    assert (
        run_program("if __name__ == '__main__':\n    raise ValueError", "assert True") == "passed"
    )
    with_files = "import tempfile\nf = tempfile.TemporaryFile()\nf.write(b'x')\nf.seek(0)\n"
    assert run_program(with_files, "assert f.read() == b'x'") == "passed"


# Each stands below a right program, so that one that is not stopped passes.
HOSTILE = {
    "leaves": ("import sys; sys.exit(0)", "error"),
    "leaves at once": ("import os; os._exit(0)", "stopped"),
    "leaves in a test": ("def add(a, b):\n    raise SystemExit(0)", "error"),
    "leaves at once in a test": ("def add(a, b):\n    import os\n    os._exit(0)", "stopped"),
    "kills itself": ("import os; os.kill(os.getpid(), 9)", "stopped"),
    "recurs without an end": ("def add(a, b):\n    return add(a, b)", "error"),
    "recurs beyond the stack": (
        "import sys; sys.setrecursionlimit(10**8)\n"
        "def add(a, b):\n    return [*map(add, [a], [b])]",
        "stopped",
    ),
    "takes memory": ("x = bytearray(2**31)", "error"),
    "takes memory bit by bit": ("x = []\nwhile True: x.append(bytearray(2**20))", "error"),
    "writes a large file": (
        "f = open('/tmp/x', 'wb')\nfor _ in range(12): f.write(bytes(2**20)); f.flush()",
        "error",
    ),
    "writes many files": (
        "for n in range(64): open(f'/tmp/{n}', 'wb').write(bytes(2**20))",
        "error",
    ),
    "opens many files": ("x = [open('/dev/null') for _ in range(100)]", "error"),
    "writes where Python is": ("import os; open(os.__file__, 'a')", "error"),
    "writes at the root": ("open('/x', 'w')", "error"),
    "reads what is typed": ("x = input()", "error"),
    "starts processes": ("import os\nwhile True: os.fork()", "error"),
    "starts a program": ("import subprocess; subprocess.run(['/bin/sh'])", "error"),
    "starts a thread": ("import threading; threading.Thread(target=print).start()", "error"),
    "makes its own AssertionError": ("assert False", "failed"),
    "answers for the tests": (
        "import os\nfor fd in range(64):\n    try: os.write(fd, b'ready\\npassed\\n')\n"
        "    except OSError: pass",
        "stopped",
    ),
    "prints without an end into what it finds": (
        "import os\nwhile True:\n  for fd in range(64):\n    try: os.write(fd, b'x' * 10**6)\n"
        "    except OSError: pass",
        "stopped",
    ),
}


@pytest.mark.parametrize(("program", "outcome"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_program_is_a_wrong_answer(program: str, outcome: str):
    assert run_program(f"{ADD}\n{program}", TESTS) == outcome


@pytest.mark.parametrize(
    "program",
    [
        "while True: pass",
        "while True: print('x' * 10**6)",
        "import signal; signal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass",
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    ],
)
def test_a_program_without_an_end_is_ended(program: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(bubblewrap.LIMITS, "RLIMIT_CPU", 1)
    began = time.monotonic()
    assert run_program(f"{ADD}\n{program}", TESTS) in ("timeout", "stopped")
    assert time.monotonic() - began < bubblewrap.WALL_S - 5


def test_a_program_that_waits_is_ended(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bubblewrap, "WALL_S", 1.0)
    assert run_program(f"{ADD}\nimport time; time.sleep(100)", TESTS) == "timeout"
    late = "def add(a, b):\n    import time; time.sleep(100)"
    assert run_program(late, TESTS) == "timeout"
    assert threading.active_count() < 50


@pytest.mark.parametrize(
    "program",
    [
        "import builtins\nbuiltins.AssertionError = None",
        "import builtins\nbuiltins.all = builtins.len = builtins.abs = lambda *_: 1",
        "def check(*_): pass",
        "import os, sys\nos.write = sys.exit = os._exit = exec = compile = print",
    ],
)
def test_tests_are_what_they_were(program: str):
    tests = "def check(f):\n    assert all([f(1, 2) == 3, len('ab') == 2])\ncheck(add)"
    assert run_program(f"{program}\ndef add(a, b): return a + b", tests) == "passed"
    assert run_program(f"{program}\ndef add(a, b): return a - b", tests) in ("failed", "error")


def test_nothing_of_the_machine_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("EVALUI_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    (tmp_path / "evalui.sqlite").write_text("store")
    seen = (
        "import os, pathlib\nfound = [str(p) for p in pathlib.Path('/').iterdir()]\n"
        "def exists(p): return pathlib.Path(p).exists()\n"
    )
    tests = (
        f"assert not exists({str(tmp_path)!r}) and not exists({str(Path(__file__))!r})\n"
        "assert not exists('/proc/self') and not exists('/etc/passwd') and not exists('/bin/sh')\n"
        "assert 'OPENAI_API_KEY' not in os.environ and 'PATH' not in os.environ\n"
        "assert os.listdir('/tmp') == [] and os.getpid() < 10\n"
    )
    assert run_program(seen, tests) == "passed"
    reading = f"x = open({str(tmp_path / 'evalui.sqlite')!r}).read()"
    assert run_program(reading, "assert x == 'store'") == "error"


def test_there_is_no_network():
    with socket.create_server(("127.0.0.1", 0)) as server:
        place = server.getsockname()
        socket.create_connection(place).close()
        program = f"import socket; socket.create_connection({place!r}, timeout=1)"
        assert run_program(f"{ADD}\n{program}", TESTS) == "error"


def test_signals_reach_nobody_outside():
    program = (
        "import os, signal\n"
        f"for pid in ({os.getpid()}, {os.getppid()}, os.getppid(), 1, -1):\n"
        "    for number in (signal.SIGTERM, signal.SIGKILL):\n"
        "        try: os.kill(pid, number)\n"
        "        except OSError: pass\n"
    )
    assert run_program(program + ADD, TESTS) == "passed"  # of no use, and so no harm
    assert run_program("import os; os.killpg(0, 9)", TESTS) == "stopped"


_ATTACH = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
assert libc.ptrace(16, 1, None, None) == -1 and ctypes.get_errno() == 1  # PTRACE_ATTACH
assert libc.syscall(434, 1, 0) == -1 and ctypes.get_errno() == 1  # pidfd_open
assert libc.syscall(438, 3, 2, 0) == -1 and ctypes.get_errno() == 1  # pidfd_getfd
assert libc.process_vm_readv(1, None, 0, None, 0, 0) == -1 and ctypes.get_errno() == 1
assert libc.process_vm_writev(1, None, 0, None, 0, 0) == -1 and ctypes.get_errno() == 1
"""


def test_the_process_of_bubblewrap_beside_it_is_out_of_reach():
    # Whoever holds that one has none of the limits, and does not end with the worker.
    assert run_program(_ATTACH + ADD, TESTS) == "passed"


@pytest.mark.parametrize("family", ["AF_INET", "AF_UNIX", "AF_NETLINK", "AF_VSOCK"])
def test_there_is_no_socket_of_any_kind(family: str):
    program = f"import socket\nsocket.socket(socket.{family})\n"
    assert run_program(program + ADD, TESTS) == "error"


def test_words_of_a_program_are_no_failure_of_bubblewrap():
    program = "import os\nfor at in range(64):\n    try: os.write(at, b'bwrap: broken')\n"
    program += "    except OSError: pass\nos._exit(0)\n"
    assert run_program(program, TESTS) in ("stopped", "error")


def test_nothing_is_run_where_nobody_has_turned_it_on(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("EVALUI_RUN_CODE")
    assert "EVALUI_RUN_CODE" in str(hindrance())
    with pytest.raises(ModelError, match="EVALUI_RUN_CODE"):
        run_program(ADD, TESTS)


def test_a_machine_without_bubblewrap_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "apt-get install bubblewrap" in str(hindrance())


def test_a_sandbox_that_fails_is_no_wrong_answer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    assert hindrance() is None
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: no namespaces here' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(ModelError, match="no namespaces here"):
        run_program(ADD, TESTS)
