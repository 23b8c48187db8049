"""What lets a page follow a run: a component that looks for news of it, and tells when there is.

It requests a small JSON while the page can be seen, so that no connection stays open, and of no
more than that there is news: what changed is then sent by an event of the page.
"""

import json
from collections.abc import Mapping

import gradio as gr

from evalui.messages import Messages
from evalui.ui.components.templates import fill

_SCRIPT = """
const SPREAD = 0.5; // of a pause that was told: not all look at the same moment
let timer = 0, isAsked = false, failures = 0;
const showLost = isLost => {
  const note = element.querySelector('template');
  const shown = note.nextElementSibling;
  if (isLost && !shown) note.after(note.content.cloneNode(true));
  if (!isLost) shown?.remove();
};
const again = pause => {
  clearTimeout(timer);
  const isSeen = !document.hidden && element.isConnected;
  if (props.value && isSeen) timer = setTimeout(look, 1000 * pause);
};
async function look() {
  if (isAsked) return;
  isAsked = true;
  const mine = props.value;
  const {address, version, pause_s} = JSON.parse(mine);
  let pause = pause_s;
  try {
    const answer = await fetch(new URL(address, document.baseURI), {cache: 'no-store'});
    if (answer.status === 401) return location.reload();
    failures = answer.ok ? 0 : failures + 1;
    if (mine !== props.value) {
      // Of a run that is no longer shown.
    } else if (answer.ok) {
      const news = await answer.json();
      if (news.pause_s > pause) pause = news.pause_s * (1 + SPREAD * Math.random());
      if (news.version !== version && mine === props.value) {
        trigger('news', {version: news.version});
      }
    } else if (answer.status === 403 || answer.status === 404) {
      dispatchEvent(new Event('reopen')); // the page says what became of the run
    }
  } catch {
    failures += 1;
  } finally {
    isAsked = false;
    showLost(failures > 1);
    again(pause);
  }
}
const take = () => again(props.value ? JSON.parse(props.value).pause_s : 0);
watch('value', take);
take();
const shown = () => {
  if (!element.isConnected) return document.removeEventListener('visibilitychange', shown);
  clearTimeout(timer);
  if (!document.hidden && props.value) look();
};
document.addEventListener('visibilitychange', shown);
"""


def run_news(t: Messages) -> gr.HTML:
    """What follows the run of its value, which `followed` gives; with "" it follows none.

    Its event `news` says which version there is, another one than the page has.
    """
    return gr.HTML(
        "",
        html_template=fill("run_news.html", lost=t("app.lost")),
        js_on_load=_SCRIPT,
        apply_default_css=False,
        elem_classes="run-news",
    )


def followed(run_id: str, version: str, pause_s: float, *, with_files: bool = False) -> str:
    """The value of a page that shows a version of a run, and looks again after a pause.

    Where the version is "" the first look finds news.
    """
    address = f"../news/{run_id}" + ("?files=yes" if with_files else "")
    return json.dumps({"address": address, "version": version, "pause_s": pause_s})


def version_in(sent: Mapping[str, object]) -> str:
    """The version that the data of an event `news` tell, "" in those of other events."""
    version = sent.get("version")
    return version if isinstance(version, str) else ""
