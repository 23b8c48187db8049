"""A place to drop files and folders on, as `gr.File` is one, over our own route of uploads.

`gr.File` sends the names of files without their folders, does not read a folder that is dropped
beside files, cannot be stopped, and needs a stream for its progress; what it has sent is a path on
the server that the browser names from then on. Here the answer is the id of an upload, which is
its owner's alone (docs/adr/0024-gradio-pages.md).
"""

from collections.abc import Sequence
from typing import Any

import gradio as gr

from evalui.messages import Messages
from evalui.report.html import Html
from evalui.ui.components.templates import fill

_WORDS = ("sending", "reading", "cancel", "lost")
_SCRIPT = """
const walk = entry => new Promise(done => {
  if (entry.isFile) {
    // Of two files with one name the folder tells which is which.
    const placed = file => Object.assign(file, {place: entry.fullPath.slice(1)});
    entry.file(file => done([placed(file)]), () => done([]));
    return;
  }
  // A reader hands out at most 100 entries a time.
  const reader = entry.createReader();
  const found = [];
  const more = () => reader.readEntries(async some => {
    if (some.length) found.push(...some), more();
    else done((await Promise.all(found.map(walk))).flat());
  }, () => done([]));
  more();
});
const dropped = async transfer => {
  const entries = [...transfer.items].map(item => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return [...transfer.files];
  return (await Promise.all(entries.map(walk))).flat();
};
const send = (zone, files) => {
  if (!files.length) return;
  const status = zone.querySelector('[data-status]');
  const body = new FormData();
  for (const file of files) body.append('files', file, file.place ?? file.name);
  const request = new XMLHttpRequest();
  request.responseType = 'json';
  const lang = `?lang=${document.documentElement.lang.slice(0, 2)}`;
  request.open('POST', `../upload${lang}`);
  const word = Object.assign(document.createElement('span'), {className: 'dim'});
  const bar = Object.assign(document.createElement('progress'), {max: 1});
  const cancel = document.createElement('button');
  Object.assign(cancel, {type: 'button', className: 'link'});
  const say = text => status.replaceChildren(text);
  cancel.textContent = zone.dataset.cancel;
  cancel.addEventListener('click', () => request.abort());
  request.upload.onprogress = event => {
    if (!event.lengthComputable) return;
    bar.value = event.loaded / event.total;
    word.textContent = `${zone.dataset.sending} ${Math.round(100 * bar.value)} %`;
  };
  request.upload.onload = () => {
    bar.removeAttribute('value');
    word.textContent = zone.dataset.reading;
  };
  request.onload = () => {
    cancel.remove();
    if (request.status === 401) location.reload();
    else if (request.status !== 200) say(request.response?.error ?? zone.dataset.lost);
    else {
      trigger('act', {do: zone.dataset.act, upload: request.response.upload});
      setTimeout(follow, 1000, `../upload/${request.response.upload}${lang}`);
    }
  };
  // The server says how many rows it has read, until the page shows them.
  const follow = async place => {
    if (!word.checkVisibility()) return;
    const answer = await fetch(place).then(each => each.json()).catch(() => null);
    if (answer?.status) word.textContent = answer.status;
    setTimeout(follow, 1000, place);
  };
  request.onerror = () => say(zone.dataset.lost);
  request.onabort = () => say('');
  word.textContent = zone.dataset.sending;
  status.replaceChildren(word, ' ', bar, ' ', cancel);
  request.send(body);
};
element.addEventListener('change', ({target}) => {
  if (target.type !== 'file') return;
  send(target.closest('.drop'), [...target.files]);
  target.value = '';
});
for (const kind of ['dragover', 'dragleave', 'drop']) {
  element.addEventListener(kind, event => {
    const zone = event.target.closest('.drop');
    if (!zone) return;
    event.preventDefault();
    zone.classList.toggle('over', kind === 'dragover');
    if (kind === 'drop') dropped(event.dataTransfer).then(files => send(zone, files));
  });
}
// What was sent is on the page once it has been answered.
watch('settled', () => element.querySelector('[data-status]')?.replaceChildren());
"""


def drop_zone(value: Html, **settings: Any) -> gr.HTML:
    """The component; its event `act` comes with each upload, and says what it was dropped for.

    A new value of the property `settled` says that what was sent last has been answered.
    """
    return gr.HTML(value, js_on_load=_SCRIPT, apply_default_css=False, settled="", **settings)


def zone(
    t: Messages,
    act: str,
    choose: str,
    *,
    name: str,
    look: str = "",
    title: str = "",
    about: Sequence[str] = (),
) -> Html:
    """The markup of a place to drop files on for what `act` says; `choose` are its button's words.

    `name` is the id of its input.
    """
    return fill(
        "evaluate/drop_zone.html",
        act=act,
        choose=choose,
        id=name,
        look=look,
        title=title,
        about=about,
        words={word: t(f"drop.{word}") for word in _WORDS},
    )
