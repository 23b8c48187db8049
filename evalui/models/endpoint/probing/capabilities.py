"""What probes showed that a server can do, and which abilities follow from that."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from evalui.messages import sentence
from evalui.types import Ability

if TYPE_CHECKING:
    from evalui.models.endpoint.config import Api

_MIN_TOP = 2  # a list of one token shows nothing of the others


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What one server really did when it was probed.

    `chat_top` and `completion_top` are how many of the most probable tokens it lists in chat and in
    completions, 0 if none. `echo`: it scores the tokens of a prompt in OpenAI's old manner, if it
    may write `echo_tokens` of its own; `prompt_logprobs`: in vLLM's; `chat_prompt_logprobs`: so
    does its chat. `accepts_token_ids`: it takes prompts as token ids and spells tokens as ids;
    `picks_token_ids`: it scores any given tokens as the next one. `has_tokenizer_routes`: it
    turns texts into ids. `thinks`: its chat writes thoughts before the reply, so that the first
    token is no answer; `opens_thoughts`: its template does, so that only their end is marked;
    `responses`: its chat is the Responses API. `json_schema`: its chat writes JSON that fits a
    schema. `limit_field` is its name of the longest reply, `refused_fields` are the fields that
    chat does without. `max_length` (0: not reported), `root` and `reported_model` are what it
    reports of the model.
    """

    chat: bool = False
    completions: bool = False
    chat_top: int = 0
    completion_top: int = 0
    echo: bool = False
    echo_tokens: int = 0
    prompt_logprobs: bool = False
    chat_prompt_logprobs: bool = False
    accepts_token_ids: bool = False
    picks_token_ids: bool = False
    has_tokenizer_routes: bool = False
    thinks: bool = False
    opens_thoughts: bool = False
    responses: bool = False
    json_schema: bool = False
    limit_field: str = "max_tokens"
    refused_fields: frozenset[str] = frozenset()
    max_length: int = 0
    root: str = ""
    reported_model: str = ""
    missing_reasons: Mapping[Ability, str] = field(default_factory=dict[Ability, str])

    @property
    def abilities(self) -> frozenset[Ability]:
        """What it can answer, by whichever way."""
        abilities: set[Ability] = set()
        if self.chat or self.completions:
            abilities.add("generate")
        if self.scores_token_ids or self.chat_top >= _MIN_TOP or self.completion_top >= _MIN_TOP:
            abilities.add("next_token")
        if self.scores_token_ids or self.echo or self.chat_prompt_logprobs:
            abilities.add("loglik")
        if self.json_schema:
            abilities.add("schema")
        return frozenset(abilities)

    @property
    def plain_only(self) -> Mapping[Ability, str]:
        """Why it gives plain prompts what it does not give conversations, by what that is."""
        why: dict[Ability, str] = {}
        if self.thinks:
            why["next_token"] = sentence("error.endpoint-thinks")
        elif not (self.scores_token_ids or self.chat_top >= _MIN_TOP or not self.chat):
            why["next_token"] = sentence("error.endpoint-plain-only")
        if self.chat and not (self.scores_token_ids or self.chat_prompt_logprobs):
            why["loglik"] = sentence("error.endpoint-plain-only")
        elif self.opens_thoughts:
            why["loglik"] = sentence("error.opens-thoughts")
        return {ability: reason for ability, reason in why.items() if ability in self.abilities}

    @property
    def scores_token_ids(self) -> bool:
        """Whether it scores any token ids after any others, which answers everything exactly."""
        return self.accepts_token_ids and self.prompt_logprobs and self.has_tokenizer_routes

    @property
    def is_nondeterministic(self) -> bool:
        """Whether chat draws replies at a temperature of its own, so no two need be the same."""
        return self.chat and "temperature" in self.refused_fields

    @property
    def honours(self) -> frozenset[str]:
        """The settings of writing that its replies follow.

        Those of OpenAI's interface; a server that shows its tokenizer or scores prompts is one that
        draws itself and renders chat templates, as vLLM.
        """
        names = {"temperature", "top_p"}
        if self.chat:
            names.add("reasoning_effort")
        if self.has_tokenizer_routes or self.prompt_logprobs or self.chat_prompt_logprobs:
            names |= {"top_k", "min_p", "thinking"}
        return frozenset(names - self.refused_fields)

    @property
    def interface_key(self) -> str:
        """How requests are sent, in one word per kind; another way may change the figures."""
        next_token = "ids" if self.scores_token_ids else f"top{self.completion_top}/{self.chat_top}"
        scoring = "+".join(["echo"] * self.echo + ["turns"] * self.chat_prompt_logprobs)
        loglik = "ids" if self.scores_token_ids else scoring or "-"
        also = "|drawn" * self.is_nondeterministic + "|responses" * self.responses
        return f"{next_token}|{loglik}|{self.chat:d}{self.completions:d}{also}"


def common_capabilities(capabilities: Sequence[Capabilities]) -> Capabilities:
    """What all of several servers can do."""
    assert capabilities, "at least one server is available"
    return Capabilities(
        chat=all(each.chat for each in capabilities),
        completions=all(each.completions for each in capabilities),
        chat_top=min(each.chat_top for each in capabilities),
        completion_top=min(each.completion_top for each in capabilities),
        echo=all(each.echo for each in capabilities),
        echo_tokens=max(each.echo_tokens for each in capabilities),
        prompt_logprobs=all(each.prompt_logprobs for each in capabilities),
        chat_prompt_logprobs=all(each.chat_prompt_logprobs for each in capabilities),
        accepts_token_ids=all(each.accepts_token_ids for each in capabilities),
        picks_token_ids=all(each.picks_token_ids for each in capabilities),
        has_tokenizer_routes=all(each.has_tokenizer_routes for each in capabilities),
        thinks=any(each.thinks for each in capabilities),
        opens_thoughts=any(each.opens_thoughts for each in capabilities),
        responses=any(each.responses for each in capabilities),
        json_schema=all(each.json_schema for each in capabilities),
        # A server that refuses the old name needs the new one; most others know both.
        limit_field=min(each.limit_field for each in capabilities),
        refused_fields=frozenset[str]().union(*(each.refused_fields for each in capabilities)),
        max_length=min((each.max_length for each in capabilities if each.max_length), default=0),
        root="|".join(sorted({each.root for each in capabilities})),
        reported_model="|".join(sorted({each.reported_model for each in capabilities})),
        missing_reasons={
            ability: why for each in capabilities for ability, why in each.missing_reasons.items()
        },
    )


def restrict_to_api(capabilities: Capabilities, api: "Api", *, tokenizer: bool) -> Capabilities:
    """What is left when only one of the interfaces may be used.

    `tokenizer`: the model's tokenizer lies here, so the server need not have one.
    """
    left = replace(
        capabilities,
        has_tokenizer_routes=(capabilities.has_tokenizer_routes or tokenizer) and api != "chat",
    )
    if api == "chat":
        # Completions may have had the letters, so that nothing was missing.
        thinks = {"next_token": sentence("error.endpoint-thinks")} if left.thinks else {}
        return replace(
            left,
            completions=False,
            completion_top=0,
            echo=False,
            accepts_token_ids=False,
            missing_reasons={**left.missing_reasons, **thinks},
        )
    if api == "completions":
        return replace(left, chat=False, chat_top=0, chat_prompt_logprobs=False, json_schema=False)
    return left


def missing_ability_reason(ability: Ability, reason: str) -> str:
    """The reason for a missing ability, the probe's or a general one, and what to do instead."""
    why = (
        reason
        or {
            "next_token": sentence("error.endpoint-no-top"),
            "loglik": sentence("error.endpoint-no-echo"),
            "generate": sentence("error.endpoint-no-reply"),
            "schema": sentence("error.endpoint-no-schema"),
        }[ability]
    )
    if ability == "generate":
        return why
    return sentence("error.endpoint-rather-replies", reason=why)
