"""The prompt of one order as it was sent: worked examples folded, the scored question visible."""

from evalui.messages import Messages
from evalui.report.html import Html
from evalui.report.words import in_words
from evalui.runs.results import SentPrompt
from evalui.types import Decide, Loglik, Prompt, prompt_of
from evalui.ui.components.pictures import Pictures
from evalui.ui.components.templates import fill

_END = 24  # characters of a prompt before what a model is asked to continue it with


def sent_prompt(
    t: Messages, sent: SentPrompt, shots: int, subject: str, pictures: Pictures
) -> Html:
    """The requests of one order; of several that differ in their end, the prompt stands once. Of a
    decision it is followed by what is to be decided, and by each option under its key.
    """
    prompt, scored = prompt_of(sent.requests[0]), prompt_of(sent.scored[0])
    before, shown = split_prompt(prompt, scored)
    n = f"{len(_text(before)):,}"
    fold = t.count("question.fold", shots) if shots else t("question.fold_instruction")
    return fill(
        "questions/prompt.html",
        t=t,
        pictures=pictures,
        fold=fold if _text(before).strip() else "",
        size=t("question.fold_subject", n=n, subject=subject)
        if subject
        else t("question.fold_size", n=n),
        before=before,
        shown=shown,
        continuations=[
            (_end(t, each.context), each.continuation)
            for each in sent.requests
            if isinstance(each, Loglik)
        ],
        decisions=[each for each in sent.requests if isinstance(each, Decide)],
    )


def _end(t: Messages, prompt: Prompt) -> str:
    return in_words(prompt, t.language)[-_END:] if isinstance(prompt, str) else ""


def split_prompt(prompt: Prompt, scored: Prompt) -> tuple[Prompt, Prompt]:
    """What stands before the scored question, and the question; ("", all) where that is unknown.

    >>> split_prompt("1+1=2 2+2=", "2+2=")
    ('1+1=2 ', '2+2=')
    """
    if isinstance(prompt, str) and isinstance(scored, str) and prompt.endswith(scored) and scored:
        return prompt[: len(prompt) - len(scored)], scored
    if isinstance(prompt, tuple) and isinstance(scored, tuple) and scored:
        place = len(prompt) - len(scored)
        if place >= 0 and prompt[place:] == scored:
            return prompt[:place], scored
    return "", prompt


def _text(prompt: Prompt) -> str:
    return prompt if isinstance(prompt, str) else "\n".join(turn.content for turn in prompt)
