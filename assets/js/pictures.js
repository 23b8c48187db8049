// A small picture in a text leads to the whole one: it is shown above the page, until Escape or a click.
(() => {
  function show({ href, firstElementChild: small }) {
    const whole = Object.assign(new Image(), { src: href, alt: small.alt });
    const close = document.createElement("button");
    close.ariaLabel = document.body.dataset.pictureClose;
    close.textContent = "×";
    const dialog = document.createElement("dialog");
    Object.assign(dialog, { className: "whole-picture", ariaLabel: small.alt });
    dialog.append(whole, close);
    dialog.addEventListener("click", () => dialog.close());
    dialog.addEventListener("keydown", (event) => event.stopPropagation()); // no key of the page below
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a.picture");
    // With these keys a browser opens the link by itself, beside the page.
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    show(link);
  });
})();
