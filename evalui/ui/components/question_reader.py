"""The open one of a list in full, beside it: another one begins at its top."""

import gradio as gr

from evalui.ui.components.listing import FOLDS

# What is unfolded stays so from one question to the next: whoever reads prompts, reads on.
READER = (
    FOLDS
    + """
let read = '';
const menus = () => [...element.querySelectorAll('details.menu')];
const begin = () => {
  const pane = element.querySelector('[data-read]');
  if (pane && pane.dataset.read !== read) pane.scrollTo(0, 0);
  read = pane?.dataset.read ?? '';
  for (const menu of menus()) menu.open = false;
};
// A menu closes where a visitor goes on.
const away = event => {
  if (!element.isConnected) return document.removeEventListener(event.type, away);
  for (const menu of menus()) {
    const isLeft = event.type === 'click' && !menu.contains(event.target);
    if (isLeft || event.key === 'Escape') menu.open = false;
  }
};
document.addEventListener('click', away);
document.addEventListener('keydown', away);
watch('value', begin);
begin();
"""
)


def question_reader() -> gr.HTML:
    """The reader; its value is markup whose pane names in `data-read` what is read there."""
    return gr.HTML("", js_on_load=READER, apply_default_css=False, elem_classes="ev reader-pane")
