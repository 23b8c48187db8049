"""Controls that Gradio has no input for, as one component: its value is what they hold, as JSON.

What there is to choose changes with every file, so markup that names its controls is given as
`markup`; the value has a text for each name, or a list of texts where there may be several.
"""

import json
from typing import Any

import gradio as gr

from evalui.report.html import Html
from evalui.ui.components.form import Form, read_values
from evalui.ui.components.listing import FOLDS

# A field that is typed in is not written over; one of search hides the rows that do not fit it.
_SCRIPT = (
    FOLDS
    + """
const controls = () => [...element.querySelectorAll('[name]')];
const isTick = control => control.matches('[type=checkbox], [type=radio]');
const read = () => {
  const form = {};
  for (const control of controls()) {
    const many = control.type === 'checkbox';
    if (many) form[control.name] ??= [];
    if (control.disabled || (isTick(control) && !control.checked)) continue;
    if (!many) form[control.name] = control.value;
    else if (!form[control.name].includes(control.value)) form[control.name].push(control.value);
  }
  return JSON.stringify(form);
};
const write = () => {
  const form = JSON.parse(props.value || '{}');
  for (const control of controls()) {
    const held = form[control.name];
    const isTyped = control === document.activeElement || control.type === 'hidden';
    const isHeld = [held ?? []].flat().includes(control.value);
    if (isTick(control)) control.checked = isHeld && !control.disabled;
    else if (held !== undefined && !isTyped) control.value = held;
  }
};
const find = () => {
  const words = element.querySelector('[type=search]')?.value.trim().toLowerCase() ?? '';
  for (const row of element.querySelectorAll('[data-find]')) {
    row.hidden = !row.dataset.find.includes(words);
    if (words && !row.hidden && row.closest('details')) row.closest('details').open = true;
  }
};
// A box that stands twice is one.
const pair = target => {
  for (const control of controls()) {
    const twin = control !== target && control.name === target.name;
    if (twin && isTick(target) && control.value === target.value) control.checked = target.checked;
  }
};
element.addEventListener('input', ({target}) => {
  if (target.type === 'search') find();
  else if (target.name && !isTick(target) && !target.matches('select')) props.value = read();
});
element.addEventListener('change', ({target}) => {
  if (!target.name) return;
  pair(target);
  props.value = read();
  trigger('input', {name: target.name});
});
addEventListener('keydown', event => {
  if (event.key !== 'Escape' || event.defaultPrevented || event.isComposing) return;
  if (CSS.supports('selector(:open)') && event.target.matches?.('select:open')) return;
  if (element.isConnected) element.querySelector('[data-escape]')?.click();
});
watch(['value', 'markup'], () => { write(); find(); });
write();
"""
)


def controls(**settings: Any) -> gr.HTML:
    """The component; it has the events `input`, and `act` of buttons as a listing has."""
    return gr.HTML(
        "{}",
        html_template="${markup}",
        markup="",
        js_on_load=_SCRIPT,
        apply_default_css=False,
        **settings,
    )


def shown_controls(markup: Html, fields: Form | None = None) -> dict[str, Any]:
    """The update that shows this markup; its fields as these, or as they are if None."""
    held = {} if fields is None else {"value": json.dumps(fields, ensure_ascii=False)}
    return gr.update(markup=markup, visible=bool(markup), **held)


def read_controls(value: object) -> Form:
    """What a browser says that the controls hold, none of what is no text."""
    try:
        held: Any = json.loads(value) if isinstance(value, str) else {}
    except (ValueError, RecursionError):
        held = {}
    return read_values(held)
