"""Arrow keys in a list of links whose lines are drawn anew, and the focus that stays there."""

import gradio as gr

# What is drawn anew has lost the focus of the line that was pressed, or has it on another line.
_SCRIPT = """
const rows = () => [...document.querySelectorAll(props.rows)];
const link = row => row?.querySelector('a');
let pressed = null; // the name of the line that is to have the focus, until something else is done
document.addEventListener('pointerdown', () => { pressed = null; });
document.addEventListener('click', ({target}) => {
  pressed = target.closest(props.rows)?.dataset[props.named] ?? null;
});
document.addEventListener('keydown', event => {
  pressed = null;
  const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
  if (!step || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const all = rows(), at = all.findIndex(row => link(row) === document.activeElement);
  const next = at < 0 ? null : link(all[at + step]);
  if (!next) return;
  event.preventDefault();
  next.focus();
  next.click();
});
new MutationObserver(() => {
  if (pressed === null) return;
  const wanted = link(rows().find(row => row.dataset[props.named] === pressed));
  if (wanted && wanted !== document.activeElement) wanted.focus({preventScroll: true});
}).observe(document.body, {childList: true, subtree: true, attributeFilter: ['href']});
"""


def row_steps(rows: str, named: str) -> gr.HTML:
    """What walks through the rows of a selector, whose `data-` attribute `named` names each."""
    return gr.HTML(
        "",
        html_template="",
        js_on_load=_SCRIPT,
        apply_default_css=False,
        elem_classes="nothing",
        rows=rows,
        named=named,
    )
