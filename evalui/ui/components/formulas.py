"""Formulas of texts that `render_markdown` marks, drawn with the KaTeX that comes with Gradio."""

from functools import cache

from evalui.ui.components.packages import gradio_frontend

# No public address: Gradio ships KaTeX under names with a hash; without it formulas stay TeX.
_ASSETS = gradio_frontend() / "assets"

# For the script of a component: `drawFormulas(found)` draws what is in an element that names the
# files of `math_files` as `data-katex` and `data-katex-sheet`.
FORMULAS = r"""
// Formulas are drawn in a shadow root, with the KaTeX that comes with Gradio.
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
const drawFormulas = found => {
  const formulas = found.querySelectorAll('ev-math');
  if (!formulas.length || !found.dataset.katex || !found.dataset.katexSheet) return;
  drawing ??= loadKatex(found.dataset);
  drawing.then(
    ({draw, style}) => formulas.forEach(formula => drawFormula(formula, draw, style)),
    () => {}, // without KaTeX the source stays readable
  );
};
"""


@cache
def math_files() -> tuple[str, str]:
    """KaTeX's script and style sheet, relative to the page; "" where Gradio has none."""
    script, sheet = (
        next((f"assets/{path.name}" for path in sorted(_ASSETS.glob(pattern))), "")
        for pattern in ("katex-*.js", "katex-*.css")
    )
    return script, sheet
