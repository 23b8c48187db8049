// Makes the children of one element those of another and touches only what differs, so that focus,
// scroll position, typed text and unfolded details stay.
//
// A field changes when the server says something else than before; what a user has typed since, and
// the details that were opened, are not the server's to change.
window.evalui = {};
(() => {
  const unfolded = new WeakMap(); // of <details>: whether the server wanted them open
  const CHOICES = "input[type=checkbox][name], input[type=radio][name]";

  const keyOf = (node) => {
    if (node.nodeType !== Node.ELEMENT_NODE) return "";
    if (node.id) return `#${node.id}`;
    if (node.dataset.key) return `=${node.dataset.key}`;
    const name = node.getAttribute("name");
    const choice = name && ["checkbox", "radio", "hidden"].includes(node.type);
    return name ? `@${name} ${choice ? node.getAttribute("value") : ""}` : "";
  };
  const fits = (from, to) =>
    from.nodeType === to.nodeType && from.nodeName === to.nodeName && keyOf(from) === keyOf(to);

  function place(parent, node, before) {
    if (parent.moveBefore && node.isConnected) parent.moveBefore(node, before);
    else parent.insertBefore(node, before);
  }

  function children(from, to) {
    const keyed = new Map();
    for (const child of from.childNodes) if (keyOf(child)) keyed.set(keyOf(child), child);
    const wanted = new Set([...to.childNodes].map(keyOf).filter(Boolean));
    let next = from.firstChild;
    for (const child of [...to.childNodes]) {
      // What has a name of its own waits for its turn, or goes.
      while (next && keyOf(next) && !wanted.has(keyOf(next))) next = drop(from, next);
      const key = keyOf(child);
      const known = key ? keyed.get(key) : next && fits(next, child) ? next : null;
      if (!known || !fits(known, child)) {
        from.insertBefore(document.importNode(child, true), next);
        continue;
      }
      if (known === next) next = next.nextSibling;
      else place(from, known, next);
      one(known, child);
    }
    while (next) next = drop(from, next);
  }

  function drop(parent, node) {
    const after = node.nextSibling;
    parent.removeChild(node);
    return after;
  }

  function one(from, to) {
    if (from.nodeType !== Node.ELEMENT_NODE) {
      if (from.nodeValue !== to.nodeValue) from.nodeValue = to.nodeValue;
      return;
    }
    const said = from.getAttribute("value");
    const text = from.nodeName === "TEXTAREA" ? from.defaultValue : "";
    attributes(from, to);
    if (from.nodeName === "EV-PLOT") return; // it draws itself from its attributes
    children(from, to);
    // What is typed in a field of search, and not sent yet, stays.
    const typing = from === document.activeElement && from.type === "search" && from.value !== from.sent;
    const settable = from.matches("input") && !from.matches("[type=file]") && !typing;
    if (settable && said !== to.getAttribute("value")) {
      from.value = to.getAttribute("value") ?? "";
    }
    if (from.nodeName === "TEXTAREA" && text !== to.defaultValue) from.value = to.defaultValue;
    if (from.matches(CHOICES)) from.checked = to.checked;
    if (from.nodeName === "SELECT" && from.name) from.value = to.value;
  }

  function attributes(from, to) {
    const isFold = from.nodeName === "DETAILS";
    for (const { name } of [...from.attributes]) {
      if (!to.hasAttribute(name) && !(isFold && name === "open")) from.removeAttribute(name);
    }
    for (const { name, value } of to.attributes) {
      if (isFold && name === "open") continue;
      if (from.getAttribute(name) !== value) from.setAttribute(name, value);
    }
    if (!isFold) return;
    const open = to.hasAttribute("open");
    if (unfolded.has(from) && unfolded.get(from) !== open) from.open = open;
    unfolded.set(from, open);
  }

  // What stands open from the beginning is the server's wish, too.
  document.addEventListener("DOMContentLoaded", () => {
    for (const details of document.querySelectorAll("details")) unfolded.set(details, details.open);
  });

  Object.assign(window.evalui, { morph: children });
})();
