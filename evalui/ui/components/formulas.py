"""Where the KaTeX is that comes with Gradio: `formulas.js` draws what `render_markdown` marks."""

from functools import cache

from evalui.ui.components.packages import gradio_frontend

# No public address: Gradio ships KaTeX under names with a hash; without it formulas stay TeX.
_ASSETS = gradio_frontend() / "assets"


@cache
def math_files() -> tuple[str, str]:
    """KaTeX's script and style sheet, relative to the page; "" where Gradio has none."""
    script, sheet = (
        next((f"assets/{path.name}" for path in sorted(_ASSETS.glob(pattern))), "")
        for pattern in ("katex-*.js", "katex-*.css")
    )
    return script, sheet
