// Voting by key. The page holds the pair in hand and, unseen, the one after it: a vote shows that one
// at once, and the server's answer, which says the same, puts a further one behind it.
(() => {
  const KEPT = "evalui.voter";
  const UNREAD_MS = 200;
  const PATIENCE_MS = 8000; // then the vote is not stored, and its pair comes back
  let since = performance.now(); // when the pair in hand was first seen
  let seen = ""; // its token
  let pending = 0; // a timer while the server has not answered
  let later = ""; // a key pressed meanwhile

  const room = () => {
    const found = document.querySelector("#tab-annotate > .ballot");
    return found?.offsetParent ? found : null;
  };

  // The browser knows who votes here, the server does not: a name that was given once is given again.
  function identify(found) {
    const field = found.querySelector("input[name=voter]");
    const kept = localStorage.getItem(KEPT);
    if (!field || field.value || !kept) return;
    field.value = kept;
    if (found.querySelector("[role=alert]")) return; // to be read first
    found.querySelector("[data-do=open]").click();
  }

  function look(pair) {
    if (seen === pair?.dataset.pair) return;
    seen = pair?.dataset.pair;
    since = performance.now();
  }

  function wait(found) {
    clearTimeout(pending);
    pending = setTimeout(() => settle(found), PATIENCE_MS);
  }

  function settle(found) {
    clearTimeout(pending);
    pending = 0;
    later = "";
    found.classList.remove("ahead");
  }

  // The server has answered; Gradio has put its page in place.
  function shown() {
    const found = room();
    if (!found) return;
    if (!found.dataset.voter) return identify(found);
    const now = found.querySelector(".pair.now");
    const key = now?.dataset.pair === seen ? later : ""; // meant for the pair that was in view
    look(now);
    settle(found);
    if (found.dataset.stated !== undefined) localStorage.setItem(KEPT, found.dataset.voter);
    const note = found.querySelector("textarea[name=comment]");
    if (note && note.shownFor !== note.dataset.pair) {
      note.shownFor = note.dataset.pair;
      note.value = "";
      note.closest("details")?.removeAttribute("open");
    }
    drawFormulas(found);
    if (key) found.querySelector(`[data-key="${key}"]`)?.click();
  }

  function send(event, button, found) {
    // Twice the same press would be a vote on a pair that nobody has read.
    const unread = performance.now() - since < UNREAD_MS;
    if (pending || unread) event.stopImmediatePropagation();
    if (found.classList.contains("ahead") && !unread) later = button.dataset.key;
    if (pending || unread) return;
    button.dataset.spent = ((performance.now() - since) / 1000).toFixed(1);
    wait(found);
    const next = found.querySelector(".pair.next");
    if (button.dataset.do !== "vote" || !next) return;
    found.classList.add("ahead");
    look(next);
    if (found.getBoundingClientRect().top < 0) found.scrollIntoView();
  }

  document.addEventListener("shown", shown);
  // Before the pane's own listener, which sends what the button says.
  document.addEventListener(
    "click",
    (event) => {
      const found = room();
      const button = event.target.closest("[data-do=vote], [data-do=undo]");
      if (found?.contains(button)) send(event, button, found);
    },
    true,
  );
  document.addEventListener(
    "change",
    (event) => {
      const found = room();
      if (!found?.contains(event.target)) return;
      if (event.target.name === "comment") event.stopImmediatePropagation(); // goes with its vote
    },
    true,
  );
  document.addEventListener("keydown", (event) => {
    const found = room();
    if (!found || event.repeat || event.isComposing) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, textarea, select, [contenteditable=true]")) return;
    const button = found.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
    if (button) {
      event.preventDefault();
      button.click();
    }
  });

  // Formulas: in a shadow root, so that Gradio, which compares what is on the page with what the
  // server sent, finds the source that it knows.
  let drawing = null;
  function loadKatex({ katex, katexSheet }) {
    const page = document.baseURI;
    const sheet = new URL(katexSheet, page);
    const link = document.createElement("link");
    Object.assign(link, { rel: "stylesheet", href: sheet.href });
    document.head.append(link); // a shadow root takes no fonts of its own
    const style = new CSSStyleSheet();
    const styled = fetch(sheet)
      .then((answer) => answer.text())
      // Gradio binds the rules to its own frame, which a shadow root is not in.
      .then((text) => style.replaceSync(text.replace(/\.gradio-container[\w-]*\s+/g, "")));
    return Promise.all([import(new URL(katex, page).href), styled]).then(([module]) => ({
      draw: module.default,
      style,
    }));
  }

  function drawFormulas(found) {
    const formulas = found.querySelectorAll("ev-math");
    if (!formulas.length || !found.dataset.katex || !found.dataset.katexSheet) return;
    drawing ??= loadKatex(found.dataset);
    drawing.then(
      ({ draw, style }) => formulas.forEach((formula) => drawFormula(formula, draw, style)),
      () => {}, // without KaTeX the source stays readable
    );
  }

  function drawFormula(formula, katex, style) {
    const displayMode = formula.dataset.display !== undefined;
    const source = `${displayMode} ${formula.textContent}`;
    if (formula.drawn === source) return;
    formula.drawn = source;
    const root = formula.shadowRoot ?? formula.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [style];
    root.innerHTML = katex.renderToString(formula.textContent, {
      displayMode,
      throwOnError: false,
      maxSize: 5, // nothing may cover the page
      maxExpand: 500,
      trust: false,
      errorColor: "var(--bad)",
    });
  }

  shown(); // what came with the document was shown before this script ran
})();
