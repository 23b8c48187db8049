"""A list beside a reader: links, of which one is open, and the keys that lead to the next ones.

The list itself is drawn when it changes; a step only says which line is open, so that where it is
scrolled to, the focus and what is selected stay.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import gradio as gr

_STYLE = """
.list-h { display: flex; align-items: baseline; gap: 8px; padding-bottom: 8px;
  border-bottom: 1px solid var(--line-strong); }
.list-h .beside { margin-left: auto; display: flex; gap: 8px; }
.list-h .beside a { color: var(--ink-3); white-space: nowrap; }
.list-h .beside a:not([href]) { display: none; }
.list-h kbd { display: inline-flex; align-items: center; justify-content: center; min-width: 20px;
  height: 18px; padding: 0 4px; border: 1px solid var(--line); border-radius: 3px; background: none;
  box-shadow: none; color: var(--ink-3); font: 12px/16px var(--fixed); }
.lines { overflow-y: auto; overscroll-behavior: contain; scrollbar-width: thin;
  height: calc(100dvh - var(--above, 200px) - 57px); min-height: 280px; }
.questions a { display: block; padding: 10px 12px; border-bottom: 1px solid var(--line);
  color: var(--ink); }
.questions a:hover { background: var(--sunken); text-decoration: none; }
.questions a:focus-visible { outline-offset: -2px !important; }
.questions .q { display: -webkit-box; -webkit-line-clamp: 2; -webkit-box-orient: vertical;
  overflow: hidden; overflow-wrap: anywhere; }
.questions .f { display: flex; flex-wrap: wrap; gap: 2px 12px; align-items: center;
  margin-top: 4px; }
.questions .f > .meta:first-child { flex: 1; min-width: 0; overflow-wrap: anywhere; }
.questions a[aria-current] { background: var(--accent-soft);
  box-shadow: inset 3px 0 var(--accent); }
.questions a[aria-current] .q { font-weight: 600; }
.questions a[aria-current] .meta { color: var(--ink-2); }
.grow-list { padding: 12px; text-align: center; }
.legend-l { padding: 8px 12px; display: grid; gap: 4px; }
.legend-l .mk { gap: 4px; font-weight: 400; margin-right: 8px; }
.legend-l .nw + .nw { margin-left: 8px; }
@media (max-width: 900px) {
  .list-h .beside { display: none; }
  .lines { height: auto; min-height: 0; overflow: visible; }
  .questions a[aria-current] { background: none; box-shadow: none; }
  .questions a[aria-current] .q { font-weight: 400; }
}
"""
# The two panes end with the window and scroll on their own; on a narrow one they are two pages.
_SCRIPT = """
const SETTLED_MS = 400, MOST = 3;
const narrow = matchMedia('(max-width: 900px)');
const view = () => element.closest('.list-and-reader');
const steps = () => JSON.parse(props.steps || '{}');
const lines = () => element.querySelector('.lines');
let opened = '', wasAlone = false, left = 0, due = 0, tries = 0;

const fit = () => {
  if (!element.isConnected) return removeEventListener('resize', fit);
  const top = element.getBoundingClientRect().top + scrollY;
  view()?.style.setProperty('--above', `${Math.round(top)}px`);
};
// Answers may come in another order than they were asked for: what stands here at last is right.
const check = () => {
  clearTimeout(due);
  due = setTimeout(() => {
    const {query, of} = steps();
    if (!element.isConnected || query === undefined) return;
    const isRight = query === location.search.slice(1) && of === props.digest;
    tries = isRight ? 0 : tries + 1;
    if (!isRight && tries <= MOST) dispatchEvent(new Event('reopen'));
  }, SETTLED_MS);
};
const links = () => [...element.querySelectorAll('[data-line]')];
const mark = line => {
  for (const link of links()) {
    if (link.dataset.line === line) link.setAttribute('aria-current', 'true');
    else link.removeAttribute('aria-current');
  }
  return element.querySelector('[data-line][aria-current]');
};
const reveal = link => {
  const [pane, box] = [lines().getBoundingClientRect(), link.getBoundingClientRect()];
  if (box.top < pane.top) lines().scrollTop += box.top - pane.top;
  if (box.bottom > pane.bottom) lines().scrollTop += box.bottom - pane.bottom;
};
const show = () => {
  const {line = '', is_alone: isAlone = false, query, links: leads = {}} = steps();
  check();
  if (query !== location.search.slice(1)) return mark(opened); // a further step was made already
  const current = mark(line);
  for (const link of element.querySelectorAll('[data-step]')) {
    const href = leads[link.dataset.step];
    if (href) link.setAttribute('href', href);
    else link.removeAttribute('href');
  }
  view()?.classList.toggle('opened', isAlone);
  if (narrow.matches) {
    if (isAlone && !wasAlone) left = scrollY;
    if (isAlone && (line !== opened || !wasAlone)) scrollTo(0, 0);
    if (!isAlone && wasAlone) requestAnimationFrame(() => scrollTo(0, left));
  } else if (line !== opened && current) reveal(current);
  [opened, wasAlone] = [line, isAlone];
  requestAnimationFrame(fit);
};
// The line is marked at once, and the next step goes on from there.
element.addEventListener('click', ({target}) => {
  const link = target.closest('[data-line]');
  if (!link || narrow.matches) return;
  opened = link.dataset.line;
  reveal(mark(opened));
});
const step = name => {
  const all = links();
  const at = all.findIndex(link => link.hasAttribute('aria-current'));
  const beside = at < 0 ? null : all[at + (name === 'following' ? 1 : -1)];
  return beside ?? element.querySelector(`[data-step="${name}"][href]`);
};
const TYPED = 'input:not([type=checkbox]), textarea, select, [contenteditable=true]';
const KEYS = {j: 'following', k: 'previous'};
const onKey = event => {
  if (!element.isConnected) return document.removeEventListener('keydown', onKey);
  if (event.defaultPrevented || event.isComposing) return;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest?.(TYPED)) return;
  const link = KEYS[event.key] && step(KEYS[event.key]);
  const field = event.key === '/' && view()?.querySelector('.find :is(input, textarea)');
  if (!link && !field) return;
  event.preventDefault();
  if (link) link.click();
  else field.select();
};
document.addEventListener('keydown', onKey);
// On a phone the filters are unfolded by a button.
const onClick = ({target}) => {
  if (!element.isConnected) return document.removeEventListener('click', onClick);
  const button = target.closest?.('[data-unfold]');
  if (!button || !view()?.contains(button)) return;
  button.setAttribute('aria-expanded', view().classList.toggle('unfolded'));
};
document.addEventListener('click', onClick);
addEventListener('resize', fit);
new ResizeObserver(fit).observe(document.body);
watch(['value', 'steps'], show);
show();
"""


@dataclass(frozen=True, slots=True)
class Steps:
    """Which line of a list is open, by its `data-line`, and where links that depend on it lead.

    `links` are addresses by the `data-step` of a link: the `previous` and the `following` line,
    what keeps the open one and shows more. `is_alone`: the address names it, so that a phone shows
    it without the list.
    """

    line: str
    links: Mapping[str, str]
    is_alone: bool

    def json(self, query: str, digest: str) -> str:
        """The same for the list; it was drawn for the `query` of an address, beside the list of
        that digest.
        """
        return json.dumps(
            {
                "line": self.line,
                "links": dict(self.links),
                "is_alone": self.is_alone,
                "query": query,
                "of": digest,
            }
        )


def question_list() -> gr.HTML:
    """The list; its value is the markup of its lines, links with `data-line` within `.lines`.

    The update of `steps` opens one of them. j and k press the line after or before it, / enters
    the search field beside it; all are silent in text fields.
    """
    return gr.HTML(
        "",
        css_template=_STYLE,
        js_on_load=_SCRIPT,
        apply_default_css=False,
        elem_classes="ev list-pane",
        steps="{}",
        digest="",
    )
