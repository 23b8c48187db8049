"""Sections that fold, as Gradio's Accordions whose closed line states the finding.

What a visitor has unfolded stays so wherever it stands again in views of its run, and the end of an
address ("#by-subject") unfolds a section: see page.js.
"""

from typing import Any

import gradio as gr

from evalui.report.blocks import Details

# Between name and finding in the one label that an Accordion has; the script parts it there.
_BETWEEN = "\u2003"


def fold(details: Details, name: str, **settings: Any) -> gr.Accordion:
    """A section to be filled; `name` is its place in addresses."""
    kind = [details.kind] if details.kind else []
    return gr.Accordion(
        f"{details.name}{_BETWEEN}{details.finding}",
        open=details.open,
        elem_id=name or None,
        elem_classes=["fold", *kind],
        **settings,
    )
