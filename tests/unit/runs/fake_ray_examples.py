"""A cluster played by one object: actors answer at once, or are lost."""

from collections.abc import Iterator, Sequence
from typing import Any

from evalui.errors import ModelError, RequestRejected, Unreachable
from evalui.messages import Sentence
from evalui.models import ModelEntry
from evalui.runs.cluster.actor import ModelActor
from evalui.runs.cluster.model import ClusterModel
from evalui.types import Generate, GeneratedText, Request, Response

ENTRY = ModelEntry("m", "transformers", path="/models/m")
LOADS = "m is being loaded on the cluster. "


class Echo:
    """A model that repeats its prompt."""

    name = "m"
    fingerprint = "echo"
    abilities = frozenset({"generate"})

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        for index, request in enumerate(requests):
            assert isinstance(request, Generate)
            if request.prompt == "break":
                raise ModelError(Sentence("Broken."))
            if request.prompt != "refuse":
                yield index, GeneratedText(str(request.prompt))
        if any(isinstance(each, Generate) and each.prompt == "refuse" for each in requests):
            raise RequestRejected(Sentence("One is refused."))

    def close(self) -> None: ...


class RayError(Exception): ...


class RayTaskError(RayError):
    cause = ZeroDivisionError("division by zero")


class UnbornError(RayError):
    actor_init_failed = True


GONE = RayError("The actor died.\nIts node is gone.")


class FakeRay:
    """The little of ray that is used. `machines` may change; `dying` calls to come are lost."""

    class exceptions:  # noqa: N801 (ray's own name)
        RayError = RayError
        RayTaskError = RayTaskError

    def __init__(self, cpus: int = 2) -> None:
        self.cpus = cpus
        self.dying = 0
        self.slow = self.deaf = self.headless = False
        self.stillborn = 0
        self.unborn = RayError("No module named evalui")
        self.made = 0
        self.killed: list[Any] = []
        self.cancelled: list[Any] = []

    def connect(self) -> "FakeRay":
        if self.headless:
            raise Unreachable(Sentence("The head is gone."))
        return self

    def nodes(self) -> list[dict[str, Any]]:
        return [
            {"Alive": True, "Resources": {"CPU": float(self.cpus)}},
            {"Alive": False, "Resources": {"CPU": 64.0}},
        ]

    def remote(self, **_: Any) -> Any:
        def made(kind: type[ModelActor]) -> Any:
            def make(entry: ModelEntry) -> Any:
                self.made += 1
                return _Handle(self, kind(entry))

            return _Remote(make)

        return made

    def wait(self, references: list[Any], **_: Any) -> tuple[list[Any], list[Any]]:
        if self.slow:
            return [], references
        return references[:1], references[1:]

    def get(self, reference: Any) -> Any:
        if isinstance(reference.result, Exception):
            raise reference.result
        return reference.result

    def kill(self, handle: Any) -> None:
        assert not self.headless, "Ray would wait for a minute, and then end the process"
        self.killed.append(handle)

    def cancel(self, reference: Any) -> None:
        assert not self.headless, "there is no head"
        if self.deaf:
            raise RayError("Gone.")
        self.cancelled.append(reference)


class _Remote:
    def __init__(self, call: Any) -> None:
        self.remote = call


class _Reference:
    def __init__(self, result: Any) -> None:
        self.result = result


class _Handle:
    def __init__(self, ray: FakeRay, holder: ModelActor) -> None:
        self.dead = False

        def about() -> _Reference:
            if ray.stillborn:
                ray.stillborn -= 1
                return _Reference(ray.unborn)
            return _Reference(GONE if self.dead else holder.about())

        self.about = _Remote(about)

        def answer(requests: Sequence[Request]) -> _Reference:
            if ray.dying:
                ray.dying -= 1
                return _Reference(GONE)
            return _Reference(GONE if self.dead else holder.answer(requests))

        self.answer = _Remote(answer)

    def die(self) -> None:
        self.dead = True


def opened(ray: FakeRay, cores: int = 1) -> ClusterModel:
    model = ClusterModel(ENTRY, ray.connect, cores=cores)
    model.wait_until_ready()
    return model


def asked(*prompts: str) -> list[Request]:
    return [Generate(prompt, max_tokens=1) for prompt in prompts]


def answers(model: ClusterModel, requests: Sequence[Request]) -> dict[int, str]:
    found: dict[int, str] = {}
    for index, response in model.answer(requests):
        assert index not in found
        assert isinstance(response, GeneratedText)
        found[index] = response.text
    return found
