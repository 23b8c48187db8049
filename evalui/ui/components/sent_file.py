"""A file that is sent to the route of uploads as soon as it is chosen.

Gradio's own upload is closed: whoever knows the path of a file there can read it, and an event that
names a file is refused. Our route keeps it as the sender's.
"""

import gradio as gr

from evalui.messages import Messages
from evalui.ui.components.templates import fill

_SCRIPT = """
const send = (field, [file]) => {
  const drop = field.closest('label');
  const words = drop.dataset;
  const status = drop.querySelector('[data-status]');
  const body = new FormData();
  body.append('files', file, file.name);
  const request = new XMLHttpRequest();
  request.responseType = 'json';
  request.open('POST', new URL(`../upload?lang=${words.language}`, document.baseURI));
  const word = document.createElement('span');
  const bar = Object.assign(document.createElement('progress'), {max: 1});
  const cancel = document.createElement('button');
  Object.assign(cancel, {type: 'button', className: 'link'});
  const say = text => status.replaceChildren(text);
  cancel.textContent = words.cancel;
  cancel.addEventListener('click', () => request.abort());
  request.upload.onprogress = event => {
    if (!event.lengthComputable) return;
    bar.value = event.loaded / event.total;
    word.textContent = `${words.sending} ${Math.round(100 * bar.value)} %`;
  };
  // The rows are read by the server, which does not state how far it is.
  request.upload.onload = () => {
    bar.removeAttribute('value');
    word.textContent = words.reading;
  };
  request.onload = () => {
    say(request.status === 200 ? '' : request.response?.error ?? words.lost);
    if (request.status === 200) trigger('sent', {upload: request.response.upload});
  };
  request.onerror = () => say(words.lost);
  request.onabort = () => say('');
  word.textContent = words.sending;
  status.replaceChildren(word, ' ', bar, ' ', cancel);
  request.send(body);
};
element.addEventListener('change', ({target}) => {
  if (target.type !== 'file' || !target.files.length) return;
  send(target, target.files);
  target.value = '';
});
"""


def sent_file(t: Messages, word: str, accept: str) -> gr.HTML:
    """A button `word` for a file of a kind such as ".jsonl"; hidden until it is shown.

    Its event `sent` has the name of the `upload`.
    """
    shown = fill("sent_file.html", t=t, word=word, accept=accept)
    return gr.HTML(shown, visible=False, js_on_load=_SCRIPT, apply_default_css=False)
