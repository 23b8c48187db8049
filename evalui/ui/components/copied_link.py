"""A link that is shown once: it can be followed or copied."""

import gradio as gr

from evalui.messages import Messages
from evalui.report.html import Html
from evalui.ui.components.templates import fill

# A page that came without TLS has no clipboard of its own, but may copy what is selected.
_SCRIPT = """
const copy = text => {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = Object.assign(document.createElement('textarea'), {value: text});
  field.style.cssText = 'position: fixed; opacity: 0';
  document.body.append(field);
  field.select();
  document.execCommand('copy');
  field.remove();
};
element.addEventListener('click', ({target}) => {
  const button = target.closest('[data-copy]');
  if (!button) return;
  copy(element.querySelector('a').href);
  button.textContent = button.dataset.done;
});
"""


def copied_link() -> gr.HTML:
    """The component, hidden until it has a link."""
    return gr.HTML(visible=False, js_on_load=_SCRIPT, apply_default_css=False)


def link_to_copy(t: Messages, href: str, word: str, about: str) -> Html:
    """The value that shows a link; `about` says what to do with it."""
    return fill("copied_link.html", t=t, href=href, word=word, about=about)
