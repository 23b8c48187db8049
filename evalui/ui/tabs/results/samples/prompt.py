"""The prompt of one order as it was sent: worked examples folded, the scored question visible."""

from evalui.messages import Messages
from evalui.report.html import Child, Html, div, el, join, span
from evalui.runs.database.question_pages import SentPrompt
from evalui.types import Generate, Loglik, Message, Prompt, Request


def sent_prompt(t: Messages, sent: SentPrompt, shots: int, subject: str) -> Html:
    """The requests of one order; of several that differ in their end, the prompt stands once."""
    request, *more = sent.requests
    prompt, scored = _prompt_of(request), _prompt_of(sent.scored[0])
    before, shown = split_prompt(prompt, scored)
    return div(
        _fold(t, before, shots, subject) if _text(before).strip() else None,
        el("pre", format_prompt(t, shown)),
        *(div(line, cls="meta") for each in (request, *more) if (line := _continuation(each))),
        cls="sent",
    )


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


def format_prompt(t: Messages, prompt: Prompt) -> Html:
    """A prompt as it is read: a text as it is, a conversation with its roles."""
    if isinstance(prompt, str):
        return join(prompt)
    return join(*(_turn(t, turn) for turn in prompt))


def _turn(t: Messages, turn: Message) -> Html:
    return join(el("b", t(f"role.{turn.role}")), "\n", turn.content, "\n\n")


def _fold(t: Messages, before: Prompt, shots: int, subject: str) -> Html:
    name = t.count("question.fold", shots) if shots else t("question.fold_instruction")
    n = f"{len(_text(before)):,}"
    size = t("question.fold_size", n=n)
    if subject:
        size = t("question.fold_subject", n=n, subject=subject)
    return el(
        "details",
        el("summary", el("b", name), " ", span(size, cls="meta")),
        el("pre", format_prompt(t, before)),
        cls="fold",
    )


def _text(prompt: Prompt) -> str:
    return prompt if isinstance(prompt, str) else "\n".join(turn.content for turn in prompt)


def _prompt_of(request: Request) -> Prompt:
    return request.prompt if isinstance(request, Generate) else request.context


def _continuation(request: Request) -> Child:
    if not isinstance(request, Loglik):
        return None
    context = request.context if isinstance(request.context, str) else ""
    return join(span("… ", context[-24:], cls="mono"), el("b", request.continuation, cls="mono"))
