// The page: which tab is shown, its address, what it sends and what it is answered.
//
// The document comes with its tab in it. A link is answered with the document of its address, of
// which the tab and the bar are taken over, and so is that of a page that changes by itself; an
// action goes through the fragment of Gradio that belongs to the tab, one at a time, and is answered
// with the tab rendered anew. Until Gradio is there actions wait; links do not need it.
(() => {
  const { evalui } = window;
  const SLOW_MS = 300; // then the page shows that it works
  const RETRY_MS = 2000;
  const TYPED = "input[type=search], input[type=text], input:not([type]), textarea";
  const body = document.body;
  const bar = document.querySelector(".ev:has(> .top)");
  const busy = bar.querySelector(".busy");

  // A tab. `address` is the query of what it shows, null before it was shown; `tag` is the document's
  // that it shows, null if it shows an answer. `queue` holds actions that wait, `sent` the one that is
  // being answered, unless the tab shows another address by then, `waiting` an answer that is drawn
  // when no changed field waits. `looking` stops the request for what has changed by itself.
  const parts = new Map(
    [...document.querySelectorAll(".tab-page")].map((section) => {
      const part = { section, name: section.dataset.tab, address: null, queue: [], scroll: 0 };
      section.act = (data) => act(part, data);
      return [part.name, part];
    }),
  );
  let shown = parts.get(body.dataset.tab);
  let count = 0; // of actions
  let leaving = null; // what stops the request for another address

  // Addresses ---------------------------------------------------------------------------------
  const plain = (query) => {
    const parameters = new URLSearchParams(query);
    for (const name of ["__theme", "lang", "token"]) parameters.delete(name);
    return parameters;
  };
  const same = (one, other) => {
    const sorted = [one, other].map((query) => {
      const parameters = plain(query);
      parameters.sort();
      return parameters.toString();
    });
    return sorted[0] === sorted[1];
  };
  const stated = (part) => part.section.querySelector("[data-address]")?.dataset.address;

  // Writes what the tab shows into the address bar: a new entry of the history, or in its place.
  function write(part, how) {
    part.address = plain(part.address).toString();
    const address = part.address ? `?${part.address}` : location.pathname;
    const isNew = how === "push" && !same(part.address, location.search);
    const state = { tab: part.name };
    if (isNew) {
      history.replaceState({ ...history.state, scroll: scrollY }, "");
      history.pushState(state, "", address);
    } else if (!same(part.address, location.search)) history.replaceState(state, "", address);
    const run = plain(part.address).get("run");
    for (const link of bar.querySelectorAll("[data-with-run]")) {
      const { to } = link.dataset; // none of a page that is a document of its own
      link.search = new URLSearchParams({ ...(run && { run }), ...(to && { tab: to }) }).toString();
    }
  }

  function show(part) {
    if (shown !== part) shown.scroll = scrollY;
    shown = part;
    body.dataset.tab = part.name;
    for (const { section } of parts.values()) section.hidden = section !== part.section;
    for (const link of bar.querySelectorAll("[data-to]")) {
      if (link.dataset.to === part.name) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
  }

  // A section that folds is named by the end of an address, "#by-subject".
  function unfold(hash) {
    const section = document.getElementById(hash.slice(1));
    if (section?.matches("details")) section.open = true;
    section?.scrollIntoView();
  }

  // What was unfolded once is unfolded wherever it stands again, in this browser.
  const OPENED = "evalui.opened";
  const MOST = 50;
  const opened = new Set(JSON.parse(localStorage.getItem(OPENED) ?? "[]"));
  function unfoldAgain(section) {
    for (const details of section.querySelectorAll("details[id]")) {
      if (opened.has(details.id)) details.open = true;
    }
  }
  document.addEventListener(
    "toggle",
    ({ target }) => {
      if (!target.matches("details[id]") || target.open === opened.has(target.id)) return;
      if (target.open) opened.add(target.id);
      else opened.delete(target.id);
      localStorage.setItem(OPENED, JSON.stringify([...opened].slice(-MOST)));
    },
    true,
  );

  // On a phone the tabs scroll sideways, and the open one may be out of sight.
  function reveal() {
    const tabs = bar.querySelector(".tabs"); // guests have none
    const open = tabs?.querySelector("[aria-current]");
    if (!open) return; // a tab that is not for this person
    const { offsetLeft: left, offsetWidth: width } = open;
    const { scrollLeft: first, clientWidth: seen } = tabs;
    if (left < first || left + width > first + seen) tabs.scrollLeft = left + width - seen + 16;
  }

  function settled(part) {
    reveal();
    unfoldAgain(part.section);
    part.section.dispatchEvent(new CustomEvent("shown", { bubbles: true }));
    arm(part);
  }

  // Links -------------------------------------------------------------------------------------
  async function navigate(address, how = "push", scroll = null) {
    const target = new URL(address, document.baseURI);
    leaving?.abort();
    const mine = (leaving = new AbortController());
    const done = work();
    try {
      const answer = await fetch(target, { signal: mine.signal, headers: { Accept: "text/html" } });
      const page = parsed(await answer.text());
      const part = parts.get(page.body.dataset.tab);
      if (!part) {
        location.assign(target);
        return;
      }
      take(part, page, target, how, scroll);
      part.tag = answer.headers.get("ETag");
    } catch (error) {
      if (error.name !== "AbortError") location.assign(target);
    } finally {
      done();
      if (leaving === mine) leaving = null;
    }
  }

  const parsed = (text) => new DOMParser().parseFromString(text, "text/html");

  function take(part, page, target, how, scroll) {
    const before = plain(shown.address);
    const from = shown;
    part.queue = [];
    part.sent = part.waiting = null; // their answers would be about another address
    evalui.morph(part.section, page.getElementById(part.section.id));
    evalui.morph(bar, page.querySelector(".ev:has(> .top)"));
    document.title = page.title;
    show(part);
    part.address = stated(part) ?? target.search;
    write(part, how);
    const after = plain(part.address);
    const moved = from !== part || ["run", "sub"].some((name) => before.get(name) !== after.get(name));
    if (scroll !== null) scrollTo(0, scroll);
    else if (target.hash) unfold(target.hash);
    else if (moved) scrollTo(0, 0);
    settled(part);
  }

  // A tab that was shown before is as it was left, and is brought up to date.
  function reopen(part, how, scroll) {
    leaving?.abort();
    show(part);
    write(part, how);
    scrollTo(0, scroll);
    act(part, { do: "" });
    settled(part);
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    if (!link || event.defaultPrevented || event.button) return;
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    if (link.dataset.language) {
      // The language changes and the rest of the address stays.
      const query = plain(location.search);
      query.set("lang", link.dataset.language);
      link.search = query.toString();
      return;
    }
    // Back to the files that were dropped there.
    const files = "kept" in link.dataset && sessionStorage.getItem("evalui.evaluate");
    if (files) link.search = files;
    const target = new URL(link.getAttribute("href"), document.baseURI); // of SVG, too
    const isHere = target.origin === location.origin && target.pathname === location.pathname;
    const isAnchor = target.hash && target.search === location.search;
    const leads = link.hasAttribute("target") || link.hasAttribute("download");
    if (!isHere || isAnchor || leads) return;
    event.preventDefault();
    const part = parts.get(link.dataset.to);
    const run = target.searchParams.get("run");
    const kept = part?.trigger && part.address !== null && part !== shown;
    if (kept && (!run || plain(part.address).get("run") === run)) reopen(part, "push", part.scroll);
    else navigate(target);
  });

  addEventListener("popstate", ({ state }) => {
    if (same(shown.address, location.search)) return;
    const part = parts.get(state?.tab);
    const scroll = state?.scroll ?? 0;
    if (part?.trigger && part.address !== null && same(part.address, location.search)) {
      reopen(part, "replace", scroll);
    } else navigate(location.href, "replace", scroll);
  });

  // Actions -----------------------------------------------------------------------------------
  function act(part, data) {
    const last = part.queue.at(-1);
    // The form that goes with an action is that of its moment: of two changes the last is enough.
    if (data.do === "set" && last?.data.do === "set" && last.data.name === data.name) {
      part.queue.pop().done();
    }
    const focus = document.activeElement;
    const typed = data.do === "set" && focus?.name === data.name && focus.matches(TYPED);
    const done = data.do === "poll" ? () => {} : work();
    part.queue.push({ data, done, replaces: data.do === "poll" || data.do === "" || typed });
    part.looking?.abort(); // it would show what was before
    flush(part);
  }

  function flush(part) {
    if (part.sent || !part.trigger || !part.queue.length) return;
    part.sent = part.queue.shift();
    part.sent.number = String(++count);
    const form = evalui.fields(part.section, part.address ?? "");
    part.trigger("act", { ...part.sent.data, sequence: part.sent.number, form });
  }

  function answered(part, value) {
    const box = document.createElement("template");
    box.innerHTML = value;
    const answer = box.content.firstElementChild;
    const { sent } = part;
    if (!answer || sent?.number !== answer.dataset.answer) return;
    finish(part);
    complain(part, answer.dataset.kind === "problem" ? answer : null);
    const live = bar.querySelector("[data-live-count]");
    if (live) live.textContent = Number(answer.dataset.live) ? answer.dataset.live : "";
    if (part === shown && answer.dataset.title) document.title = answer.dataset.title;
    if (answer.dataset.kind === "page") part.waiting = { answer, sent };
    // What was changed meanwhile is sent as it stands in the fields, before they are drawn again.
    const changed = part.queue.some(({ data }) => data.do === "set");
    if (part.waiting && (!changed || answer.querySelector(":scope > a[data-go]"))) {
      draw(part, part.waiting.answer, part.waiting.sent);
      part.waiting = null;
    }
    flush(part);
    arm(part);
  }

  function draw(part, answer, sent) {
    const next = answer.querySelector(":scope > a[data-go]");
    if (next) {
      navigate(next.getAttribute("href"));
      return;
    }
    evalui.morph(part.section, answer);
    part.tag = null;
    const address = stated(part);
    if (address !== undefined) part.address = address;
    if (part === shown) write(part, sent.replaces ? "replace" : "push");
    settled(part);
  }

  function finish(part) {
    part.sent?.done();
    part.sent = null;
  }

  // What went wrong stands above the tab until something goes well.
  function complain(part, answer) {
    const old = document.getElementById("problem");
    if (!answer) old?.remove();
    if (!answer) return;
    const box = old ?? Object.assign(document.createElement("div"), { id: "problem", className: "ev" });
    box.replaceChildren(...answer.childNodes);
    part.section.before(box);
  }

  // Gradio reports no failure of a request to a fragment, so requests are watched on their way.
  const request = window.fetch;
  window.fetch = async (address, options) => {
    if (!String(address).includes("/gradio_api/run/")) return request(address, options);
    const { sequence } = JSON.parse(options?.body ?? "{}").event_data ?? {};
    try {
      const found = await request(address, options);
      if (!admitted(found).ok) unanswered(sequence);
      return found;
    } catch (error) {
      unanswered(sequence);
      throw error;
    }
  };

  // Whose session has ended signs in again, and comes back to the same address.
  function admitted(answer) {
    if (answer.status === 401) location.reload();
    return answer;
  }

  function unanswered(number) {
    const part = [...parts.values()].find(({ sent }) => sent && sent.number === number);
    if (!part) return;
    finish(part);
    lost(part);
  }

  function lost(part) {
    const words = document.createElement("div");
    words.innerHTML = '<div class="note bad" role="alert"><div></div></div>';
    words.querySelector(".note > div").textContent = body.dataset.lost;
    complain(part, words);
    setTimeout(() => (flush(part), arm(part)), RETRY_MS);
  }

  // Time --------------------------------------------------------------------------------------
  let working = 0;
  let slow = 0;
  function work() {
    let open = true;
    if (!working++) {
      slow = setTimeout(() => {
        body.dataset.busy = "";
        busy.textContent = busy.dataset.word;
      }, SLOW_MS);
    }
    return () => {
      if (!open) return;
      open = false;
      if (--working) return;
      clearTimeout(slow);
      delete body.dataset.busy;
      busy.textContent = "";
    };
  }

  // What changes by itself is requested again while it can be seen: as the document of its address,
  // or by an action where the tab shows what no address says.
  function arm(part) {
    clearTimeout(part.timer);
    part.looking?.abort();
    const changing = part.section.querySelector("[data-watch], [data-poll]");
    if (part !== shown || document.hidden || !changing) return;
    const { watch, poll } = changing.dataset;
    part.timer = setTimeout(() => {
      if (part.sent || part.queue.length || leaving) return; // each of which arms it again
      if (watch) look(part);
      else act(part, { ...changing.dataset, do: "poll" });
    }, Number(watch ?? poll));
  }

  async function look(part) {
    const mine = (part.looking = new AbortController());
    const target = new URL(`?${plain(part.address)}`, document.baseURI);
    const headers = { Accept: "text/html", ...(part.tag && { "If-None-Match": part.tag }) };
    try {
      const answer = admitted(await request(target, { signal: mine.signal, headers }));
      const isNew = answer.status !== 304;
      const page = isNew && parsed(await answer.text());
      if (isNew && parts.get(page.body.dataset.tab) !== part) throw new Error("No such page");
      complain(part, null);
      if (!isNew) {
        arm(part);
        return;
      }
      take(part, page, target, "replace", null);
      part.tag = answer.headers.get("ETag");
    } catch (error) {
      if (error.name !== "AbortError") lost(part);
    }
  }
  document.addEventListener("visibilitychange", () => arm(shown));

  // Gradio ------------------------------------------------------------------------------------
  evalui.attach = (name, trigger, watch, props) => {
    const part = parts.get(name);
    part.trigger = trigger;
    watch("value", () => answered(part, props.value));
    if (part === shown) body.dataset.ready = ""; // its buttons are answered from now on
    flush(part);
    arm(part);
  };

  async function attach() {
    try {
      // Answered when Gradio is there, which may take a while after the server was started.
      const [config, info] = await Promise.all(
        ["config", "gradio_api/info"].map(async (path) => (await request(path)).json()),
      );
      window.gradio_config = config;
      window.gradio_api_info = info;
      window.__gradio_mode__ = "app";
    } catch {
      setTimeout(attach, RETRY_MS);
      return;
    }
    const app = document.createElement("gradio-app");
    const theme = document.documentElement.classList.contains("dark") ? "dark" : "light";
    for (const [name, value] of Object.entries({ embed: "false", eager: "true", theme_mode: theme })) {
      app.setAttribute(name, value);
    }
    body.append(app);
    const script = Object.assign(document.createElement("script"), { type: "module" });
    script.src = body.dataset.script;
    document.head.append(script);
  }

  history.scrollRestoration = "manual";
  addEventListener("pagehide", () => history.replaceState({ ...history.state, scroll: scrollY }, ""));
  if (location.hash) unfold(location.hash);
  if (history.state?.scroll) scrollTo(0, history.state.scroll);
  shown.address = stated(shown) ?? location.search;
  write(shown, "replace");
  history.replaceState({ ...history.state, tab: shown.name }, "");
  settled(shown);
  if (location.hash) unfold(location.hash);
  attach();
})();
