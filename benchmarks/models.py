"""Models: our backend beside lm-eval on the same texts, and what we do alone."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from benchmarks.contest import Compared, Contest, Session, alone, meet
from benchmarks.floor import FLOPS, floor, products
from benchmarks.peer import opened
from benchmarks.questions import MODEL, cloze, letters, pairs, questions
from benchmarks.rows import Goal, Row
from evalui.models import Model, ModelEntry, open_model
from evalui.types import (
    Generate,
    GeneratedText,
    LabelProbs,
    Loglik,
    Logprob,
    NextToken,
    Pattern,
    Request,
    Response,
)

GROUP = "models"
_BATCH = 16
_CLOSE = 1e-4


@dataclass(frozen=True, slots=True)
class Task:
    """One way of asking; `pattern` None is CP. `full` questions are what the goal is set for."""

    work: str
    pattern: Pattern | None
    n_shots: int
    full: int
    goal: float

    def requests(self, count: int) -> list[Request]:
        """What is asked of so many questions."""
        asked = questions(count)
        if self.pattern is None:
            return cloze(asked, self.n_shots)
        return letters(asked, self.n_shots, self.pattern)


TASKS = (
    Task("CP, 0-shot", None, 0, 200, 3.5),
    Task("CP, 5-shot", None, 5, 200, 17),
    Task("MCP, 0-shot", "origin", 0, 200, 1.2),
    Task("MCP, 5-shot", "origin", 5, 200, 5),
    Task("MCP circular x4, 0-shot", "circular", 0, 200, 1.7),
    Task("MCP all_possible x24, 0-shot", "all_possible", 0, 20, 2.5),
    Task("MCP all_possible x24, 5-shot", "all_possible", 5, 20, 12),
)


@dataclass(frozen=True, slots=True)
class Subject:
    """A model that is measured, and where. `batch` is lm-eval's.

    `peaks` are floating-point operations a second, by whose product they were measured on. `close`
    is how far the log-likelihoods of both may be apart, None where rounding flips near-ties.
    `goals` are those of the small model on a processor.
    """

    folder: Path
    dtype: str
    device: str
    batch: int
    peaks: Mapping[str, float]
    close: float | None
    by: Literal["cpu", "wall"] = "cpu"
    title: str = ""
    goals: bool = False

    def open(self) -> Model:
        """The model in our backend."""
        entry = ModelEntry(
            "bench", "transformers", path=str(self.folder), dtype=self.dtype, device=self.device
        )
        return open_model(entry)


def rows(session: Session) -> Iterator[Row]:
    """CP and MCP of a small Qwen2 in float32, and what it writes."""
    found = products()
    for name, timing in found.items():
        yield Row(GROUP, f"float32 product, {name}", FLOPS // 10**6, "million operations", timing)
    rates = {name: FLOPS / timing.cpu for name, timing in found.items()}
    small = Subject(MODEL, "float32", "cpu", _BATCH, rates, _CLOSE, goals=True)
    yield from measured(small, session)


def measured(subject: Subject, session: Session) -> Iterator[Row]:
    """Every task of a subject in every size, beside lm-eval; then writing."""
    model = subject.open()
    sizes = [(task, count) for task in TASKS for count in session.scaled(task.full)]
    work = {
        "model": str(subject.folder),
        "dtype": subject.dtype,
        "device": subject.device,
        "batch": subject.batch,
        "jobs": {f"{task.work} {count}": pairs(task.requests(count)) for task, count in sizes},
    }
    with opened("lmeval", session.peers, work) as peer:
        for task, count in sizes:
            requests = task.requests(count)
            dict(model.answer(requests[:8]))  # warm
            contest = _contest(subject, task, count, requests, model)
            yield _with_floor(
                replace(meet(contest, peer, session), by=subject.by), requests, subject
            )
    yield from _writing(subject, model, session)
    model.close()


def _contest(
    subject: Subject, task: Task, count: int, requests: list[Request], model: Model
) -> Contest:
    def ours() -> Mapping[int, Response]:
        return dict(model.answer(requests))

    goal = Goal("ratio", task.goal) if subject.goals and count == task.full else None
    return Contest(
        group=GROUP,
        work=subject.title + task.work,
        count=count,
        unit="questions",
        job=f"{task.work} {count}",
        ours=ours,
        compare=lambda theirs, found: _compared(subject, model, requests, theirs, found),
        goal=goal,
    )


def _compared(
    subject: Subject,
    model: Model,
    requests: Sequence[Request],
    theirs: list[tuple[float, bool]],
    found: Mapping[int, Response],
) -> Compared:
    """Are the choices equal, and the log-likelihoods of the very same pairs?

    A letter of ours is the sum of all its spellings. So the log-likelihoods of MCP are asked of
    us once more as lm-eval asks them, outside the time.
    """
    totals = [total for total, _ in theirs]
    ours = [score for place in range(len(requests)) for score in _scores(found[place])]
    starts = range(0, len(totals), 4)
    alike = sum(_pick(ours[at : at + 4]) == _pick(totals[at : at + 4]) for at in starts)
    if isinstance(requests[0], NextToken):
        again = dict(model.answer([Loglik(*pair) for pair in pairs(list(requests))]))
        ours = [score for place in range(len(again)) for score in _scores(again[place])]
    apart = max(abs(one - other) for one, other in zip(ours, totals, strict=True))
    return Compared(
        f"choices equal {alike}/{len(starts)}, max abs(d ll) {apart:.1e}",
        equal=subject.close is None or (alike == len(starts) and apart <= subject.close),
    )


def _scores(response: Response) -> Sequence[float]:
    match response:
        case Logprob():
            return (response.total,)
        case LabelProbs():
            return response.logprobs
        case GeneratedText():
            raise AssertionError("no text was asked for")


def _pick(scores: Sequence[float]) -> int:
    return max(range(len(scores)), key=lambda place: scores[place])


def _with_floor(row: Row, requests: Sequence[Request], subject: Subject) -> Row:
    least = floor(subject.folder, requests)
    seconds: float = getattr(row.ours, subject.by)
    shares = ", ".join(
        f"{100 * least.flops / rate / seconds:.0f} % of {name}"
        for name, rate in subject.peaks.items()
    )
    told = f"{least.tokens:,} tokens, {least.tokens / seconds:,.0f}/s, {shares}"
    return replace(row, found="; ".join(filter(None, (row.found, told))))


def _writing(subject: Subject, model: Model, session: Session) -> Iterator[Row]:
    """Texts written together, to a fixed length; a text may end earlier."""
    length = 64
    for count in session.scaled(100):
        prompts = [
            Generate(request.context, max_tokens=length)
            for request in cloze(questions(count), 0)[::4]
            if isinstance(request, Loglik)
        ]
        texts = [text for _, text in model.answer(prompts) if isinstance(text, GeneratedText)]
        tokens = sum(text.usage.completion_tokens for text in texts if text.usage)
        row = alone(
            GROUP,
            f"{subject.title}writing, {count} texts of up to {length} tokens",
            tokens,
            "tokens",
            lambda asked=prompts: dict(model.answer(asked)),
            session,
        )
        yield replace(row, by=subject.by)
