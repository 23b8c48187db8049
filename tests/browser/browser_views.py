"""What a person reads on a page and the data of its charts, recorded and compared.

Nothing here names a module of evalui or a class or id of its pages: only roles, form fields and
the texts of drawings, so that it outlives any change of structure.
"""

import difflib
import json
import math
import os
import re
import time
from pathlib import Path
from typing import Any

from steady import normalised

GOLDEN = Path(__file__).parents[1] / "golden" / "net" / "views"
RECORDING = os.environ.get("EVALUI_RECORD") == "1"
TOLERANCE = 1e-9  # relative, between the data of a chart and what was recorded
_PATIENCE_S = 3.0  # how long a page that differs may still become what was recorded
_LIMIT_MS = 60_000  # for a page to come to rest
_SHOWN_LINES = 60  # of a difference
_FRAMES = 20 if RECORDING else 6  # for which a page must stay as it is to be taken as complete

# Counts requests whose answers the page has not read yet, from before its first script.
COUNT_REQUESTS = """
window.openRequests = 0;
const plain = window.fetch;
window.fetch = async (...given) => {
  const one = given[1]?.method?.toUpperCase() === "POST" ? 1 : 0;
  window.openRequests += one;
  try {
    const found = await plain(...given);
    if (one) await found.clone().text();
    return found;
  } finally {
    window.openRequests -= one;
  }
};
// Files are sent without fetch.
const send = XMLHttpRequest.prototype.send;
XMLHttpRequest.prototype.send = function (body) {
  window.openRequests += 1;
  this.addEventListener("loadend", () => (window.openRequests -= 1));
  send.call(this, body);
};
"""

# Texts are what is visible of the open tab, every disclosure unfolded; drawings are left out, since
# their ticks depend on fonts. Fields and labels follow in the order of the page.
_READ = """() => {
  const seen = one => one.checkVisibility({ visibilityProperty: true });
  const panel = [...document.querySelectorAll("main > section, main .column.page")].find(seen);
  if (!panel) return null;
  for (const one of panel.querySelectorAll("details")) one.open = true;
  const unread = [...panel.querySelectorAll("svg")];
  const before = unread.map(one => one.style.visibility);
  for (const one of unread) one.style.visibility = "hidden";
  const text = panel.innerText;
  unread.forEach((one, place) => (one.style.visibility = before[place]));
  const fields = [...panel.querySelectorAll("input, select, textarea")].filter(seen);
  const line = text => (text ?? "").trim().split("\\n")[0];
  const told = fields.map(one => {
    const name = line(one.labels?.[0]?.innerText) || one.getAttribute("aria-label") || "";
    const choice = ["checkbox", "radio"].includes(one.type);
    const value = one.tagName === "SELECT" ? one.selectedOptions[0]?.text : one.value;
    const state = choice ? (one.checked ? "on" : "off") : `= ${value ?? ""}`;
    const hint = one.placeholder ? ` (${one.placeholder})` : "";
    return `${one.type} | ${name}${hint} | ${state}${one.disabled ? " | disabled" : ""}`;
  });
  const labelled = [...panel.querySelectorAll("[title], [aria-label], img[alt]")].filter(
    // The buttons of a chart come when it is drawn, which is when it was on the screen.
    one => seen(one) && !one.closest("svg") && !one.parentElement.closest("ev-plot")
      && !fields.includes(one));
  const labels = labelled.flatMap(one =>
    ["title", "aria-label", "alt"].map(name => one.getAttribute(name)).filter(Boolean));
  const buttons = [...panel.querySelectorAll("button:disabled")].filter(seen);
  return {
    text,
    fields: told,
    labels,
    disabled: buttons.map(one => line(one.innerText)),
  };
}"""

# What is folded is made when it is unfolded.
_UNFOLD = """() => {
  for (const one of document.querySelectorAll("main button[aria-expanded=false]")) one.click();
}"""

# A chart: what stands in its figure, and what it says of its marks.
_CHARTS = """() => {
  const drawn = [...document.querySelectorAll("main ev-plot")].filter(
    one => one.checkVisibility());
  const axes = layout => Object.keys(layout).filter(name => /^[xy]axis/.test(name));
  const ticks = layout => axes(layout).flatMap(name => layout[name].ticktext ?? []);
  const texts = (data, name) => data.flatMap(each => (each[name] ?? []).flat());
  const notes = layout => (layout.annotations ?? []).map(note => note.text);
  return drawn.map(one => {
    const { data, layout } = JSON.parse(one.dataset.figure);
    return {
      title: one.getAttribute("aria-label") ?? "",
      texts: [...ticks(layout), ...notes(layout), ...texts(data, "text")],
      marks: texts(data, "hovertext"),
    };
  });
}"""

# No text is read here: in each frame that takes longer on a busy machine than what is waited for.
_COMPLETE = """([frames, limit]) => new Promise(done => {
  let quiet = 0;
  const watch = new MutationObserver(() => (quiet = 0));
  watch.observe(document, { subtree: true, childList: true, characterData: true });
  const end = performance.now() + limit;
  const look = () => {
    const isReady = document.body.dataset.ready !== undefined && window.openRequests === 0;
    quiet = isReady && document.readyState === "complete" ? quiet + 1 : 0;
    const late = performance.now() > end;
    if (quiet <= frames && !late) return requestAnimationFrame(look);
    watch.disconnect();
    done(!late);
  };
  look();
})"""


def complete(tab: Any) -> None:
    """Wait until the page answers, has read every answer, and changes no more."""
    tab.wait_for_function("window.openRequests !== undefined && document.readyState === 'complete'")
    assert tab.evaluate(_COMPLETE, [_FRAMES, _LIMIT_MS]), "the page did not come to rest"


def read(tab: Any, ids: dict[str, str]) -> tuple[str, list[dict[str, Any]]]:
    """What stands on the open tab, and the data of its charts."""
    found = tab.evaluate(_READ)
    parts = [found["text"]]
    for name in ("fields", "labels", "disabled"):
        if found[name]:
            parts += [f"== {name}", *found[name]]
    charts = json.loads(normalised(json.dumps(tab.evaluate(_CHARTS), ensure_ascii=False), ids))
    return normalised("\n".join(parts), ids) + "\n", charts


def check(tab: Any, name: str, ids: dict[str, str]) -> None:
    """Compare the page with its golden, or write that anew; a page may be late, never different."""
    complete(tab)
    tab.evaluate(_UNFOLD)
    complete(tab)
    if RECORDING:
        _write(name, *read(tab, ids))
        return
    deadline = time.monotonic() + _PATIENCE_S
    while (problem := _difference(name, *read(tab, ids))) and time.monotonic() < deadline:
        complete(tab)
    assert not problem, f"{name} is not what was recorded:\n{problem}"


def _write(name: str, text: str, charts: list[dict[str, Any]]) -> None:
    path = GOLDEN / f"{name}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    data = path.with_suffix(".json")
    data.unlink(missing_ok=True)
    if charts:
        lines = json.dumps(charts, ensure_ascii=False, indent=1)
        # Lists of numbers and words in a line each, so that a difference is short.
        short = re.sub(r"\[\s+([^\[\]{}]*?)\s+\]", _in_a_line, lines)
        data.write_text(short + "\n", encoding="utf-8")


def _in_a_line(found: re.Match[str]) -> str:
    return "[" + re.sub(r"\n\s*", " ", found[1]) + "]"


def _difference(name: str, text: str, charts: list[dict[str, Any]]) -> str:
    """What differs from the golden, "" if nothing does."""
    path = GOLDEN / f"{name}.txt"
    if not path.exists():
        return f"{path.name} was never recorded; see SOURCES.md beside it"
    before = path.read_text(encoding="utf-8").splitlines()
    lines = list(difflib.unified_diff(before, text.splitlines(), "recorded", "now", "", "", 2, ""))
    data = path.with_suffix(".json")
    recorded = json.loads(data.read_text(encoding="utf-8")) if data.exists() else []
    return "\n".join([*lines, *differences(recorded, charts)][:_SHOWN_LINES])


def differences(recorded: Any, now: Any, place: str = "charts") -> list[str]:
    """Where two trees of lists, dicts, texts and numbers differ; numbers by `TOLERANCE`."""
    if isinstance(recorded, dict) and isinstance(now, dict):
        names = sorted(recorded.keys() | now.keys())
        parts = [(f"{place}.{name}", recorded.get(name), now.get(name)) for name in names]
    elif isinstance(recorded, list) and isinstance(now, list) and len(recorded) == len(now):
        pairs = zip(recorded, now, strict=True)
        parts = [(f"{place}[{i}]", before, after) for i, (before, after) in enumerate(pairs)]
    elif recorded == now or _close(recorded, now):
        return []
    else:
        return [f"{place}: {recorded!r} was recorded, {now!r} now"]
    return [line for where, one, other in parts for line in differences(one, other, where)]


def _close(recorded: Any, now: Any) -> bool:
    numbers = all(isinstance(each, int | float) for each in (recorded, now))
    return numbers and math.isclose(recorded, now, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
