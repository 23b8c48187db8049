"""The look: Gradio's theme from our tokens, and what goes into the page's head."""

import hashlib
from pathlib import Path

from gradio.themes import Base

from evalui.settings import ASSETS
from evalui.ui.components.html import Html, el, join

_SHEETS = (
    "css/tokens.css",
    "css/parts.css",
    "css/pages.css",
    "css/open.css",
    "css/statistics.css",
    "css/arena.css",
    "css/annotate.css",
    "css/compare.css",
    "css/models.css",
    "css/gradio.css",
)
_SCRIPTS = ("js/wire.js", "js/cells.js", "js/annotate.js")
_ICON = "icons/evalui.svg"
_FONTS = ("system-ui", "Segoe UI", "Roboto", "Arial", "Noto Sans CJK SC", "sans-serif")


def theme() -> Base:
    """Gradio's own components in our colours; both modes come from the same tokens."""
    colours = {
        "body_background_fill": "var(--bg)",
        "body_text_color": "var(--ink)",
        "body_text_color_subdued": "var(--ink-3)",
        "background_fill_primary": "var(--surface)",
        "background_fill_secondary": "var(--sunken)",
        "block_background_fill": "var(--surface)",
        "border_color_primary": "var(--line)",
        "border_color_accent": "var(--accent)",
        "color_accent_soft": "var(--accent-soft)",
        "link_text_color": "var(--accent)",
        "input_background_fill": "var(--surface)",
    }
    both = colours | {f"{name}_dark": colour for name, colour in colours.items()}
    return Base(font=list(_FONTS), font_mono=["ui-monospace", "monospace"]).set(**both)


def head(title: str) -> Html:
    """The title, style sheets and script of a page; versioned, so that they can be cached."""
    sheets = [el("link", rel="stylesheet", href=_versioned(sheet)) for sheet in _SHEETS]
    drawing = el("link", rel="icon", type="image/svg+xml", href=_versioned(_ICON))
    scripts = [el("script", src=_versioned(script)) for script in _SCRIPTS]
    return join(el("title", title), drawing, *sheets, *scripts)


def _versioned(path: str) -> str:
    content = hashlib.sha256((ASSETS / Path(path)).read_bytes()).hexdigest()
    return f"../static/{path}?{content[:8]}"
