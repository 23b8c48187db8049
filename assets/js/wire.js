// Turns real buttons and form fields into actions of the tab they stand in; computes nothing.
//
//   <button data-do="stop" data-run="k3f">      -> act {do: "stop", run: "k3f", form: {...}}
//   <input name="models" value="demo-late">     -> act {do: "set",  form: {models: [...], ...}}
//
// `form` holds the parameters of the address and every named field of the tab, which win; so two
// quick clicks cannot lose each other.
(() => {
  const TYPING_MS = 250; // after the last key in a field of search
  const root = new URL("../../", document.currentScript.src).pathname;
  const html = document.documentElement;
  const language = html.lang;
  // Gradio writes the browser's own language there when it starts.
  new MutationObserver(() => {
    if (html.lang !== language) html.lang = language;
  }).observe(html, { attributeFilter: ["lang"] });

  function fields(scope, address = "") {
    const form = {};
    for (const [name, value] of new URLSearchParams(address)) {
      form[name] = name in form ? [form[name], value].flat() : value;
    }
    const found = [...scope.querySelectorAll("[name]:enabled")];
    for (const field of found) delete form[field.name];
    for (const field of found) {
      const many = field.dataset.many !== undefined;
      if (many) form[field.name] ??= [];
      if ((field.type === "checkbox" || field.type === "radio") && !field.checked) continue;
      if (many) form[field.name].push(field.value);
      else form[field.name] = field.value;
    }
    return form;
  }

  // The tab that something stands in: an element with an `act` of its own.
  function actor(target) {
    for (let node = target; node; node = node.parentElement) if (node.act) return node;
    return null;
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
    const word = document.createElement("span");
    const bar = Object.assign(document.createElement("progress"), { max: 1 });
    const cancel = Object.assign(document.createElement("button"), { type: "button", className: "link" });
    const say = (text) => status.replaceChildren(text);
    cancel.textContent = drop.dataset.cancel;
    cancel.addEventListener("click", () => request.abort());
    request.upload.onprogress = (event) => {
      if (!event.lengthComputable) return;
      bar.value = event.loaded / event.total;
      word.textContent = `${drop.dataset.sending} ${Math.round(100 * bar.value)} %`;
    };
    // The rows are read by the server, which does not state how far it is.
    request.upload.onload = () => {
      bar.removeAttribute("value");
      word.textContent = drop.dataset.reading;
    };
    request.onload = () => {
      cancel.remove();
      if (request.status === 200) act({ do: drop.dataset.act ?? "uploaded", upload: request.response.upload });
      else say(request.response?.error ?? drop.dataset.lost);
    };
    request.onerror = () => say(drop.dataset.lost);
    request.onabort = () => say("");
    word.textContent = drop.dataset.sending;
    status.replaceChildren(word, " ", bar, " ", cancel);
    request.send(body);
  }

  document.addEventListener("click", (event) => {
    const pane = actor(event.target);
    if (!pane) return;
    const button = event.target.closest("[data-do]");
    if (button?.matches("button, a[download]")) {
      pane.act({ ...button.dataset });
      // What was asked for once must not be asked for twice; the answer redraws the button.
      if (button.dataset.once !== undefined) button.disabled = true;
    }
    const tab = event.target.closest("[data-tab]");
    if (tab?.matches("button")) document.getElementById(`${tab.dataset.tab}-link`)?.click();
    const place = event.target.closest("[data-scroll]");
    if (place) document.getElementById(place.dataset.scroll)?.querySelector("input")?.focus();
  });
  document.addEventListener("change", ({ target: field }) => {
    const pane = actor(field);
    if (!pane) return;
    if (field.type === "file") {
      send(field.closest(".drop"), [...field.files], pane.act);
      field.value = "";
    } else if (field.name && !settled(field)) pane.act({ do: "set", name: field.name });
  });
  // A field of search is answered while it is typed in; its change at the end says nothing new.
  function settled(field) {
    clearTimeout(field.typing);
    const same = field.type === "search" && field.sent === field.value;
    field.sent = field.value;
    return same;
  }
  document.addEventListener("input", ({ target: field }) => {
    const pane = actor(field);
    if (!pane || field.type !== "search" || !field.name) return;
    clearTimeout(field.typing);
    field.typing = setTimeout(() => {
      if (!settled(field)) pane.act({ do: "set", name: field.name });
    }, TYPING_MS);
  });
  document.addEventListener("keydown", (event) => {
    const item = actor(event.target) && event.target.closest(".list li");
    const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    const next = item && step && item[step]?.querySelector("button, a");
    if (next) {
      event.preventDefault();
      next.focus();
      next.click();
    }
  });
  // What a key leaves has a button that says so; a list that is open keeps the key for itself.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.defaultPrevented || event.isComposing) return;
    if (CSS.supports("selector(:open)") && event.target.matches?.("select:open")) return;
    const leave = [...document.querySelectorAll("[data-escape]")].find((one) => one.checkVisibility());
    leave?.click();
  });
  for (const kind of ["dragover", "dragleave", "drop"]) {
    document.addEventListener(kind, (event) => {
      const pane = actor(event.target);
      const drop = pane && event.target.closest(".drop");
      if (!drop) return;
      event.preventDefault();
      drop.classList.toggle("over", kind === "dragover");
      if (kind === "drop") files(event.dataTransfer).then((chosen) => send(drop, chosen, pane.act));
    });
  }

  Object.assign(window.evalui, { fields, root });
})();
