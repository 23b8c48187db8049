// A click on a cell of a heat map presses the same cell of the table below it, which is a real link
// or button: what the mouse can do, the keyboard can do too. This file knows no addresses.
//
//   customdata of the cell: [0, 2]        <a data-cell="0,2" href="?run=...">  in the same card
(() => {
  function press({ points }) {
    const [point] = points;
    const plot = point?.data && document.querySelector(".js-plotly-plot.clicked");
    const data = point?.customdata;
    if (!plot || !data) return;
    const wanted = [data].flat().join(",");
    const cells = plot.closest(".chart-card").querySelectorAll("[data-cell]");
    [...cells].find((cell) => cell.dataset.cell === wanted)?.click();
  }

  // Gradio draws a plot anew whenever it changes, and a new plot listens to nothing.
  document.addEventListener("pointerover", ({ target }) => {
    const plot = target.closest?.(".js-plotly-plot");
    if (!plot?.removeListener || !plot.closest(".chart-card")?.querySelector("[data-cell]")) return;
    for (const other of document.querySelectorAll(".js-plotly-plot.clicked")) {
      other.classList.remove("clicked");
    }
    plot.classList.add("clicked");
    plot.removeListener("plotly_click", press);
    plot.on("plotly_click", press);
  });
})();
