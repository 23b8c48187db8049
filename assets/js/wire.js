// The one script of the page: turns real buttons and form fields inside a pane into events for the
// server. A pane is a gr.HTML whose value the server renders; this file computes nothing.
//
//   <button data-do="stop" data-run="k3f">      -> act {do: "stop", run: "k3f", form: {...}}
//   <input name="models" value="demo-late">     -> act {do: "set",  form: {models: [...], ...}}
//
// `form` holds every named field of the page's tab, so that two quick clicks cannot lose each other.
(() => {
  // Gradio sets the document's language to that of the browser; ours is that of the page.
  const language = document.documentElement.lang;
  new MutationObserver(() => {
    if (document.documentElement.lang !== language) document.documentElement.lang = language;
  }).observe(document.documentElement, { attributeFilter: ["lang"] });

  const root = new URL("../../", document.currentScript.src).pathname;

  // The address of the page, with every named field of the tab over it.
  function fields(pane) {
    const form = {};
    const query = new URLSearchParams(location.search);
    for (const name of new Set(query.keys())) {
      const values = query.getAll(name);
      form[name] = values.length > 1 ? values : values[0];
    }
    const scope = pane.closest("[role=tabpanel].tabitem") ?? document;
    for (const field of scope.querySelectorAll("[name]:enabled")) {
      const many = field.dataset.many !== undefined;
      if (many) form[field.name] ??= [];
      if ((field.type === "checkbox" || field.type === "radio") && !field.checked) continue;
      if (many) form[field.name].push(field.value);
      else form[field.name] = field.value;
    }
    return form;
  }

  function files(transfer) {
    const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    if (!entries.length) return Promise.resolve([...transfer.files]);
    const walk = (entry) =>
      new Promise((done) => {
        if (entry.isFile) {
          // Of two files with one name the folder tells which is which.
          const placed = (file) => Object.assign(file, { place: entry.fullPath.slice(1) });
          entry.file((file) => done([placed(file)]), () => done([]));
        } else {
          // A reader hands out at most 100 entries a time.
          const reader = entry.createReader();
          const found = [];
          const more = () =>
            reader.readEntries(async (some) => {
              if (some.length) found.push(...some), more();
              else done((await Promise.all(found.map(walk))).flat());
            }, () => done([]));
          more();
        }
      });
    return Promise.all(entries.map(walk)).then((found) => found.flat());
  }

  function send(drop, chosen, act) {
    if (!chosen.length) return;
    const status = drop.querySelector("[data-status]");
    const body = new FormData();
    for (const file of chosen) body.append("files", file, file.place ?? file.name);
    const request = new XMLHttpRequest();
    request.responseType = "json";
    request.open("POST", `${root}upload?lang=${language.slice(0, 2)}`);
    request.upload.onprogress = (event) => {
      if (event.lengthComputable) {
        status.textContent = `${drop.dataset.sending} ${Math.round((100 * event.loaded) / event.total)} %`;
      }
    };
    request.onload = () => {
      if (request.status === 200) act({ do: drop.dataset.act ?? "uploaded", upload: request.response.upload });
      else status.textContent = request.response?.error ?? drop.dataset.lost;
    };
    request.onerror = () => (status.textContent = drop.dataset.lost);
    status.textContent = drop.dataset.sending;
    request.send(body);
  }

  // Gradio touches only what differs from the last value, so what was unfolded must be kept here.
  function follow(pane, watch) {
    const shown = () => pane.dispatchEvent(new CustomEvent("shown", { bubbles: true }));
    const unfolded = new Set();
    pane.addEventListener(
      "toggle",
      ({ target }) => (target.open ? unfolded.add(target) : unfolded.delete(target)),
      true,
    );
    watch("value", () => {
      for (const details of unfolded) details.open = true;
      const live = pane.querySelector("[data-live]");
      const tab = document.getElementById("tab-runs-button");
      if (live && tab) tab.dataset.live = live.dataset.live;
      const address = pane.querySelector("[data-address]")?.dataset.address;
      if (address && pane.closest("[role=tabpanel]")?.offsetParent) {
        const url = new URL(`?${address}`, location.href);
        if (url.search !== location.search) history.replaceState(history.state, "", url);
      }
      const next = pane.querySelector("a[data-go]");
      if (next) location.href = next.href;
      shown();
    });
    queueMicrotask(shown); // when the rest is wired
  }

  function wire(pane, trigger, watch) {
    follow(pane, watch);
    const act = (data) => trigger("act", { ...data, form: fields(pane) });
    pane.addEventListener("click", (event) => {
      const button = event.target.closest("[data-do]");
      if (button?.matches("button")) {
        act({ ...button.dataset });
        // What was asked for once must not be asked for twice; the answer redraws the button.
        if (button.dataset.once !== undefined) button.disabled = true;
      }
      const copy = event.target.closest("[data-copy]");
      if (copy) {
        navigator.clipboard?.writeText(new URL(copy.dataset.copy, document.baseURI).href);
        copy.textContent = copy.dataset.done;
      }
      const tab = event.target.closest("[data-tab]");
      if (tab) document.getElementById(`${tab.dataset.tab}-button`)?.click();
      const place = event.target.closest("[data-scroll]");
      if (place) document.getElementById(place.dataset.scroll)?.querySelector("input")?.focus();
    });
    pane.addEventListener("change", (event) => {
      const field = event.target;
      if (field.type === "file") {
        const drop = field.closest(".drop");
        send(drop, [...field.files], act);
        field.value = "";
      } else if (field.name) act({ do: "set", name: field.name });
    });
    pane.addEventListener("keydown", (event) => {
      const item = event.target.closest(".list li");
      const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
      const next = item && step && item[step]?.querySelector("button");
      if (next) {
        event.preventDefault();
        next.focus();
        next.click();
      }
    });
    for (const kind of ["dragover", "dragleave", "drop"]) {
      pane.addEventListener(kind, (event) => {
        const drop = event.target.closest(".drop");
        if (!drop) return;
        event.preventDefault();
        drop.classList.toggle("over", kind === "dragover");
        if (kind === "drop") files(event.dataTransfer).then((chosen) => send(drop, chosen, act));
      });
    }
  }

  // A theme chosen once stays: Gradio reads it from the address only.
  const here = new URL(location.href);
  const asked = here.searchParams.get("__theme");
  const kept = localStorage.getItem("evalui.theme");
  if (asked) localStorage.setItem("evalui.theme", asked);
  else if (kept) {
    here.searchParams.set("__theme", kept);
    history.replaceState(null, "", here);
  }
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-param]");
    if (!link) return;
    // Language and theme change one thing and keep the rest of the address.
    event.preventDefault();
    const target = new URL(location.href);
    target.pathname = link.dataset.path ? root + link.dataset.path : target.pathname;
    if (link.dataset.param) {
      const dark = document.body.classList.contains("dark");
      target.searchParams.set(link.dataset.param, link.dataset.value ?? (dark ? "light" : "dark"));
    }
    location.href = target.href;
  });

  window.evalui = { wire };
})();
