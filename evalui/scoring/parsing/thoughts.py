"""A model's thoughts, taken off its spoken text: the one place that knows how thoughts are marked.

Every mark here is set by a server or a chat template, not by the words of a model: tags
(`<think>…</think>` and its kin), special tokens, and the channels of gpt-oss ("harmony").
A reply is read once from front to back, so the cost grows with its length alone.
"""

import re
from dataclasses import dataclass


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
