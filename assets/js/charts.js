// Charts: figures of Plotly, drawn when they are first seen, or printed, in the colours and letters
// of the page.
//
// The table beside a chart says the same; it is hidden where the chart is drawn, and shown where it
// cannot be, or where the keyboard reaches it.
(() => {
  const NAME = "ev-plot";
  const PAPER_WIDTH = 680; // pixels of a page of A4 between its margins
  const ZOOM = ["zoom2d", "zoomIn2d", "zoomOut2d", "resetScale2d"];
  let library = null; // a promise of Plotly, which comes with the first chart

  // Plotly's own words for its buttons, and those of the page.
  function words() {
    const { chartSelect, chartZoomIn, chartZoomOut, chartReset } = document.body.dataset;
    return { Zoom: chartSelect, "Zoom in": chartZoomIn, "Zoom out": chartZoomOut, "Reset axes": chartReset };
  }

  // Whether an axis has values rather than names: only there is something between two marks.
  function hasValues({ layout }) {
    return Object.entries(layout).some(([name, axis]) => /^[xy]axis/.test(name) && !axis.fixedrange);
  }

  function load() {
    library ??= new Promise((done, failed) => {
      if (window.Plotly) return done(window.Plotly);
      const script = document.createElement("script");
      script.src = document.body.dataset.plotly;
      script.addEventListener("load", () => done(window.Plotly));
      script.addEventListener("error", () => failed(new Error(`${script.src} is not there`)));
      document.head.append(script);
    });
    return library;
  }

  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      seen.unobserve(target);
      target.draw();
    }
  });

  class Plot extends HTMLElement {
    static observedAttributes = ["data-figure"];

    connectedCallback() {
      seen.observe(this);
    }

    disconnectedCallback() {
      seen.unobserve(this);
    }

    attributeChangedCallback() {
      if (this.drawn) this.draw();
    }

    draw() {
      this.drawn = true;
      if (window.Plotly) return this.show(window.Plotly);
      load().then(
        (plotly) => this.show(plotly),
        (error) => {
          this.dataset.failed = "";
          throw error;
        },
      );
    }

    show(plotly) {
      if (!this.isConnected) return;
      const look = getComputedStyle(this);
      const variable = /var\((--[\w-]+)\)/g;
      const figure = JSON.parse(
        this.dataset.figure.replace(variable, (_, name) => look.getPropertyValue(name).trim()),
      );
      figure.layout.font.family = look.fontFamily;
      plotly.react(this, figure.data, figure.layout, {
        displaylogo: false,
        modeBarButtons: [this.buttons(plotly), ...(hasValues(figure) ? [ZOOM] : [])],
        locale: "page",
        locales: { page: { dictionary: words() } },
      });
      this.removeAllListeners("plotly_click");
      this.on("plotly_click", ({ points }) => this.follow(points[0].customdata));
      this.toggleAttribute("data-linked", !!this.beside()?.querySelector("a"));
    }

    buttons(plotly) {
      const { chartImage, chartData } = document.body.dataset;
      const { camera, disk } = plotly.Icons;
      const name = this.named();
      const image = () => plotly.downloadImage(this, { format: "png", scale: 2, filename: name });
      return [
        { name: "image", title: chartImage, icon: camera, click: image },
        { name: "data", title: chartData, icon: disk, click: () => this.save(name) },
      ];
    }

    named() {
      return this.closest("figure")?.querySelector("h3")?.textContent ?? this.ariaLabel ?? "chart";
    }

    beside() {
      return this.closest("figure")?.querySelector(".same");
    }

    // A mark leads where the link of its cell in the table does.
    follow(address) {
      if (!address) return;
      const links = this.beside()?.querySelectorAll("a") ?? [];
      [...links].find((link) => link.getAttribute("href") === address)?.click();
    }

    save(name) {
      // A spreadsheet takes texts that begin with these signs for formulas (OWASP, "CSV injection").
      const plain = (text) => (/^[=+\-@\t\r]/.test(text) && isNaN(text) ? `'${text}` : text);
      const quoted = (cell) => `"${plain(cell.textContent).replaceAll('"', '""')}"`;
      const rows = [...this.beside().querySelectorAll("tr")];
      const lines = rows.map((row) => [...row.cells].map(quoted).join(","));
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([`\ufeff${lines.join("\r\n")}\r\n`], { type: "text/csv" }));
      link.download = `${name}.csv`;
      link.click();
      URL.revokeObjectURL(link.href);
    }
  }

  customElements.define(NAME, Plot);
  const plots = () => [...document.querySelectorAll(NAME)];
  const redraw = () => {
    for (const plot of plots()) if (plot.drawn) plot.draw();
  };
  document.addEventListener("theme", redraw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  matchMedia("print").addEventListener("change", ({ matches }) => {
    for (const plot of plots()) {
      plot.draw();
      plot.style.zoom = matches ? Math.min(1, PAPER_WIDTH / plot.offsetWidth) : "";
    }
  });
})();
