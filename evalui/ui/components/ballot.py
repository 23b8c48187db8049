"""The ballot: two answers without names, side by side, and the buttons and keys to vote with.

The pair after it is in the markup already, unseen: a vote shows it at once, and the server's
answer, which says the same, puts a further one behind it. No name of a model is in this markup: who
stands where is in the store.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import gradio as gr

from evalui.messages import Messages
from evalui.report.html import Html
from evalui.store.voting.ballots import Ballot
from evalui.store.voting.votes import VotingProgress
from evalui.types import Sample
from evalui.ui.components.formulas import FORMULAS, math_files
from evalui.ui.components.templates import fill
from evalui.ui.components.texts import render_markdown

CHOICES: Mapping[str, str] = {"1": "a", "2": "b", "3": "tie", "4": "neither"}  # by their keys

_SCRIPT = (
    FORMULAS
    + r"""
const UNREAD_MS = 200; // twice the same press would be a vote on a pair that nobody has read
const PATIENCE_MS = 8000; // then the vote is not stored, and its pair comes back
let since = performance.now(); // when the pair in hand was first seen
let seen = ''; // its token
let sequence = Math.floor(performance.now()); // of what was sent last; the answer to it says it
let pending = 0; // a timer while the server has not answered
let later = ''; // a key pressed meanwhile
let focused = ''; // the key of the button that had the focus, which the answer draws anew
const box = () => element.querySelector('.ballot');

const look = pair => {
  if (seen === pair?.dataset.pair) return;
  seen = pair?.dataset.pair;
  since = performance.now();
};
const settle = () => {
  clearTimeout(pending);
  pending = 0;
  later = '';
  box()?.classList.remove('ahead');
};
const shown = () => {
  const found = box();
  if (!found) return;
  if (pending && found.dataset.answer !== String(sequence)) return;
  const now = found.querySelector('.pair.now');
  const key = now?.dataset.pair === seen ? later : ''; // meant for the pair that was in view
  look(now);
  settle();
  drawFormulas(found);
  if (focused && document.activeElement === document.body) {
    found.querySelector(`[data-key="${focused}"]`)?.focus();
  }
  if (key) found.querySelector(`[data-key="${key}"]`)?.click();
};

element.addEventListener('click', ({target}) => {
  const button = target.closest('button[data-do]');
  if (!button) return;
  const unread = performance.now() - since < UNREAD_MS;
  const found = box();
  if (found.classList.contains('ahead') && !unread) later = button.dataset.key;
  if (pending || unread) return;
  const {choice = '', pair = '', next = ''} = button.dataset;
  const spent = ((performance.now() - since) / 1000).toFixed(1);
  focused = document.activeElement === button ? button.dataset.key : '';
  sequence += 1;
  pending = setTimeout(settle, PATIENCE_MS);
  const following = found.querySelector('.pair.next');
  if (button.dataset.do === 'undo') trigger('undo', {sequence});
  else {
    trigger('vote', {choice, pair, next, spent, sequence});
    if (following) {
      found.classList.add('ahead');
      look(following);
      if (found.getBoundingClientRect().top < 0) found.scrollIntoView();
    }
  }
});
const onKey = event => {
  if (!element.isConnected) return document.removeEventListener('keydown', onKey);
  if (event.repeat || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest('input, textarea, select, [contenteditable=true]')) return;
  const button = element.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
  if (!button?.checkVisibility()) return;
  event.preventDefault();
  button.click();
};
document.addEventListener('keydown', onKey);

watch('value', shown);
shown();
"""
)


def ballot() -> gr.HTML:
    """The component; its value is one of `pair_to_vote_on`, `all_voted_on` and `pair_alone`.

    Its events: `vote` has the `choice`, the token of its `pair`, that of the `next` one, which is
    shown already, and the seconds `spent`; `undo` takes the last vote back. Both have a `sequence`,
    which the value that answers them states: until then, and for 200 ms after a pair is shown, no
    other press is sent. Keys are silent in text fields.
    """
    return gr.HTML(visible=False, js_on_load=_SCRIPT, apply_default_css=False)


def pair_to_vote_on(
    t: Messages, ballots: Sequence[Ballot], progress: VotingProgress, answer: str = ""
) -> Html:
    """The first of the ballots with its buttons, and unseen the next; `answer` is a sequence."""
    following = ballots[1].pair_key if len(ballots) > 1 else ""
    return _ballot(t, ballots, answer, choices=CHOICES, following=following, progress=progress)


def all_voted_on(t: Messages, progress: VotingProgress, answer: str = "") -> Html:
    """That there is no other pair; the last vote can be taken back."""
    return _ballot(t, (), answer, progress=progress)


def pair_alone(t: Messages, shown: Ballot) -> Html:
    """A pair without buttons."""
    return _ballot(t, (shown,), "")


def _ballot(
    t: Messages,
    ballots: Sequence[Ballot],
    answer: str,
    *,
    choices: Mapping[str, str] | None = None,
    following: str = "",
    progress: VotingProgress | None = None,
) -> Html:
    script, sheet = math_files()
    return fill(
        "annotate/ballot.html",
        t=t,
        shown=[_shown(t, each) for each in ballots],
        answer=answer,
        choices=choices,
        following=following,
        last=None if progress is None else _last_vote(t, progress),
        can_undo=progress is not None and progress.last is not None,
        script=script,
        sheet=sheet,
    )


def _last_vote(t: Messages, progress: VotingProgress) -> str:
    """That the last vote is kept, and what it was."""
    if progress.last is None:
        return t("annotate.saved_first")
    word = t(f"annotate.said_{progress.last.choice}")
    return t("annotate.saved", n=f"{progress.own_votes + progress.skipped:,}", said=word)


@dataclass(frozen=True, slots=True)
class _Turn:
    """One answer, and the further question of a conversation before it."""

    answer: Html | str
    question: Html | str


@dataclass(frozen=True, slots=True)
class _ShownPair:
    """A ballot with its texts as harmless markup."""

    key: str
    facts: str
    history: list[tuple[str, Html]]
    question: Html
    references: list[Html]
    guidance: Html | str
    left: list[_Turn]
    right: list[_Turn]


def _shown(t: Messages, ballot: Ballot) -> _ShownPair:
    sample = ballot.sample
    language, guidance = (sample.metadata.get(name, "") for name in ("language", "guidance"))
    known = f"annotate.language_{language}"
    facts = (
        t("annotate.question"),
        sample.metadata.get("capability", ""),
        t(known) if known in t else language,
    )
    return _ShownPair(
        ballot.pair_key,
        " · ".join(fact for fact in facts if fact),
        [(turn.role, render_markdown(turn.content)) for turn in sample.history],
        render_markdown(sample.question),
        [render_markdown(text) for text in sample.references if text.strip()],
        render_markdown(guidance) if guidance.strip() else "",
        _turns(sample, ballot.left),
        _turns(sample, ballot.right),
    )


def _turns(sample: Sample, answers: Sequence[str]) -> list[_Turn]:
    questions = ("", *sample.follow_ups)
    return [
        _Turn(
            render_markdown(text) if text.strip() else "",
            render_markdown(question) if question else "",
        )
        for question, text in zip(questions, answers, strict=False)
    ]
