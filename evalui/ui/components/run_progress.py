"""How far a live run is, as a component that looks for itself and draws what has changed.

It requests a small JSON with its tag every two seconds while the page can be seen, so that no
connection stays open. What it draws comes as plain text and becomes text of elements, never markup.
"""

import json

import gradio as gr

from evalui.messages import Messages
from evalui.report.markers import SHAPES
from evalui.types import Language
from evalui.ui.components.progress_document import ProgressDocument
from evalui.ui.components.templates import fill

_STYLE = """
.progress .bar { min-height: 0; height: 6px; }
.progress .bar > b { transition: width 0.4s; }
.progress .whole { margin-bottom: 12px; }
.progress .two { display: flex; justify-content: space-between; gap: 8px; }
.progress .far { margin-bottom: 6px; }
.matrix { table-layout: fixed; min-width: 640px; }
.matrix .bar { margin: 6px 0; }
.matrix .mk { white-space: normal; }
.matrix th:first-child { width: 152px; }
.matrix th:not(:first-child) { padding-left: 16px; }
.matrix tbody th { vertical-align: top; padding: 12px 0 0; font-size: 14px; line-height: 20px;
  color: var(--ink); border-bottom: 1px solid var(--line); }
.matrix tr:last-child th { border-bottom: 0; }
.matrix td { padding: 12px 16px; border-left: 1px solid var(--line); }
.matrix .column { display: none; }
@media (max-width: 640px) {
  .scroll > .matrix { display: block; min-width: 0 !important; }
  .matrix > thead { display: none; }
  .matrix :is(tbody, tr, tbody th, td), .matrix .column { display: block; }
  .matrix tbody th { width: auto; border: 0; }
  .matrix td { border: 0; padding: 8px 0 12px; }
  .matrix tr + tr { border-top: 1px solid var(--line); }
}
"""
_SCRIPT = """
const LOOK_MS = 2000, FOLLOW_MS = 5000;
let seen = {}, followed = Date.now(), timer = 0, failures = 0, isAsked = false;
const pattern = (name, key) =>
  element.querySelector(`template[data-${name}="${key}"]`).content.firstElementChild.cloneNode(true);
const made = (name, attributes, ...children) => {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== '') node.setAttribute(key, value);
  }
  node.append(...children.filter(child => child !== null && child !== ''));
  return node;
};
const box = (cls, ...children) => made('div', {class: cls}, ...children);
const words = (cls, text) => text && made('span', {class: cls}, text);
const state = (kind, word) => made('span', {class: `st ${kind}`}, pattern('kind', kind), word);
const note = (kind, ...lines) =>
  made('div', {class: `note ${kind}`, role: 'note'}, pattern('kind', kind), box('', ...lines));
const bar = (share, label) => {
  const percent = Math.round(100 * Math.min(Math.max(share, 0), 1));
  const values = {'aria-valuemin': 0, 'aria-valuemax': 100, 'aria-valuenow': percent};
  const filled = made('b', {style: `width:${(100 * share).toFixed(1)}%`});
  return made('div', {class: 'bar', role: 'progressbar', 'aria-label': label, ...values}, filled);
};
const fold = (word, ...children) => made('details', {}, made('summary', {}, word), ...children);

const cell = now => {
  if (!now) return made('td', {}, words('meta', '–'));
  const td = made('td', {}, box('meta column', now.column));
  if (now.share === null) td.append(state(now.kind, now.word));
  else td.append(
    box('two', state(now.kind, now.word), words('dim', now.count)),
    bar(now.share, now.label),
    box('two',
      made('span', {}, now.value && made('b', {}, now.value), now.value && ' ',
        words('meta', now.detail)),
      words('meta r', now.speed) || made('span', {})),
  );
  if (now.error) td.append(box('bad', now.error));
  if (now.trace) td.append(fold(props.trace, made('pre', {}, now.trace)));
  td.append(...now.notes.map(text => box('meta', text)));
  return td;
};
const model = now => {
  const marker = pattern('shape', now.shape);
  marker.firstElementChild.setAttribute('fill', `var(--d${now.colour})`);
  return made('span', {class: 'mk'}, marker, now.model);
};
const table = (heads, rows, attributes) => made('div', {class: 'scroll'}, made('table', attributes,
  made('thead', {}, made('tr', {}, ...heads.map((head, at) =>
    made('th', {scope: 'col', class: at && !attributes.class ? 'r' : ''}, head)))),
  made('tbody', {}, ...rows)));
const body = now => box('',
  box('two far meta', words('', now.work), words('r', now.left)),
  box('whole', bar(now.share, now.name)),
  failures > 1 ? box('whole', note('warn', props.lost)) : '',
  now.error && box('whole', note('bad', now.error)),
  now.waits.length ? box('whole stack', ...now.waits.map(wait =>
    note('warn', made('b', {}, wait.cell), box('', wait.reason), box('meta', wait.when)))) : '',
  table(now.heads, now.models.map(row => made('tr', {},
    made('th', {scope: 'row'}, model(row)), ...row.cells.map(cell))),
    {class: 'matrix', style: `min-width:${160 + 220 * (now.heads.length - 1)}px`}),
  now.note && box('gap-s', note('na', now.note)),
  now.charges && box('meta gap-s', now.charges),
  now.charge_rows.length ? fold(props.charged, table(now.charge_heads, now.charge_rows.map(row =>
    made('tr', {}, ...row.map((text, at) => made('td', {class: at ? 'r' : ''}, text)))), {})) : '');

// Only what differs is touched: what is unfolded, selected or scrolled stays.
const patch = (old, now) => {
  if (old.nodeName !== now.nodeName) return void old.replaceWith(now);
  if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== now.data) old.data = now.data;
    return;
  }
  for (const {name, value} of now.attributes) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  for (const {name} of [...old.attributes]) {
    if (name !== 'open' && !now.hasAttribute(name)) old.removeAttribute(name);
  }
  const children = [...now.childNodes];
  children.forEach((child, at) => {
    if (old.childNodes[at]) patch(old.childNodes[at], child);
    else old.append(child);
  });
  while (old.childNodes.length > children.length) old.lastChild.remove();
};
const draw = () => {
  const {now} = seen;
  const place = element.querySelector('.progress');
  document.title = now?.title ?? props.title;
  if (!now) return place.replaceChildren();
  if (place.dataset.run !== now.run) place.replaceChildren();
  place.dataset.run = now.run;
  const drawn = body(now);
  if (place.firstChild) patch(place.firstChild, drawn);
  else place.append(drawn);
  // The row of the queue states the same.
  for (const name of ['work', 'left']) {
    for (const copy of document.querySelectorAll(`[data-${name}-of="${CSS.escape(now.run)}"]`)) {
      if (now[name] && copy.textContent !== now[name]) copy.textContent = now[name];
    }
  }
};

const follow = () => {
  if (!seen.isGone && seen.now.queue === seen.queue) return;
  const isUrgent = !seen.isTold && (seen.isGone || seen.now.is_over !== seen.wasOver);
  if (!isUrgent && Date.now() - followed < FOLLOW_MS) return;
  followed = Date.now();
  seen.isTold = true;
  trigger('follow', {});
};
const again = () => {
  clearTimeout(timer);
  const isSeen = !document.hidden && element.isConnected;
  if (seen.now?.is_live && isSeen) timer = setTimeout(look, LOOK_MS);
};
async function look() {
  if (isAsked) return;
  isAsked = true;
  const mine = seen;
  try {
    const place = new URL(mine.address, document.baseURI);
    const headers = {'If-None-Match': mine.tag};
    const answer = await fetch(place, {headers, cache: 'no-store'});
    if (answer.status === 401) return location.reload();
    const news = answer.status === 200 ? await answer.json() : null;
    if (mine !== seen) return;
    const wasLost = failures > 1;
    failures = answer.ok || answer.status === 304 ? 0 : failures + 1;
    if (answer.status === 403 || answer.status === 404) seen.isGone = true;
    if (news) Object.assign(seen, {now: news, tag: answer.headers.get('ETag')});
    if (news || wasLost || failures) draw();
    follow();
  } catch {
    failures += 1;
    if (mine === seen) draw();
  } finally {
    isAsked = false;
    again();
  }
}
const take = () => {
  seen = props.value ? JSON.parse(props.value) : {};
  Object.assign(seen, {queue: seen.now?.queue, wasOver: seen.now?.is_over});
  draw();
  again();
};
watch('value', take);
take();
const shown = () => {
  if (!element.isConnected) return document.removeEventListener('visibilitychange', shown);
  clearTimeout(timer);
  if (!document.hidden && seen.now?.is_live) look();
};
document.addEventListener('visibilitychange', shown);
"""


def run_progress(t: Messages) -> gr.HTML:
    """The progress of a run; `shown_progress` gives its value, "" shows none.

    Its event `follow` lets the rest of the page follow, every five seconds at most: a run was
    queued, began or ended, or another one got further.
    """
    return gr.HTML(
        "",
        html_template=fill("run_progress.html", shapes=SHAPES),
        css_template=_STYLE,
        js_on_load=_SCRIPT,
        apply_default_css=False,
        title=f"{t('tab.runs')} · {t('app.name')}",
        lost=t("app.lost"),
        trace=t("runs.trace"),
        charged=t("charges.by_cell"),
    )


def shown_progress(language: Language, document: ProgressDocument, tag: str) -> str:
    """The value that shows a run, and looks at its route for news from `tag` on."""
    place = f"../progress/{document.run}?lang={language}"
    return f'{{"address":{json.dumps(place)},"tag":{json.dumps(tag)},"now":{document.json()}}}'
