// Keys and places of a list beside a reader; what a key leads to stands in the element it presses.
//
//   <a href="..." data-hotkey="j">        j follows the link
//   <input name="find" data-hotkey="/">   / enters the field
(() => {
  const TOP = 16; // pixels between the reader and the top of the window
  let stepped = false;
  let question = null; // that is read
  let before = 0; // pixels by which the reader begins below the list

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]")) return;
    const marked = document.querySelectorAll(`[data-hotkey="${CSS.escape(event.key)}"]`);
    const element = [...marked].find((each) => each.getClientRects().length);
    if (!element) return;
    event.preventDefault();
    stepped = element.matches("a");
    if (stepped) element.click();
    else element.select();
  });

  const reader = () => document.querySelector(".col-r");
  const isBeside = (pane) => getComputedStyle(pane).position === "sticky";

  // A reader that fits into the window stays in it. A taller one begins where the list is looked at,
  // and ends at the end of the window.
  function place(begins) {
    const pane = reader();
    if (!pane || !isBeside(pane)) return;
    const free = window.innerHeight - pane.offsetHeight - TOP;
    if (free >= TOP) before = 0;
    else if (begins) before = Math.max(0, TOP - pane.parentElement.getBoundingClientRect().top);
    pane.style.setProperty("--reader-top", `${Math.min(TOP, free)}px`);
    pane.style.marginTop = `${before}px`;
  }

  function follow() {
    const pane = before && reader();
    const above = pane ? pane.getBoundingClientRect().top - TOP : 0;
    if (above <= 0) return;
    before = Math.max(0, before - above);
    pane.style.marginTop = `${before}px`;
  }

  function shown() {
    const list = document.querySelector(".samples");
    if (!list) return;
    const other = list.dataset.question;
    const changed = question !== null && other !== question;
    question = other;
    if (stepped) list.querySelector(".questions [aria-current]")?.scrollIntoView({ block: "nearest" });
    stepped = false;
    const pane = reader();
    // Alone on a phone it begins at the top; the list is where it was left.
    if (changed && pane && !isBeside(pane) && list.matches(".opened")) window.scrollTo(0, 0);
    place(changed);
  }

  document.addEventListener("shown", shown);
  window.addEventListener("resize", () => place(false));
  window.addEventListener("scroll", follow, { passive: true });
  shown(); // the tab that came with the page
})();
