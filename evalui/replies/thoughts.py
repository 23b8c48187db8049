"""A model's thoughts, taken off what it says: the one place that knows how thoughts are marked.

Every mark here is set by a server or a chat template, not by the words of a model: tags
(`<think>…</think>` and its kin), special tokens, and the channels of gpt-oss ("harmony").
Servers put thoughts in a field of their own or leave them in the text; behind `without_thoughts`
both are apart. A reply is read once from front to back, so the cost grows with its length alone.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from evalui.replies.text import own_turn
from evalui.types import GeneratedText, Response, Trial


@dataclass(frozen=True, slots=True)
class SplitReply:
    """The thoughts of a reply and its spoken text, apart.

    `spoken` is None where the reply was cut off inside a thought: then there is no answer,
    whatever stands before that thought.
    """

    thoughts: str
    spoken: str | None


def split_thoughts(reply: str) -> SplitReply:
    """The thoughts of a reply, a blank line between several, and its text without them.

    A closing mark that nothing opened ends a thought which the prompt opened: what stands before
    it was thought. Nested thoughts close one by one.
    """
    if not _MAY_BE_MARKED.search(reply) and not reply.startswith(_BARE_ANALYSIS):
        return SplitReply("", reply)
    if _CHANNEL in reply:
        return _split_channels(reply)
    if _BARE_CHANNEL.match(reply):
        return _split_bare_channels(reply)
    return _split_marked(reply)


def without_thoughts(response: Response) -> Response | None:
    """The response with a model's thoughts apart from its text, which ends where its turn does;
    None where the text was cut off within thoughts, which is no answer.
    """
    if not isinstance(response, GeneratedText):
        return response
    split = split_thoughts(response.text)
    if split.spoken is None:
        return None
    turn = own_turn(split.spoken)
    if turn != split.spoken.strip():
        response = replace(response, text=turn, finish_reason="stop")
    elif split.spoken != response.text:
        response = replace(response, text=split.spoken)
    if not split.thoughts:
        return response
    # A template puts blank lines between the two.
    thoughts = "\n\n".join(filter(None, (response.thoughts, split.thoughts)))
    return replace(response, text=response.text.lstrip(), thoughts=thoughts)


def with_thoughts(trial: Trial, responses: Sequence[Response]) -> Trial:
    """The trial with what the model thought before the responses it was graded by."""
    texts = [each.thoughts for each in responses if isinstance(each, GeneratedText)]
    thoughts = "\n\n".join(filter(None, texts))
    return replace(trial, thoughts=thoughts) if thoughts else trial


def after_thoughts(reply: str) -> str | None:
    """What stands behind the last thought of a reply; None if it was cut off while thinking."""
    behind = 0
    for mark in _CLOSES.finditer(reply):
        behind = mark.end()
    return None if _OPENS.search(reply, behind) else reply[behind:]


# ---------------------------------------------------------------- what models and templates do


def begins_with_mark(text: str) -> bool:
    """Whether a text begins with a mark of thoughts, be it in part: a first token may be."""
    return bool(_BEGINS.match(text))


def closes_thought(text: str) -> bool:
    """Whether a text has a mark that closes thoughts, also where the prompt opened them."""
    return bool(_CLOSES.search(text))


def mentions_thoughts(template: str) -> bool:
    """Whether a chat template has a mark that opens thoughts, wherever and whenever."""
    return bool(_OPENS.search(template))


def opened_thought(prompt: str) -> str:
    """The mark at the end of a prompt that opens a thought, with the blanks after it; "" if none
    does: then what follows is the reply.
    """
    marks = _OPENS.finditer(prompt, max(0, len(prompt) - _LONGEST_MARK))
    return next((each[0] for each in marks if each.end() == len(prompt)), "")


# ---------------------------------------------------------------- opening and closing marks

_WORDS = "think|thinking|thoughts?|reasoning|reflection|scratchpad|inner_monologue|思考|思考过程"
_PAIRS = (
    (rf"<(?:{_WORDS})\s?>", rf"</(?:{_WORDS})\s?>"),  # DeepSeek, Qwen and most others
    (r"\[THINK\]", r"\[/THINK\]"),  # Mistral
    ("◁think▷", "◁/think▷"),  # Kimi
    ("<seed:think>", "</seed:think>"),  # Seed
    (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),  # OpenThinker
    (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),  # Command
    (r"<\|channel>thought\b", r"<channel\|>"),  # Gemma
)
_MARK = re.compile("|".join(f"({begin})|({end})" for begin, end in _PAIRS), re.IGNORECASE)
_OPENS = re.compile(rf"(?:{'|'.join(begin for begin, _ in _PAIRS)})\s*", re.IGNORECASE)
_CLOSES = re.compile("|".join(end for _, end in _PAIRS), re.IGNORECASE)
_BEGINS = re.compile(
    rf"\s*(?:<\|?/?(?:{_WORDS}|seed:think|channel|begin_of_thought)\b"
    r"|<\|START_THINKING|\[/?THINK|◁/?think)",
    re.IGNORECASE,
)
_LONGEST_MARK = 64  # characters, with the blanks after it
_MAY_BE_MARKED = re.compile(r"[<\[◁]")


def _split_marked(reply: str) -> SplitReply:
    thoughts, spoken = list[str](), list[str]()
    depth, pair_inside, begin, last_opened = 0, 0, 0, 0
    for mark in _MARK.finditer(reply):
        pair, closes = divmod((mark.lastindex or 1) - 1, 2)
        if depth and pair != pair_inside:
            continue  # mentioned inside a thought of another model's form
        if depth and not closes:
            # A template and the model may both open a thought: that is one thought, not two.
            if reply[last_opened : mark.start()].strip():
                depth += 1
            else:
                begin = mark.end()
            last_opened = mark.end()
        elif depth > 1:
            depth -= 1
        else:
            text, begin = reply[begin : mark.start()], mark.end()
            if closes:
                thoughts += [text] if depth else [*spoken, text]
                spoken = spoken if depth else []
            else:
                spoken.append(text)
                pair_inside, last_opened = pair, mark.end()
            depth = 0 if closes else 1
    (thoughts if depth else spoken).append(reply[begin:])
    return _split_reply(thoughts, spoken, is_cut=depth > 0)


def _split_reply(thoughts: list[str], spoken: list[str], *, is_cut: bool) -> SplitReply:
    """The pieces joined: a blank line between thoughts, a new line where one was taken out."""
    blank_free = [piece for piece in spoken if piece.strip()]
    text = blank_free[0] if len(blank_free) == 1 else "\n".join(blank_free)
    inside = "\n\n".join(stripped for piece in thoughts if (stripped := piece.strip()))
    return SplitReply(inside, None if is_cut else text)


# ---------------------------------------------------------------- channels

_CHANNEL = "<|channel|>"
_CHANNEL_NAME = re.compile(r"\s*(\w*)")
_CHANNEL_END = re.compile(r"<\|(?:end|return|call|start)\|>")
# What is left of channels where a decoder leaves special tokens out.
_BARE_ANALYSIS = "analysis"
_BARE_CHANNEL = re.compile(r"analysis(?=[A-Z\"'(])")
_BARE_FINAL = "assistantfinal"


def _split_channels(reply: str) -> SplitReply:
    """The channel "final" is spoken, all others are thoughts; cut off if it is not the last."""
    before, *parts = reply.split(_CHANNEL)
    thoughts, spoken = [_CHANNEL_END.split(before, maxsplit=1)[0]], list[str]()
    is_final = False
    for part in parts:
        head, _, body = part.partition("<|message|>")
        name = _CHANNEL_NAME.match(head)
        is_final = name is not None and name[1] == "final"
        (spoken if is_final else thoughts).append(_CHANNEL_END.split(body, maxsplit=1)[0])
    return _split_reply(thoughts, spoken, is_cut=not is_final)


def _split_bare_channels(reply: str) -> SplitReply:
    inside, final, spoken = reply.removeprefix(_BARE_ANALYSIS).rpartition(_BARE_FINAL)
    return _split_reply([inside or spoken], [spoken], is_cut=not final)
