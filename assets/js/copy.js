// Copies the address that a button names, relative to the page.
(() => {
  // A page that came without TLS has no clipboard of its own, but may copy what is selected.
  function toClipboard(text) {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    const field = Object.assign(document.createElement("textarea"), { value: text });
    field.style.cssText = "position: fixed; opacity: 0";
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }

  document.addEventListener("click", ({ target }) => {
    const button = target.closest?.("[data-copy]");
    if (!button) return;
    toClipboard(new URL(button.dataset.copy, document.baseURI).href);
    button.textContent = button.dataset.done;
  });
})();
