"""Each request becomes a job for whichever server is free: what is sent, and how it is read."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from evalui.messages import Sentence, sentence
from evalui.models.endpoint.chat_logprobs import CONTINUED, SCORED, before, read_turns, score_turns
from evalui.models.endpoint.config import Endpoint
from evalui.models.endpoint.http.client import LONGEST, Declined, Json, Post, as_object, whole
from evalui.models.endpoint.labels import label_probs
from evalui.models.endpoint.probing.capabilities import Findings
from evalui.models.endpoint.prompt_logprobs import Seam, score, seam_by_context, seam_by_text, split
from evalui.models.endpoint.responses import (
    Place,
    choices,
    read_echo,
    read_text,
    read_top,
    told_model,
    unusable,
    why_unbelievable,
)
from evalui.models.endpoint.token_ids import look_up
from evalui.models.endpoint.tokenizer import Memory, ServerTokenizer
from evalui.models.scoring_requests import ask
from evalui.models.tokenization import Tokenizer, before_label, spellings
from evalui.types import Generate, Loglik, Message, NextToken, Prompt, Request, Response

Job = Callable[[Post], Response]

_BOUNDLESS = 10**9  # tokens, where nobody tells how many the model reads
# A vLLM server takes up habits from the model's folder (a repetition penalty, say) unless told.
_NO_HABITS: Json = {"repetition_penalty": 1.0, "top_p": 1.0, "top_k": -1}
_STOPS = 4  # texts that a hosted API takes; the reply is cut at all of them here


class Asker:
    """Turns requests into jobs for servers that can do what was found.

    `tokenizer` is the model's own if it lies here; else the server's is asked.
    """

    def __init__(
        self, name: str, endpoint: Endpoint, findings: Findings, tokenizer: Tokenizer | None
    ) -> None:
        self._name = name
        self._endpoint = endpoint
        self._found = findings
        self._tokenizer = tokenizer
        self._memory = Memory()
        self._spellings: Mapping[str, tuple[int, ...]] = {}
        lengths = [each for each in (endpoint.max_length, findings.max_length) if each]
        # One token more is read with a continuation, and the server writes one after it.
        self._limit = max(1, min(lengths, default=_BOUNDLESS) - 2)

    def jobs(self, requests: Sequence[Request]) -> dict[int, Job]:
        """A job for each request, by its place.

        Raises:
            ModelError: a label has no token of its own, or a continuation cannot be scored.
        """
        jobs: dict[int, Job] = {}
        exact: dict[int, NextToken | Loglik] = {}
        for key, request in enumerate(requests):
            match request:
                case Generate():
                    jobs[key] = partial(self._write, request)
                case _ if self._found.scores_ids:
                    exact[key] = request
                case NextToken():
                    jobs[key] = partial(self._choose, request)
                case Loglik() if self._found.turns and not self._echoes(request.context):
                    jobs[key] = partial(self._score_turns, request)
                case Loglik():
                    jobs[key] = partial(self._echo, request)
        return jobs | self._by_ids(exact)

    def _by_ids(self, requests: Mapping[int, NextToken | Loglik]) -> dict[int, Job]:
        if self._tokenizer is None:
            return {key: partial(self._encode_there, each) for key, each in requests.items()}
        if requests and not self._spellings:
            self._spellings = spellings(self._tokenizer)
        asked = ask(self._tokenizer, self._spellings, list(requests.values()), limit=self._limit)
        picks = self._found.picks
        return {
            key: lambda post, at=at: look_up(asked, at, self._complete(post), picks=picks)
            for at, key in enumerate(requests)
        }

    def _encode_there(self, request: NextToken | Loglik, post: Post) -> Response:
        tokenizer = ServerTokenizer(self._name, self._endpoint.model, post, self._memory)
        labels = request.labels if isinstance(request, NextToken) else ()
        asked = ask(tokenizer, tokenizer.spellings(labels), [request], limit=self._limit)
        return look_up(asked, 0, self._complete(post), picks=self._found.picks)

    def _choose(self, request: NextToken, post: Post) -> Response:
        """Read the labels off a list of the most probable tokens."""
        text = self._plain(request.context)
        complete = 0
        if text is not None and self._found.listed:
            complete = self._found.listed
            body: Json = {"prompt": before_label(text), "logprobs": complete}
            answer = self._complete(post)(body)
        elif self._found.chat_top:
            body = {"logprobs": True, "top_logprobs": self._found.chat_top}
            answer = self._converse(post, request.context, 1, body)
        else:
            raise Declined(_no_way(request.context))
        (choice,) = choices(answer)
        listed = read_top(choice)
        if not listed:
            raise unusable(sentence("error.endpoint-token-unscored"))
        if why := why_unbelievable(listed):
            raise unusable(why)
        return label_probs(listed, request.labels, complete=complete)

    def _echo(self, request: Loglik, post: Post) -> Response:
        """Score a continuation by having the whole text sent back with its scores."""
        context = self._plain(request.context)
        if context is None:
            raise Declined(_no_way(request.context))
        left, right = split(context, request.continuation)
        places = self._sent_back(left + right, post)
        seam = seam_by_text(places, left, left + right)
        if seam is None:
            seam = self._seam_by_context(places, left, post)
        scored = score(places, seam)
        if scored is None:
            raise Declined(
                sentence(
                    "error.endpoint-first-token",
                )
            )
        return scored

    def _seam_by_context(self, places: Sequence[Place], left: str, post: Post) -> Seam:
        return seam_by_context(places, self._sent_back(left, post) if left else ())

    def _sent_back(self, text: str, post: Post) -> list[Place]:
        written = self._found.echo_tokens
        body: Json = {"prompt": text, "echo": True, "logprobs": 1, "max_tokens": written}
        answer = self._complete(post)(body)
        (choice,) = choices(answer)
        places = read_echo(choice)
        if not places:
            raise unusable(sentence("error.endpoint-token-unscored"))
        read = whole(as_object(answer.get("usage")).get("prompt_tokens"))
        return places[:read] if written and read else places

    def _echoes(self, context: Prompt) -> bool:
        return self._found.echo and self._plain(context) is not None

    def _score_turns(self, request: Loglik, post: Post) -> Response:
        """Score the beginning of a reply to a conversation, by chat alone."""
        turns = _turns(request.context)
        if not turns:
            raise Declined(_no_way(request.context))
        # All options of a question ask for it at once.
        context = self._memory.recall_alone(
            ("turns", turns), lambda: before(read_turns(self._converse(post, turns, 1, SCORED)))
        )
        both = (*turns, Message("assistant", request.continuation))
        told = read_turns(self._converse(post, both, 1, SCORED | CONTINUED))
        return score_turns(told, context, request.continuation)

    def _write(self, request: Generate, post: Post) -> Response:
        body: Json = {"temperature": request.temperature}
        if self._found.prompt_logprobs or self._found.turns:
            body |= _NO_HABITS
        if request.stop:
            body["stop"] = list(request.stop[:_STOPS])
        if request.temperature > 0:
            body["seed"] = self._seed(request.prompt)
        text = self._plain(request.prompt)
        if text is not None and self._found.completions:
            body |= {"prompt": text, "max_tokens": request.max_tokens}
            return read_text(self._complete(post)(body), request.stop)
        if not self._found.chat:
            raise Declined(_no_way(request.prompt))
        return read_text(
            self._converse(post, request.prompt, request.max_tokens, body), request.stop
        )

    def _plain(self, prompt: Prompt) -> str | None:
        """The prompt as a text; None for a conversation that only the server can put in words."""
        if isinstance(prompt, str):
            return prompt
        if self._tokenizer is not None and not self._found.chat:
            return self._tokenizer.render(prompt)
        return None

    def _complete(self, post: Post) -> Callable[[Json], Json]:
        """Ask for a completion; of one token at temperature 0 unless the body says otherwise."""
        usual: Json = {"model": self._endpoint.model, "max_tokens": 1, "temperature": 0.0}
        return lambda body: self._own(post("completions", usual | body))

    def _converse(self, post: Post, prompt: Prompt, max_tokens: int, body: Json) -> Json:
        """Ask for a reply; a plain prompt is sent as the words of a user."""
        asked: Json = {
            "model": self._endpoint.model,
            "messages": [{"role": turn.role, "content": turn.content} for turn in _turns(prompt)],
            "temperature": 0.0,
            self._found.limit_field: max_tokens,
        }
        sent = {
            field: value
            for field, value in (asked | body).items()
            if field not in self._found.refused
        }
        return self._own(post("chat/completions", sent))

    def _own(self, answer: Json) -> Json:
        """The answer, if it is from the model that answered the first time."""
        name, known = told_model(answer), self._found.told.split("|")
        if name and any(known) and name not in known:
            raise unusable(sentence("error.endpoint-other-model", name=name[:LONGEST]))
        return answer

    def _seed(self, prompt: Prompt) -> int:
        digest = hashlib.sha256(f"{self._endpoint.seed}|{prompt!r}".encode()).digest()
        return int.from_bytes(digest[:4], "big") >> 1  # what every server takes


def _turns(prompt: Prompt) -> tuple[Message, ...]:
    """The prompt as a conversation; none begins with nothing."""
    if isinstance(prompt, str):
        return (Message("user", prompt),) if prompt else ()
    return prompt


def _no_way(prompt: Prompt) -> Sentence:
    if isinstance(prompt, str):
        return sentence("error.endpoint-chat-only")
    return sentence("error.endpoint-plain-only")
