"""Which columns of a wide table are shown: a menu beside it, whose choice stands in the address.

A table made by `gr.render` has no listeners, so the menu writes the parameter `columns` of the
address itself, "by-subject-table.2.3.5" for the second, third and fifth column of a table, and has
the address opened again. The first column names the rows and stays.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import gradio as gr

from evalui.messages import Messages
from evalui.report.blocks import Table
from evalui.ui.components.form import Form, field_values, parse_whole_number
from evalui.ui.components.templates import fill

PARAMETER = "columns"
MANY = 8  # columns: those of a table with more can be chosen
_FIRST_SHOWN = 12  # columns of a table that nobody has chosen from

# Boxes show what the address says, also after Back; a few quick presses are one way to an address.
# A section that is drawn anew is folded for a moment, or made again: the menu stays as it was, and
# has the focus.
_SCRIPT = """
const SOON_MS = 300;
const menus = window.evaluiColumnMenus ??= new Map();
if (!menus.has(props.table)) menus.set(props.table, {isOpen: false, focused: ''});
const kept = menus.get(props.table);
let shown = []; // the values of the boxes that are ticked
let due = 0;
const boxes = () => [...element.querySelectorAll('[value]')];
const menu = () => element.querySelector('details');
const own = text => text.split('.')[0] === props.table;
const usual = () => props.usual.split('.').slice(1);
const read = () => {
  const named = new URLSearchParams(location.search).getAll('columns').find(own);
  return named === undefined ? usual() : named.split('.').slice(1);
};
const name = control => control.value || control.textContent;
// Within a section that is just drawn anew, and so folded for a moment, nothing takes the focus.
const focus = (control, frames = 20) => {
  control?.focus();
  if (!control || document.activeElement === control || !frames) return;
  requestAnimationFrame(() => focus(control, frames - 1));
};
const tick = () => {
  for (const box of boxes()) box.checked = shown.includes(box.value);
  const summary = element.querySelector('summary');
  summary.textContent = summary.dataset.words.replace('{shown}', 1 + shown.length);
};
const redraw = () => {
  if (!due) shown = read();
  tick();
  menu().open = kept.isOpen;
  if (!kept.isOpen || document.activeElement !== document.body) return;
  const controls = [...element.querySelectorAll('summary, input, button')];
  focus(controls.find(each => name(each) === kept.focused));
};
const open = () => {
  due = 0;
  const text = [props.table, ...shown].join('.');
  const query = new URLSearchParams(location.search);
  const others = query.getAll('columns').filter(each => !own(each));
  query.delete('columns');
  for (const each of others) query.append('columns', each);
  if (text !== props.usual) query.append('columns', text);
  history.replaceState(null, '', `${location.pathname}?${query}${location.hash}`);
  dispatchEvent(new Event('reopen'));
};
const choose = places => {
  shown = boxes().map(box => box.value).filter(value => places.includes(value));
  tick();
  clearTimeout(due);
  due = setTimeout(open, SOON_MS);
};
element.addEventListener('change', () => {
  choose(boxes().filter(box => box.checked).map(box => box.value));
});
element.addEventListener('focusin', ({target}) => { kept.focused = name(target); });
element.addEventListener('focusout', ({target}) => {
  if (!target.checkVisibility()) focus(target);
});
element.addEventListener('click', ({target}) => {
  if (target.closest('summary')) kept.isOpen = !menu().open;
  const button = target.closest('button');
  if (button) choose(button.matches('[data-all]') ? boxes().map(box => box.value) : usual());
});
const close = event => {
  if (!element.isConnected) {
    for (const kind of ['click', 'keydown']) document.removeEventListener(kind, close);
    return;
  }
  // Sections are unfolded by clicks of a script.
  const isLeft = event.type === 'click' && event.isTrusted && !element.contains(event.target);
  if (!kept.isOpen || !(isLeft || event.key === 'Escape')) return;
  if (element.contains(document.activeElement)) focus(element.querySelector('summary'));
  kept.isOpen = menu().open = false;
};
for (const kind of ['click', 'keydown']) document.addEventListener(kind, close);
watch(['value', 'markup'], redraw);
redraw();
"""


@dataclass(frozen=True, slots=True)
class ShownColumns:
    """The columns of a table that are shown, by their numbers from 1, of the table of a `name`."""

    name: str
    shown: tuple[int, ...]
    usual: tuple[int, ...]

    @classmethod
    def read(cls, table: Table, name: str, form: Form) -> "ShownColumns":
        """What the parameters of an address choose, else the first columns."""
        usual = tuple(range(1, min(len(table.columns), _FIRST_SHOWN) + 1))
        for chosen in field_values(form, PARAMETER):
            of, *numbers = chosen.split(".")
            if of == name:
                named = {parse_whole_number(number) for number in numbers}
                shown = (place for place in range(2, len(table.columns) + 1) if place in named)
                return cls(name, (1, *shown), usual)
        return cls(name, usual, usual)

    def of(self, table: Table) -> Table:
        """The table without the other columns; heads that lead on keep the choice."""
        places = [number - 1 for number in self.shown]
        columns = (table.columns[place] for place in places)
        if self.shown != self.usual:
            columns = (replace(one, href=self._kept(one.href)) for one in columns)
        rows = (tuple(row[place] for place in places) for row in table.rows)
        return replace(table, columns=tuple(columns), rows=tuple(rows))

    def _kept(self, href: str) -> str:
        if not href:
            return ""
        parts = urlsplit(href)
        query = [*parse_qsl(parts.query), (PARAMETER, _text(self.name, self.shown))]
        return parts._replace(query=urlencode(query)).geturl()


def column_menu(t: Messages, table: Table, choice: ShownColumns, **settings: Any) -> gr.HTML:
    """The menu of a table with all its columns."""
    heads = [" · ".join(filter(None, (each.group, each.head))) for each in table.columns]
    # What stands in the boxes is the script's: markup that changed would take the keyboard's place.
    return gr.HTML(
        _text(choice.name, choice.shown),
        html_template="${markup}",
        markup=fill(
            "columns.html",
            t=t,
            words=t("table.columns", shown="{shown}", all=len(heads)),
            first=heads[0],
            others=list(enumerate(heads[1:], start=2)),
            is_cut=len(choice.usual) < len(heads),
        ),
        table=choice.name,
        usual=_text(choice.name, choice.usual),
        js_on_load=_SCRIPT,
        apply_default_css=False,
        elem_classes="ev column-menu",
        **settings,
    )


def _text(name: str, numbers: Sequence[int]) -> str:
    return ".".join([name, *map(str, numbers[1:])])
