// Formulas of texts, in a shadow root, drawn with the KaTeX that comes with Gradio.
'use strict';

(() => {
  let drawing = null;
  const loadKatex = ({katex, katexSheet}) => {
    const sheet = new URL(katexSheet, document.baseURI);
    const link = Object.assign(document.createElement('link'), {rel: 'stylesheet', href: sheet.href});
    document.head.append(link); // a shadow root takes no fonts of its own
    const style = new CSSStyleSheet();
    const styled = fetch(sheet)
      .then(answer => answer.text())
      // Gradio binds the rules to its own frame, which a shadow root is not in.
      .then(text => style.replaceSync(text.replace(/\.gradio-container[\w-]*\s+/g, '')));
    return Promise.all([import(new URL(katex, document.baseURI).href), styled])
      .then(([module]) => ({draw: module.default, style}));
  };
  const drawFormula = (formula, katex, style) => {
    const root = formula.shadowRoot ?? formula.attachShadow({mode: 'open'});
    root.adoptedStyleSheets = [style];
    root.innerHTML = katex.renderToString(formula.textContent, {
      displayMode: formula.dataset.display !== undefined,
      throwOnError: false,
      maxSize: 5, // nothing may cover the page
      maxExpand: 500,
      trust: false,
      errorColor: 'var(--bad)',
    });
  };
  // Within an element that names the files of `math_files`.
  const drawAll = within => {
    const formulas = within.querySelectorAll('[data-katex]:not([data-katex=""]) ev-math');
    if (!formulas.length) return;
    drawing ??= loadKatex(formulas[0].closest('[data-katex]').dataset);
    drawing.then(
      ({draw, style}) => formulas.forEach(formula => drawFormula(formula, draw, style)),
      () => {}, // without KaTeX the source stays readable
    );
  };
  addEventListener('drawn', () => requestAnimationFrame(() => drawAll(document)));
  // Of a component that changes without a drawing.
  evalui.formulas = (element, watch) => watch('value', () => drawAll(element));
})();
