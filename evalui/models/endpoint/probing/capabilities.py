"""What a server was found to do, and which abilities follow from that."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from evalui.messages import sentence
from evalui.models.endpoint.config import Api
from evalui.types import Ability

_ENOUGH = 2  # a list of one token says nothing of the others


@dataclass(frozen=True, slots=True)
class Findings:
    """What one server really did when it was asked.

    `chat_top` and `listed` are how many of the most probable tokens it lists in chat and in
    completions, 0 if none. `echo`: it scores the tokens of a prompt in OpenAI's old manner, if it
    may write `echo_tokens` of its own; `prompt_logprobs`: in vLLM's; `turns`: so does its chat.
    `ids`: it takes prompts as token ids and spells tokens as ids; `picks`: it scores any tokens it
    is told as the next one. `tokenizes`: it turns texts into ids. `limit_field` is its word for
    the longest reply, `refused` are the fields that chat does without. `max_length` (0: not told),
    `root` and `told` are what it says of the model.
    """

    chat: bool = False
    completions: bool = False
    chat_top: int = 0
    listed: int = 0
    echo: bool = False
    echo_tokens: int = 0
    prompt_logprobs: bool = False
    turns: bool = False
    ids: bool = False
    picks: bool = False
    tokenizes: bool = False
    limit_field: str = "max_tokens"
    refused: frozenset[str] = frozenset()
    max_length: int = 0
    root: str = ""
    told: str = ""
    lacks: Mapping[Ability, str] = field(default_factory=dict[Ability, str])

    @property
    def abilities(self) -> frozenset[Ability]:
        """What it can answer, by whichever way."""
        found: set[Ability] = set()
        if self.chat or self.completions:
            found.add("generate")
        if self.scores_ids or self.chat_top >= _ENOUGH or self.listed >= _ENOUGH:
            found.add("next_token")
        if self.scores_ids or self.echo or self.turns:
            found.add("loglik")
        return frozenset(found)

    @property
    def scores_ids(self) -> bool:
        """Whether it scores any token ids after any others, which answers everything exactly."""
        return self.ids and self.prompt_logprobs and self.tokenizes

    @property
    def draws(self) -> bool:
        """Whether chat draws replies at a temperature of its own, so no two need be the same."""
        return self.chat and "temperature" in self.refused

    @property
    def way(self) -> str:
        """How it is asked, in one word per kind of request; another way may change the figures."""
        next_token = "ids" if self.scores_ids else f"top{self.listed}/{self.chat_top}"
        scoring = "+".join(["echo"] * self.echo + ["turns"] * self.turns)
        loglik = "ids" if self.scores_ids else scoring or "-"
        drawn = "|drawn" if self.draws else ""
        return f"{next_token}|{loglik}|{self.chat:d}{self.completions:d}{drawn}"


def common(found: Sequence[Findings]) -> Findings:
    """What all of several servers can do."""
    assert found, "somebody was found"
    return Findings(
        chat=all(each.chat for each in found),
        completions=all(each.completions for each in found),
        chat_top=min(each.chat_top for each in found),
        listed=min(each.listed for each in found),
        echo=all(each.echo for each in found),
        echo_tokens=max(each.echo_tokens for each in found),
        prompt_logprobs=all(each.prompt_logprobs for each in found),
        turns=all(each.turns for each in found),
        ids=all(each.ids for each in found),
        picks=all(each.picks for each in found),
        tokenizes=all(each.tokenizes for each in found),
        # Who refuses the old word needs the new one; most others know both.
        limit_field=min(each.limit_field for each in found),
        refused=frozenset[str]().union(*(each.refused for each in found)),
        max_length=min((each.max_length for each in found if each.max_length), default=0),
        root="|".join(sorted({each.root for each in found})),
        told="|".join(sorted({each.told for each in found})),
        lacks={ability: why for each in found for ability, why in each.lacks.items()},
    )


def restricted(found: Findings, api: Api, *, tokenizer: bool) -> Findings:
    """What is left when only one of the interfaces may be used.

    `tokenizer`: the model's tokenizer lies here, so the server need not have one.
    """
    left = replace(found, tokenizes=(found.tokenizes or tokenizer) and api != "chat")
    if api == "chat":
        return replace(left, completions=False, listed=0, echo=False, ids=False)
    if api == "completions":
        return replace(left, chat=False, chat_top=0, turns=False)
    return left


def why_not(ability: Ability, reason: str) -> str:
    """The reason for a missing ability, where the probe found no better one."""
    return (
        reason
        or {
            "next_token": sentence("error.endpoint-no-top"),
            "loglik": sentence("error.endpoint-no-echo"),
            "generate": sentence("error.endpoint-no-reply"),
        }[ability]
    )
