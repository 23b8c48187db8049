// "Copy as image" beside each lead table: what is seen, as a PNG in the clipboard, or as a file where
// there is no clipboard (a page without TLS has none).
(() => {
  const SCALE = 2; // dots of the picture per pixel of the page
  const BUTTON = "copy-image";
  const SHEETS = /[/](tokens|parts|blocks|documents)\.css/; // what tables are drawn by

  // The rules of our sheets: a picture has none of its own. Gradio's containers are plain boxes here.
  function rules() {
    const own = [...document.styleSheets].filter(({ href }) => SHEETS.test(href));
    return own.flatMap(({ cssRules }) => [...cssRules].map(({ cssText }) => cssText)).join("\n");
  }

  function framed(element, { width, height }) {
    const copy = element.cloneNode(true);
    for (const button of copy.querySelectorAll("button")) button.remove();
    for (const block of copy.querySelectorAll(".block")) block.removeAttribute("style"); // Gradio's
    copy.style.cssText += `;width:${width}px;min-height:${height}px;margin:0`;
    const box = document.createElement("div");
    box.className = "ev gradio-container";
    box.append(copy);
    const style = document.createElement("style");
    style.textContent = rules();
    const markup = [style, box].map((each) => new XMLSerializer().serializeToString(each)).join("");
    const theme = document.documentElement.classList.contains("dark") ? "dark" : "light";
    const frame = `xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" class="${theme}"`;
    return `<svg ${frame}><foreignObject width="100%" height="100%">${markup}</foreignObject></svg>`;
  }

  async function drawing(element) {
    const size = element.getBoundingClientRect();
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(framed(element, size))}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = Math.ceil(size.width * SCALE);
    canvas.height = Math.ceil(size.height * SCALE);
    const pen = canvas.getContext("2d");
    pen.fillStyle = getComputedStyle(document.body).backgroundColor;
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.scale(SCALE, SCALE);
    pen.drawImage(image, 0, 0);
    return new Promise((done) => canvas.toBlob(done, "image/png"));
  }

  async function copyImage(button) {
    const made = drawing(button.closest(".card") ?? button.parentElement);
    if (navigator.clipboard?.write) {
      await navigator.clipboard.write([new ClipboardItem({ "image/png": made })]);
    } else {
      const link = document.createElement("a");
      [link.href, link.download] = [URL.createObjectURL(await made), "chart.png"];
      link.click();
      URL.revokeObjectURL(link.href);
    }
    button.textContent = document.body.dataset.imageCopied;
  }

  document.addEventListener("click", ({ target }) => {
    const button = target.closest?.(`.${BUTTON}`);
    if (button) copyImage(button);
  });
})();
