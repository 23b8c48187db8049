"""A sentence with a link that is shown once, and a button that copies it."""

import gradio as gr

# `navigator.clipboard` is only there where the page came by TLS or from this machine.
_SCRIPT = """
element.addEventListener('click', event => {
  const button = event.target.closest('[data-copy]');
  if (!button) return;
  const link = new URL(button.dataset.copy, document.baseURI).href;
  if (navigator.clipboard) navigator.clipboard.writeText(link);
  else {
    const field = document.createElement('textarea');
    field.value = link;
    field.style.cssText = 'position: fixed; opacity: 0';
    document.body.append(field);
    field.select();
    document.execCommand('copy');
    field.remove();
  }
  button.textContent = button.dataset.done;
});
"""


def secret_link() -> gr.HTML:
    """A component whose value is ready markup, hidden until it has some.

    A button with `data-copy` copies that address, relative to the page, and then reads `data-done`.
    """
    return gr.HTML(visible=False, js_on_load=_SCRIPT, apply_default_css=False)
