"""evalui's design tokens (assets/css/tokens.css) as a theme of Gradio, light and dark alike."""

from inspect import signature

from gradio.themes import Base

_TOKENS = {
    "--bg": ("body_background_fill",),
    "--surface": (
        "background_fill_primary",
        "block_background_fill",
        "button_secondary_background_fill",
        "input_background_fill",
        "table_even_background_fill",
        "table_odd_background_fill",
        "checkbox_background_color",
        "checkbox_label_background_fill",
    ),
    "--sunken": (
        "background_fill_secondary",
        "button_secondary_background_fill_hover",
        "checkbox_label_background_fill_hover",
    ),
    "--line": ("block_border_color", "border_color_primary", "table_border_color"),
    "--line-strong": (
        "button_secondary_border_color",
        "checkbox_border_color",
        "input_border_color",
    ),
    "--ink": (
        "body_text_color",
        "block_title_text_color",
        "button_secondary_text_color",
        "checkbox_label_text_color",
        "checkbox_label_text_color_selected",
    ),
    "--ink-2": ("block_label_text_color",),
    "--ink-3": ("body_text_color_subdued", "block_info_text_color", "input_placeholder_color"),
    "--accent": (
        "border_color_accent",
        "button_primary_background_fill",
        "button_primary_border_color",
        "checkbox_background_color_selected",
        "checkbox_border_color_focus",
        "checkbox_border_color_selected",
        "input_border_color_focus",
        "link_text_color",
        "loader_color",
    ),
    "--accent-hover": ("button_primary_background_fill_hover", "link_text_color_hover"),
    "--on-accent": ("button_primary_text_color",),
    "--accent-soft": ("color_accent_soft", "checkbox_label_background_fill_selected"),
    "none": ("block_shadow", "input_shadow", "input_shadow_focus", "button_primary_shadow"),
    "1px": ("input_border_width",),
}


def theme() -> Base:
    """The theme; its colours are variables that change with light and dark."""
    values = {
        name: f"var({token})" if token.startswith("--") else token
        for token, names in _TOKENS.items()
        for name in names
    }
    face, fixed = ("var(--face)", "sans-serif"), ("var(--fixed)", "monospace")
    base = Base(font=face, font_mono=fixed, radius_size="sm", text_size="md")
    names = signature(base.set).parameters  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType] # of Gradio
    dark = {f"{name}_dark": value for name, value in values.items() if f"{name}_dark" in names}
    return base.set(**values, **dark)
