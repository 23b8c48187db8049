// Keys for a page with a list: an element with data-hotkey="j" is pressed, or entered if it is a
// field, when a person types j outside of the fields. The element says what happens; nothing here
// does.
(() => {
  let stepped = false;

  function target(key) {
    const marked = document.querySelectorAll(`[data-hotkey="${CSS.escape(key)}"]`);
    return [...marked].find((each) => each.getClientRects().length);
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]")) return;
    const element = target(event.key);
    if (!element) return;
    event.preventDefault();
    stepped = element.matches("a");
    if (stepped) element.click();
    else element.select();
  });

  // The reader stays in view beside a long list; one that is taller than the window stops at its end.
  function place() {
    for (const reader of document.querySelectorAll(".samples .col-r")) {
      const free = window.innerHeight - reader.offsetHeight - 16;
      reader.style.setProperty("--reader-top", `${Math.min(16, free)}px`);
    }
  }

  function shown() {
    place();
    if (stepped) document.querySelector(".questions [aria-current]")?.scrollIntoView({ block: "nearest" });
    stepped = false;
  }

  document.addEventListener("shown", shown);
  window.addEventListener("resize", place);
})();
