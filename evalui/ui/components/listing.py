"""Markup of ours as a component; in a listing what is unfolded stays so, and buttons are events."""

from typing import Any

import gradio as gr

# Of every component with markup of ours: what is unfolded and has an id is unfolded again wherever
# it stands in this browser.
# `data-do="ask"` unfolds the question of its row, whose answers are buttons, too.
FOLDS = """
const KEPT = 'evalui.opened';
const kept = () => JSON.parse(localStorage.getItem(KEPT) ?? '[]');
// Which folds a visitor turned over, and whether their markup had them open then.
const opened = new Map(kept().map(id => [id, null]));
let asked = '';
const key = node => node.closest('[data-key]')?.dataset.key ?? '';
const name = fold => fold.id || `${key(fold)} ${fold.className}`;
const question = () => {
  for (const row of element.querySelectorAll('[data-key]')) {
    const question = row.querySelector('[data-question]');
    if (!question) continue;
    const isAsked = row.dataset.key === asked;
    question.hidden = !isAsked;
    question.previousElementSibling.hidden = isAsked;
  }
};
// A fold that the markup opens is only closed by a visitor, and the other way round.
element.addEventListener('toggle', ({target}) => {
  if (!target.matches?.('details:not(.menu)')) return;
  const wasOpen = target.hasAttribute('data-opened');
  if (target.open === wasOpen) opened.delete(name(target));
  else opened.set(name(target), wasOpen);
  if (!target.id) return;
  const ids = kept().filter(id => id !== target.id);
  if (opened.has(target.id)) ids.push(target.id);
  localStorage.setItem(KEPT, JSON.stringify(ids));
}, true);
// What had the focus has it again when it is drawn anew.
let focused = null;
element.addEventListener('focusin', ({target}) => {
  const {do: act} = target.dataset;
  const address = JSON.stringify(target.getAttribute('href') ?? '');
  const control = act ? `[data-do="${act}"]` : `[href=${address}]`;
  focused = `[data-key="${CSS.escape(key(target))}"] ${control}`;
});
element.addEventListener('focusout', ({target}) => { if (target.isConnected) focused = null; });
const refocus = () => {
  if (focused && document.activeElement === document.body) element.querySelector(focused)?.focus();
};
const redraw = () => {
  for (const fold of element.querySelectorAll('details:not(.menu)')) {
    if (fold.open) fold.setAttribute('data-opened', '');
    // Markup that has it as the visitor wants it by now stays.
    const isTurned = opened.has(name(fold)) && (opened.get(name(fold)) ?? fold.open) === fold.open;
    if (isTurned) fold.open = !fold.open;
  }
  question();
  refocus();
};
element.addEventListener('click', event => {
  const button = event.target.closest('button[data-do]');
  if (!button) return;
  const act = button.dataset.do;
  asked = act === 'ask' ? key(button) : '';
  question();
  if (act === 'ask') button.closest('[data-key]').querySelector('[data-question] button').focus();
  else if (act !== 'keep') trigger('act', {...button.dataset});
});
watch(['value', 'markup'], redraw);
redraw();
"""

# The link to a new evaluation leads to the files that were dropped there; tests wait for `ready`.
_BAR = """
const send = window.fetch;
const SLOW_MS = 400;
const SOON_MS = 500;
let pressed = -Infinity;
let working = 0;
let slow = 0;
for (const kind of ['click', 'input', 'keydown']) {
  document.addEventListener(kind, () => { pressed = performance.now(); }, true);
}
// The line that says that what was pressed is being done.
const tell = isBusy => {
  document.body.toggleAttribute('data-busy', isBusy);
  const line = element.querySelector('.busy');
  if (line) line.textContent = isBusy ? line.dataset.word : '';
};
const admitted = async (...sent) => {
  const answer = await send(...sent);
  // Whose session has ended signs in again, and comes back to the same address.
  if (answer.status === 401) location.reload();
  return answer;
};
window.fetch = async (...sent) => {
  const isEvent = String(sent[0]).includes('/gradio_api/run/');
  // A page that looks again by itself does so quietly.
  if (!isEvent || performance.now() - pressed > SOON_MS) return admitted(...sent);
  if (!working++) slow = setTimeout(tell, SLOW_MS, true);
  try {
    return await admitted(...sent);
  } finally {
    if (!--working) {
      clearTimeout(slow);
      tell(false);
    }
  }
};
watch('value', () => {
  const link = element.querySelector('[data-kept]');
  const kept = sessionStorage.getItem('evalui.evaluate');
  if (link && kept) link.search = kept;
  // On a phone the places scroll sideways, and the open one may be out of sight.
  const open = element.querySelector('.tabs [aria-current]');
  if (open) {
    const {offsetLeft: left, offsetWidth: width, parentElement: places} = open;
    places.scrollLeft = Math.max(0, left + width - places.clientWidth + 16);
  }
  document.body.dataset.ready = '';
});
"""


def bar() -> gr.HTML:
    """The place of the bar above a page, which comes with the first answer."""
    return gr.HTML(js_on_load=_BAR, apply_default_css=False, elem_classes="bar")


def markup(value: str = "", **settings: Any) -> gr.HTML:
    """A component that shows ready markup and does nothing."""
    return gr.HTML(value, js_on_load=None, apply_default_css=False, **settings)


def listing() -> gr.HTML:
    """A component whose value is ready markup, hidden until it has some.

    Its event `act` carries the data of a pressed button; its `do` says what is wanted.
    """
    return gr.HTML(visible=False, js_on_load=FOLDS, apply_default_css=False)
