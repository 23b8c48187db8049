"""Programs that models write are run in bubblewrap, where they reach nothing and take little.

There is no network, no process to signal, no variable and no file but Python's own library and an
empty /tmp; time, memory, files and output are limited, and neither a process nor a thread can be
started. What a program prints goes nowhere. It says nothing itself: `_drive`, which runs it there,
says whether its tests have passed.

The tests run in the interpreter that has run the program, as those of HumanEval and MBPP do. They
come after it, with a secret that must come back, so that a program passes by no exit and no output
of its own. One that is written against this module could still read them when they come, or
return what says that it equals everything.
"""

import os
import platform
import secrets
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from inspect import getsource
from shutil import which
from threading import Timer
from typing import IO, Literal

from evalui.errors import ModelError
from evalui.messages import Sentence, sentence

# failed: a test was not met; error: the program or a test raised something else; stopped: it ended
# without a word, by itself or at the limit of something other than time.
Outcome = Literal["passed", "failed", "error", "timeout", "stopped"]

WALL_S = 15.0  # for a program that waits, or whose machine is busy
_STARTING_S = 60.0  # until Python takes the program
_FILES_BYTES = 2**24  # of all files in /tmp
# What is set of `resource`, by name; a process cannot raise its own.
LIMITS: dict[str, int] = {
    "RLIMIT_AS": 2**30,
    "RLIMIT_CORE": 0,
    "RLIMIT_CPU": 5,
    "RLIMIT_FSIZE": _FILES_BYTES // 2,
    "RLIMIT_MEMLOCK": 0,
    "RLIMIT_MSGQUEUE": 0,
    "RLIMIT_NOFILE": 64,
}
_BEGUN, _READY = b"begun\n", b"ready\n"
_SECRET_BYTES = 16
_MAX_SAID = 64  # bytes of a line of what is said
_NOBODY = "65534"  # within the sandbox; outside, it is who runs this
_READ_ONLY = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache")

# What is refused by its number: whatever starts a process or a thread, since a limit on their
# number does not hold for root; what keeps memory outside the process, which no limit counts; what
# reaches into bubblewrap's own process beside it; and sockets, some of which reach a host.
# From linux/unistd.h, for x86-64 and for ARM64, which lacks some.
_REFUSED: Mapping[str, tuple[int | None, int | None]] = {
    "clone": (56, 220),
    "clone3": (435, 435),
    "fork": (57, None),
    "vfork": (58, None),
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "io_uring_setup": (425, 425),
    "add_key": (248, 217),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "socket": (41, 198),
}
_MACHINES: Mapping[str, tuple[int, int]] = {  # the place of its numbers, and AUDIT_ARCH_*
    "x86_64": (0, 0xC000003E),
    "aarch64": (1, 0xC00000B7),
}
_X32 = 0x40000000  # above, the same calls have other numbers


def hindrance() -> Sentence | None:
    """Why no program of a model is run on this machine, None if it is."""
    from evalui.settings import read_settings  # pydantic, which modes alone do without

    if not read_settings().run_code:
        return sentence("error.code-off")
    if not which("bwrap"):
        return sentence("error.code-no-bwrap")
    try:
        _try_out()
    except ModelError as error:
        return error.sentence
    return None


def run_program(program: str, tests: str) -> Outcome:
    """What became of a Python program, and of the tests that ran after it.

    Raises:
        ModelError: programs are not run here.
    """
    if reason := hindrance():
        raise ModelError(reason)
    outcome, complaint = _run(program, tests)
    if complaint:  # that is no fault of the program
        raise ModelError("code-bwrap-fails", reason=complaint)
    return outcome


@cache  # which does not keep what is raised: a busy machine may fail once
def _try_out() -> None:
    """Run a program that does nothing; raises `ModelError` if that cannot be."""
    if platform.machine() not in _MACHINES:
        raise ModelError("code-bwrap-fails", reason=platform.machine())
    outcome, complaint = _run("", "")
    if complaint or outcome != "passed":
        raise ModelError("code-bwrap-fails", reason=complaint or outcome)


def _run(program: str, tests: str) -> tuple[Outcome, str]:
    """What became of it; and what bubblewrap or Python said, if it has not even begun."""
    secret = secrets.token_hex(_SECRET_BYTES)
    with _start() as process:
        assert process.stdin, "it is a pipe"
        assert process.stdout, "it is a pipe"
        assert process.stderr, "it is a pipe"
        try:
            with _killed_after(_STARTING_S, process):
                if process.stdout.readline(_MAX_SAID) != _BEGUN:
                    process.kill()
                    complaint = process.stderr.read().decode(errors="replace").strip()
                    last = complaint.rpartition("\n")[2]
                    return "stopped", last or f"exit code {process.wait()}"
            began = time.monotonic()
            with _killed_after(WALL_S, process):
                said = _exchange(process.stdin, process.stdout, program, (tests, secret))
                if said:
                    process.kill()
                code = process.wait()
        finally:
            process.kill()
    if said == secret:
        return "passed", ""
    if said == "failed":
        return "failed", ""
    if said == "error":
        return "error", ""
    is_late = time.monotonic() - began >= WALL_S or code - 128 == signal.SIGXCPU
    return ("timeout" if is_late else "stopped"), ""


@contextmanager
def _killed_after(seconds: float, process: "subprocess.Popen[bytes]") -> Generator[None]:
    """Kill the process if what is done meanwhile takes longer; all that it started ends with it."""
    killer = Timer(seconds, process.kill)
    killer.start()
    try:
        yield
    finally:
        killer.cancel()


def _exchange(given: IO[bytes], said: IO[bytes], program: str, rest: Sequence[str]) -> str:
    """Send the program, and the rest once it has run; the last line that came back."""
    try:
        given.write(_framed(program))
        given.flush()
        word = said.readline(_MAX_SAID)
        if word == _READY:
            given.write(b"".join(map(_framed, rest)))
            given.flush()
            word = said.readline(_MAX_SAID)
    except BrokenPipeError:  # it has ended
        return ""
    finally:
        with suppress(BrokenPipeError):
            given.close()
    return word.decode(errors="replace").strip()


def _start() -> "subprocess.Popen[bytes]":
    python = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    read_only = (*_READ_ONLY, f"{sys.base_prefix}/lib", f"{sys.base_prefix}/lib64", python)
    seccomp, write_end = os.pipe()
    os.write(write_end, _seccomp_filter())
    os.close(write_end)
    command = [
        "bwrap",
        *("--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL"),
        *("--uid", _NOBODY, "--gid", _NOBODY, "--die-with-parent", "--new-session"),
        *("--clearenv", "--setenv", "PYTHONHASHSEED", "0"),  # the same each time
        *(part for path in read_only for part in ("--ro-bind-try", path, path)),
        *("--dev-bind", "/dev/null", "/dev/null"),
        *("--size", str(_FILES_BYTES), "--tmpfs", "/tmp", "--chdir", "/tmp"),
        *("--remount-ro", "/", "--seccomp", str(seccomp), "--"),
        *(python, "-s", "-S", "-P", "-B", "-c"),
        f"{getsource(_drive)}\n_drive({LIMITS!r}, {_BEGUN!r}, {_READY!r})",
    ]
    try:
        return subprocess.Popen(
            command,
            pass_fds=(seccomp,),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    finally:
        os.close(seccomp)


def _framed(text: str) -> bytes:
    """A text behind its length, as `_drive` reads it."""
    data = text.encode(errors="replace")
    return b"%d\n%s" % (len(data), data)


def _drive(limits: dict[str, int], begun: bytes, ready: bytes) -> None:
    """Define the program, then run the tests, in the sandbox; its source is sent there.

    What it needs later is bound before the program can replace it.
    """
    import builtins
    import os
    import resource
    import sys
    from types import ModuleType

    given, said = os.fdopen(os.dup(0), "rb"), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for usual in (0, 1, 2):
        os.dup2(nowhere, usual)
    run, build, write, end, own = exec, compile, os.write, os._exit, dict(builtins.__dict__)
    module = sys.modules["program"] = ModuleType("program")
    names = vars(module)

    def read() -> str:
        return given.read(int(given.readline())).decode()

    for name, limit in limits.items():
        # One second more, for those who do not heed the first signal.
        most = limit + 1 if name == "RLIMIT_CPU" else limit
        resource.setrlimit(getattr(resource, name), (limit, most))
    word = b"error"
    write(said, begun)
    try:
        run(build(read(), "program", "exec"), names)
        write(said, ready)
        tests = build(read(), "tests", "exec")
        builtins.__dict__.update(own)
        run(tests, names)
        word = given.read(int(given.readline()))
    except AssertionError:
        word = b"failed"
    except BaseException:  # noqa: BLE001 (whatever it raised, an exit too, it has not passed)
        pass
    write(said, word + b"\n")
    end(0)


def _seccomp_filter() -> bytes:
    """A program of the kernel's packet filter that lets every call pass but those of `_REFUSED`.

    Each instruction is a code, where to go if it holds and if not, and a number (linux/filter.h).
    """
    place, architecture = _MACHINES[platform.machine()]
    refused = [number for each in _REFUSED.values() if (number := each[place]) is not None]
    load, equals, at_least, answer = 0x20, 0x15, 0x35, 0x06
    kill, allow, not_permitted = 0x80000000, 0x7FFF0000, 0x00050001
    instructions = [
        (load, 0, 0, 4),  # the architecture
        (equals, 1, 0, architecture),
        (answer, 0, 0, kill),
        (load, 0, 0, 0),  # the number of the call
        (at_least, len(refused) + 1, 0, _X32),
        *((equals, len(refused) - at, 0, number) for at, number in enumerate(refused)),
        (answer, 0, 0, allow),
        (answer, 0, 0, not_permitted),
    ]
    return b"".join(struct.pack("=HBBI", *each) for each in instructions)
