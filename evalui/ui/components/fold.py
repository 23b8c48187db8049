"""Sections that fold, as Gradio's Accordions whose closed line states the finding.

What a visitor has unfolded stays unfolded wherever it stands again, in this browser, and the end of
an address ("#by-subject") unfolds a section.
"""

from typing import Any

import gradio as gr

from evalui.report.blocks import Details

# Between name and finding in the one label that an Accordion has; the script parts it there.
_BETWEEN = "\u2003"
_SCRIPT = """
const KEPT = 'evalui.opened', MOST = 50;
const opened = new Set(JSON.parse(localStorage.getItem(KEPT) ?? '[]'));
const wanted = new Map(); // by name: whether a visitor or an address has it unfolded
let revealed = ''; // the address whose section was unfolded
const line = fold => fold.querySelector(':scope > button.label-wrap');
const isOpen = fold => line(fold).classList.contains('open');
const named = () => document.getElementById(decodeURIComponent(location.hash.slice(1)));
// The style sheet draws name and finding beside each other; the label itself is for readers.
const split = fold => {
  const label = line(fold).querySelector('span');
  const [name, finding] = label.textContent.split('\u2003');
  if (label.dataset.name !== name) label.dataset.name = name;
  if (label.dataset.finding !== (finding ?? '')) label.dataset.finding = finding ?? '';
  line(fold).setAttribute('aria-expanded', isOpen(fold));
};
const look = () => {
  for (const fold of document.querySelectorAll('.fold')) {
    if (!line(fold)) continue;
    split(fold);
    if (opened.has(fold.id) && !wanted.has(fold.id)) wanted.set(fold.id, true);
    if (fold === named() && revealed !== location.href) {
      revealed = location.href;
      wanted.set(fold.id, true);
      requestAnimationFrame(() => fold.scrollIntoView());
    }
    // What is drawn anew comes folded as it was first.
    if (wanted.has(fold.id) && wanted.get(fold.id) !== isOpen(fold)) line(fold).click();
  }
};
let isDue = false;
const lookSoon = () => {
  if (!isDue) requestAnimationFrame(() => { isDue = false; look(); });
  isDue = true;
};
const changes = {subtree: true, childList: true, characterData: true, attributeFilter: ['class']};
new MutationObserver(lookSoon).observe(document.body, changes);
// Before Gradio turns it over.
document.addEventListener('click', event => {
  const fold = event.target.closest('.fold > button.label-wrap')?.parentElement;
  if (!fold?.id) return;
  wanted.set(fold.id, !isOpen(fold));
  if (isOpen(fold)) opened.delete(fold.id);
  else opened.add(fold.id);
  localStorage.setItem(KEPT, JSON.stringify([...opened].slice(-MOST)));
}, true);
addEventListener('hashchange', lookSoon);
look();
"""


def folds() -> gr.HTML:
    """What remembers the folds of a page, once on each page that has some."""
    return gr.HTML(
        "", html_template="", js_on_load=_SCRIPT, apply_default_css=False, elem_classes="nothing"
    )


def fold(details: Details, name: str, **settings: Any) -> gr.Accordion:
    """A section to be filled; `name` is its place in addresses."""
    kind = [details.kind] if details.kind else []
    return gr.Accordion(
        f"{details.name}{_BETWEEN}{details.finding}",
        open=details.open,
        elem_id=name or None,
        elem_classes=["fold", *kind],
        **settings,
    )
