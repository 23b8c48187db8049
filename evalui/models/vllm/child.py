"""The process that runs vLLM, seen from its parent: started, sent requests, ended.

Knows nothing of what the requests mean. The process leads a group of its own, so that
whatever it starts ends with it; its device is free when it is gone.
"""

import base64
import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from evalui.errors import ModelError
from evalui.models.base import is_out_of_memory
from evalui.models.vllm.process import receive, send
from evalui.pictures import Picture

_END_S = 5.0  # seconds that the process has to end by itself
_LAST = 12  # lines of its output that are reported when it fails


class EngineProcess:
    """A running process and the two pipes to it.

    Raises:
        ModelError: the command cannot be started.
    """

    def __init__(
        self, model: str, command: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> None:
        self._model = model
        # What vLLM prints goes to a file without a name: a pipe that is not read would fill up.
        self._log: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115 - closed in close()
        their_in, our_out = os.pipe()
        our_in, their_out = os.pipe()
        self._source, self._sink = os.fdopen(our_in, "rb"), os.fdopen(our_out, "wb")
        try:
            self._process = subprocess.Popen(
                [*command, str(their_in), str(their_out)],
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                env=None if environment is None else dict(environment),
                pass_fds=(their_in, their_out),
                start_new_session=True,
            )
        except OSError as error:
            self._close_files()
            raise ModelError(
                "vllm-not-started", model=model, python=command[0], reason=str(error.strerror)
            ) from error
        finally:
            # A pipe ends when every process has closed it, so only the child may have it open.
            os.close(their_in)
            os.close(their_out)
        self._round = 0

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def open(self, opening: Mapping[str, Any]) -> dict[str, Any]:
        """Send the opening message and wait; returns the process's description of its engine.

        Raises:
            ModelError: it cannot be opened, or the process ended.
        """
        self._send(dict(opening))
        return dict(self._receive()["ready"])

    def answer(
        self, requests: Sequence[Mapping[str, Any]], pictures: Sequence[Picture] = ()
    ) -> Iterator[dict[str, Any]]:
        """The answers as they come; each names the place of its request. `pictures` are those that
        the requests name.

        Closing the iterator drops the other requests in the process, too.

        Raises:
            ModelError: the process failed or ended.
        """
        if not requests:
            return
        self._begin(requests, pictures)
        mine, left = self._round, len(requests)
        try:
            while left:
                message = self._receive()
                if message["round"] == mine:
                    left -= len(message["answers"])
                    yield from message["answers"]
        finally:
            if left and self._process.poll() is None:
                with contextlib.suppress(ModelError):  # it has ended meanwhile: dropped as well
                    self._begin([])

    def close(self) -> None:
        """End the process and all it started; once is enough."""
        if self._log.closed:
            return
        if self._process.poll() is None:
            self._kill(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_END_S)
        self._kill(signal.SIGKILL)
        self._process.wait()
        self._close_files()

    def _begin(
        self, requests: Sequence[Mapping[str, Any]], pictures: Sequence[Picture] = ()
    ) -> None:
        self._round += 1
        files = {each.id: base64.b64encode(each.body).decode() for each in pictures}
        self._send({"round": self._round, "requests": list(requests), "pictures": files})

    def _send(self, message: Mapping[str, Any]) -> None:
        try:
            send(self._sink, message)
        except BrokenPipeError as error:
            raise self._ended() from error

    def _receive(self) -> dict[str, Any]:
        message = receive(self._source)
        if message is None:
            raise self._ended()
        if "failed" in message:
            memory = is_out_of_memory(RuntimeError(message["failed"]))
            key = "vllm-memory" if memory else "vllm-failed"
            raise ModelError(key, model=self._model, reason=message["failed"])
        return message

    def _ended(self) -> ModelError:
        try:
            code = self._process.wait(_END_S)
        except subprocess.TimeoutExpired:  # it has closed its pipe, but does not end
            self._kill(signal.SIGKILL)
            code = self._process.wait()
        reason = self._last_lines()
        if is_out_of_memory(RuntimeError(reason)):
            return ModelError("vllm-memory", model=self._model, reason=reason)
        return ModelError("vllm-ended", model=self._model, code=code, reason=reason)

    def _last_lines(self) -> str:
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").splitlines()
        printed = [line.strip() for line in lines if line.strip()]
        return "\n".join(printed[-_LAST:]) or "-"

    def _kill(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def _close_files(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            self._sink.close()
        self._source.close()
        self._log.close()


def script() -> Path:
    """The file that such a process runs."""
    return Path(__file__).with_name("process.py")
