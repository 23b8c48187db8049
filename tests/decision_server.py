"""A server of decisions whose answers a function gives, on real HTTP, in any of three forms."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from endpoint_server_examples import MODEL, Behaviour, Json, Reply, ToyServer

from evalui.types import Decision

Form = Literal["systemone", "decisions", "decide"]
Options = tuple[tuple[str, str], ...]  # the key and the text of each, in the order of the request
Answer = Callable[[str, str, Options], Sequence[float] | Decision]


def even(_context: str, _question: str, options: Options) -> list[float]:
    """Each option is as probable as any other."""
    return [1 / len(options)] * len(options)


@dataclass(frozen=True)
class Asked:
    """A question as the server has read it from a request."""

    context: str
    question: str
    options: Options


@dataclass
class DecisionBehaviour(Behaviour):
    """What the server can do, beside what a `ToyServer` can; chat and completions only if told.

    `answer` gives a probability for each option, or the decision as a whole, of the small decision
    that a probe asks for, too. `decimals` are those to which probabilities are rounded, `share` is
    what they are multiplied by, so that their sum is wrong; `left_out` are the places of options
    without one, `refuses` says which questions are declined. The option that is named is
    `chooses(probabilities)`, the first of the most probable unless stated. `listing` is whether it
    lists its models, `latency` in seconds; `fails` gives another reply than an answer.
    """

    chat: bool = False
    completions: bool = False
    form: Form = "systemone"
    answer: Answer = even
    decimals: int | None = None
    share: float = 1.0
    left_out: tuple[int, ...] = ()
    refuses: Callable[[Asked], bool] = lambda _: False
    chooses: Callable[[Sequence[float]], int] = lambda given: max(
        range(len(given)), key=given.__getitem__
    )
    confidence: float | None = None
    most_options: int = 255
    listing: bool = True
    latency: float = 0.0
    fails: Callable[[Asked], Reply | None] = lambda _: None


class DecisionServer(ToyServer):
    """`with DecisionServer(DecisionBehaviour(answer=...)) as server:`; `base` is the path of its
    address. `questions` are those it was asked; see also `asked` and `posts`.
    """

    behaviour: DecisionBehaviour

    def __init__(self, behaviour: DecisionBehaviour | None = None, *, base: str = "/v1") -> None:
        super().__init__(behaviour or DecisionBehaviour())
        self.root = self.url.removesuffix("/v1")
        self.url = self.root + base
        self._base = base

    @property
    def questions(self) -> list[Asked]:
        """The questions so far, that of the probe among them."""
        form = self.behaviour.form
        return [_read(form, body) for path, body, _ in self.asked if path.endswith(f"/{form}")]

    def made(self, path: str, body: Json) -> Reply:
        """The answer to a request."""
        can = self.behaviour
        if path == f"{self._base}/{can.form}":
            if can.form != "decide" and body.get("model") != MODEL:
                return Reply(404, {"error": {"message": f"no model {body.get('model')}"}})
            return _decided(can, _read(can.form, body))
        if path.endswith("/models") and not can.listing:
            return Reply(404, {"detail": "Not Found"})
        return super().made(path, body)


def _read(form: Form, body: Json) -> Asked:
    if form == "systemone":
        ((_, question),) = body["questions"].items()
        assert question["type"] == "choice"
        options = [(key, text or key) for key, text in question["criteria"].items()]
        return Asked(body["state"], question["instructions"], tuple(options))
    if form == "decisions":
        (question,) = body["questions"]
        assert question["type"] == "choice"
        options = [(each["value"], each.get("description")) for each in question["choices"]]
        pairs = tuple((key, text or key) for key, text in options)
        return Asked(body["input"], question["instructions"], pairs)
    assert (body["kind"], body["thinking"]) == ("choice", "off")
    return Asked(body["state"], body["question"], tuple(map(_split, body["options"])))


def _split(option: str) -> tuple[str, str]:
    """The key and the text of an option that is sent as one text, "A. Paris"."""
    key, dot, text = option.partition(". ")
    return (key, text) if dot else (option, option)


def _decided(can: DecisionBehaviour, asked: Asked) -> Reply:
    if failure := can.fails(asked):
        return failure
    if len(asked.options) > can.most_options:
        told = f"choice questions must have at most {can.most_options} options"
        return Reply(400, {"error": {"message": told}})
    answer = can.answer(asked.context, asked.question, asked.options)
    if isinstance(answer, Decision):
        can, answer = _with_decision(can, asked, answer)
    given = [each * can.share for each in answer]
    if can.decimals is not None:
        given = [round(each, can.decimals) for each in given]
    refused = can.refuses(asked)
    body = _FORMS[can.form](can, asked, given, can.chooses(given), refused)
    return Reply(200, body, delay=can.latency)


def _with_decision(
    can: DecisionBehaviour, asked: Asked, made: Decision
) -> tuple[DecisionBehaviour, Sequence[float]]:
    """A behaviour that gives what was decided, and the probabilities."""
    places = range(len(asked.options))
    can = replace(
        can,
        left_out=() if made.probabilities else tuple(places),
        refuses=lambda _: made.refused,
        chooses=lambda _: made.choice or 0,
        confidence=made.confidence,
    )
    return can, made.probabilities or [0.0 for _ in places]


def _usage(asked: Asked) -> Json:
    read = len(json.dumps([asked.context, asked.question, asked.options]).split())
    return {"input_tokens": read, "output_tokens": 1}


def _confidence(can: DecisionBehaviour) -> Json:
    return {} if can.confidence is None else {"confidence": can.confidence}


def _systemone(
    can: DecisionBehaviour, asked: Asked, given: Sequence[float], choice: int, refused: bool
) -> Json:
    keys = [key for key, _ in asked.options]
    pairs = enumerate(zip(keys, given, strict=True))
    listed = {key: p for at, (key, p) in pairs if at not in can.left_out}
    answer = {"type": "choice", "choice": keys[choice], "probabilities": listed}
    answers = {} if refused else {"answer": answer | _confidence(can)}
    return {"model": MODEL, "answers": answers, "usage": _usage(asked)}


def _decisions(
    can: DecisionBehaviour, asked: Asked, given: Sequence[float], choice: int, refused: bool
) -> Json:
    keys = [key for key, _ in asked.options]
    pairs = enumerate(zip(keys, given, strict=True))
    listed = [{"value": key, "probability": p} for at, (key, p) in pairs if at not in can.left_out]
    answer: Json = {"type": "choice", "choice": keys[choice], "probabilities": listed}
    answer = {"type": "refusal"} if refused else answer | _confidence(can)
    return {"model": MODEL, "answers": [answer | {"name": "answer"}], "usage": _usage(asked)}


def _decide(
    can: DecisionBehaviour, asked: Asked, given: Sequence[float], choice: int, refused: bool
) -> Json:
    assert not refused, "the form has no place for a refusal"
    texts = [key if key == text else f"{key}. {text}" for key, text in asked.options]
    usage = _usage(asked)
    return {
        "model": MODEL,
        "kind": "choice",
        "options": texts,
        "probabilities": [None if at in can.left_out else p for at, p in enumerate(given)],
        "choice_index": choice,
        "choice": texts[choice],
        "usage": {
            "prompt_tokens": usage["input_tokens"],
            "completion_tokens": usage["output_tokens"],
        },
        **_confidence(can),
    }


_FORMS = {"systemone": _systemone, "decisions": _decisions, "decide": _decide}
