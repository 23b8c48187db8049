// "Copy as image" beside each lead table: what is seen, as a PNG in the clipboard, or as a file where
// there is no clipboard (a page without TLS has none).
(() => {
  const SCALE = 2; // dots of the picture per pixel of the page
  const DRAWN = ".card:has(table.lead)";
  const words = document.body.dataset;

  // The same element with its look written into it, because a picture has no style sheet.
  function painted(element) {
    const copy = element.cloneNode(true);
    const pairs = [element, ...element.querySelectorAll("*")];
    const copies = [copy, ...copy.querySelectorAll("*")];
    pairs.forEach((from, place) => {
      const look = getComputedStyle(from);
      const to = copies[place].style;
      for (const name of look) to.setProperty(name, look.getPropertyValue(name));
    });
    for (const button of copy.querySelectorAll("button")) button.remove();
    copy.style.margin = 0;
    return copy;
  }

  async function drawing(element) {
    const { width, height } = element.getBoundingClientRect();
    const markup = new XMLSerializer().serializeToString(painted(element));
    const frame = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">`;
    const image = new Image();
    const whole = `${frame}<foreignObject width="100%" height="100%">${markup}</foreignObject></svg>`;
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(whole)}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [Math.ceil(width * SCALE), Math.ceil(height * SCALE)];
    const pen = canvas.getContext("2d");
    pen.fillStyle = getComputedStyle(document.body).backgroundColor;
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.scale(SCALE, SCALE);
    pen.drawImage(image, 0, 0);
    return new Promise((done) => canvas.toBlob(done, "image/png"));
  }

  async function copyImage(button) {
    const made = drawing(button.parentElement);
    if (navigator.clipboard?.write) {
      await navigator.clipboard.write([new ClipboardItem({ "image/png": made })]);
    } else {
      const link = document.createElement("a");
      [link.href, link.download] = [URL.createObjectURL(await made), "chart.png"];
      link.click();
      URL.revokeObjectURL(link.href);
    }
    button.textContent = words.imageCopied;
  }

  document.addEventListener("shown", ({ target }) => {
    for (const element of target.querySelectorAll(DRAWN)) {
      if (element.querySelector(":scope > .copy-image")) continue;
      const button = document.createElement("button");
      Object.assign(button, { type: "button", className: "link copy-image", textContent: words.image });
      button.addEventListener("click", () => copyImage(button));
      element.append(button);
    }
  });
})();
