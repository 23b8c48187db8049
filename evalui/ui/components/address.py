"""The address of a page as a component: what the page shows stands in it, and can be linked."""

import time
from typing import Any, cast
from urllib.parse import parse_qsl

import gradio as gr
from gradio.events import EventListener

from evalui.types import Language
from evalui.ui.components.form import Form, read_form
from evalui.ui.components.format import DOCUMENT_LANGUAGES

_SCRIPT = """
const root = document.documentElement;
const here = () => location.search.slice(1);
// Other pages lead back to what was shown.
const keep = () => {
  sessionStorage.setItem(`evalui.${location.pathname.split('/').pop()}`, location.search);
};
const go = (how, query, hash = '') => {
  const address = location.pathname + (query ? '?' + query : '') + hash;
  if (query !== here() || hash !== location.hash) history[how](null, '', address);
  keep();
};
// Another page of the same name begins at its top.
const place = query => ['run', 'sub'].map(name => new URLSearchParams(query).get(name)).join();
document.title = props.title;
root.lang = props.language;
// Gradio writes the browser's own language there when it starts.
const speaks = new MutationObserver(() => {
  if (!element.isConnected) speaks.disconnect();
  else if (root.lang !== props.language) root.lang = props.language;
});
speaks.observe(root, {attributeFilter: ['lang']});
// Gradio 6.31 names the search field of a table by its title alone, which readers may leave out,
// and lets no keyboard reach the menu of a head, by which a table is sorted.
const label = () => {
  for (const field of document.querySelectorAll('.search-input[title]:not([aria-label])')) {
    field.setAttribute('aria-label', field.title);
  }
  for (const button of document.querySelectorAll('th .cell-menu-button[tabindex="-1"]')) {
    button.tabIndex = 0;
  }
  if (document.activeElement.matches('.cell-menu-button')) {
    document.querySelector('.cell-menu [role=menuitem]')?.focus();
  }
};
new MutationObserver(label).observe(document.body, {childList: true, subtree: true});
const open = (isOwn = false) => {
  keep();
  trigger('open', {query: here(), own: isOwn ? 'yes' : ''});
};
document.addEventListener('click', event => {
  const link = event.target.closest('a[href]');
  if (!link || event.defaultPrevented || event.button || link.target || link.download) return;
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  if (link.origin !== location.origin || link.pathname !== location.pathname) return;
  // A place of what is shown: the browser finds it.
  if (link.hash && link.search === location.search) return;
  event.preventDefault();
  const [from, hash] = [place(here()), link.hash];
  go('pushState', link.search.slice(1), hash);
  if (!hash && place(here()) !== from) scrollTo(0, 0);
  if (hash) dispatchEvent(new HashChangeEvent('hashchange'));
  open();
});
addEventListener('popstate', () => open());
addEventListener('reopen', () => open(true)); // what is shown is not what the address says
watch('value', () => {
  const [, moment, how, target] = props.value.match(/^(.*?)([?>])(.*)$/s);
  if (how === '>') location.assign(target);
  else go(moment.includes('=') ? 'replaceState' : 'pushState', target);
  if (how === '?' && moment.endsWith('!')) open(true);
});
watch('title', () => { document.title = props.title; });
open();
"""


def address(title: str, language: Language) -> gr.HTML:
    """The query of the page's address, as a component; `title` is what a browser calls the page.

    Its event `open` comes with every way in which a visitor gets to an address of the page, with
    the `query`: the page has been loaded, a link of it was followed, back and forward. `leads_to`
    gives the value that leads to another address without it, `leaves_for` one that leads to
    another page.
    """
    # No subclass: for each one Gradio writes a stub beside its module, whenever it is imported.
    return gr.HTML(
        "",
        html_template="",
        js_on_load=_SCRIPT,
        apply_default_css=False,
        elem_classes="nothing",
        title=title,
        language=DOCUMENT_LANGUAGES[language],
    )


def happening(of: gr.HTML, name: str) -> Any:
    """The event of this name of a component of ours, among the triggers of `gr.render`."""
    event: Any = EventListener(name)
    event.__self__ = of  # as on the events that a component declares
    return event


def leads_to(query: str, *, replaces: bool = False) -> str:
    """The value that leads to a query, another one each time: the same again is no change.

    Back leads over one that `replaces` what was there, as each letter of a search does.
    """
    return f"{time.monotonic_ns()}{'=' * replaces}?{query}"


def leaves_for(target: str) -> str:
    """The value that leads to another page, relative to this one."""
    return f"{time.monotonic_ns()}>{target}"


def opens(query: str, *, replaces: bool = False) -> str:
    """The value that leads to a query, and opens it as a link would."""
    return f"{time.monotonic_ns()}{'=' * replaces}!?{query}"


def query_of(event: gr.EventData) -> str:
    """The query that an event of the address carries, "" of other events."""
    query = sent_with(event).get("query")
    return query if isinstance(query, str) else ""


def is_own(event: gr.EventData) -> bool:
    """Whether the page itself led there by `opens`: its fields say already what they should."""
    return sent_with(event).get("own") == "yes"


def read_query(query: object) -> Form:
    """The parameters of a query, none of what is no text."""
    return read_form(parse_qsl(query, keep_blank_values=True)) if isinstance(query, str) else {}


def sent_with(event: gr.EventData) -> dict[str, object]:
    """The data that an event carries."""
    sent: Any = event._data  # pyright: ignore[reportPrivateUsage] # no other name
    return cast("dict[str, object]", sent) if isinstance(sent, dict) else {}
